package cascade

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestTextsOfOthers: texts with an emoji are stored, and read back as they were, on a connection whose
// character set has none: the reason of a pause and of a hold, the error of a job and of a parked row, and
// why a worker waits.
func TestTextsOfOthers(t *testing.T) {
	db := openForest(t, dbtest.Param("charset", "utf8"), dbtest.Param("collation", "utf8_general_ci"))
	const text = "bucket 🪣 is full"
	if err := admin.Pause(t.Context(), db, "", text); err != nil {
		t.Fatal(err)
	}
	if state, err := admin.Paused(t.Context(), db); err != nil || state.Reason != text {
		t.Errorf("%+v, %v", state, err)
	}
	dbtest.Exec(t, db, `INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, token, created_at)
		VALUES ('user', '1', 1, 'running', UTC_TIMESTAMP(6), 7, UTC_TIMESTAMP(6))`)
	var id int64
	if err := db.QueryRowContext(t.Context(), "SELECT id FROM onerow_job").Scan(&id); err != nil {
		t.Fatal(err)
	}
	w, err := NewWorker(db, forest, Config{Assets: &shelf{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store(t.Context(), queue.Claimed{Job: queue.Job{ID: id, Token: 7}}, queue.Ready, 1, errors.New(text), time.Second); err != nil {
		t.Fatal(err)
	}
	var got []byte
	if err := db.QueryRowContext(t.Context(), "SELECT CAST(last_error AS BINARY) FROM onerow_job").Scan(&got); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
	if err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error { return work.Park(ctx, tx, id, "user", "k", text) }); err != nil {
		t.Error(err)
	}
	if list, err := queue.ListParked(t.Context(), db, queue.ParkedOptions{}); err != nil || len(list) != 1 || list[0].Error != text {
		t.Errorf("%+v, %v", list, err)
	}
	if stats, err := admin.ReadStats(t.Context(), db); err != nil || stats.Paused.Reason != text {
		t.Errorf("%+v, %v", stats, err)
	}

	held := condemn(t, db, 1, time.Hour)
	if err := queue.Hold(t.Context(), db, held.Resource, held.ResourceID, held.DeletionID, text); err != nil {
		t.Fatal(err)
	}
	found, err := queue.Find(t.Context(), db, held.Resource, held.ResourceID)
	if err != nil || found.State != queue.Held || found.LastError != text {
		t.Errorf("%+v, %v", found, err)
	}
	dbtest.Exec(t, db, "UPDATE onerow_job SET state = 'running' WHERE id = ?", id)
	if w.cfg.MaxFailures = 1; w.fail(t.Context(), queue.Claimed{Job: queue.Job{ID: id, Token: 7}}, errors.New(text), false) != nil {
		t.Fatal("the job cannot die")
	}
	list, err := queue.List(t.Context(), db, queue.ListOptions{})
	if err != nil || len(list) != 2 || list[0].LastError != text || list[1].State != queue.Dead || list[1].LastError != text {
		t.Errorf("%+v, %v", list, err)
	}
	for _, j := range []int64{held.ID, id} {
		if got := get(t, db, j); got.LastError != text {
			t.Errorf("%+v", got)
		}
	}

	if _, err := w.governor.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if workers, err := admin.Workers(t.Context(), db); err != nil || len(workers) != 1 || workers[0].Throttle != "paused: "+text {
		t.Errorf("%+v, %v", workers, err)
	}
}
