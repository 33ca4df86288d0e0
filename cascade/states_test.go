package cascade

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// jobStates are all states that a job can be in, and how it gets there from its grace period.
var jobStates = []struct {
	name string
	make func(t *testing.T, db *sql.DB, job queue.Job)
}{
	{"scheduled", func(*testing.T, *sql.DB, queue.Job) {}},
	{"due", func(t *testing.T, db *sql.DB, job queue.Job) { makeDue(t, db, job.ID) }},
	{"held", func(t *testing.T, db *sql.DB, job queue.Job) {
		if err := queue.Hold(t.Context(), db, job.Resource, job.ResourceID, job.DeletionID, "first"); err != nil {
			t.Fatal(err)
		}
	}},
	{"ready", func(t *testing.T, db *sql.DB, job queue.Job) {
		dbtest.Exec(t, db, "UPDATE onerow_job SET state = 'ready' WHERE id = ?", job.ID)
	}},
	{"running", func(t *testing.T, db *sql.DB, job queue.Job) {
		dbtest.Exec(t, db, "UPDATE onerow_job SET state = 'running', worker = 'w' WHERE id = ?", job.ID)
	}},
	{"paused", func(t *testing.T, db *sql.DB, job queue.Job) { onPause(t, db, job.ID) }},
	{"paused, begun", func(t *testing.T, db *sql.DB, job queue.Job) {
		dbtest.Exec(t, db, "UPDATE onerow_job SET state = 'running', token = 1, worker = 'w' WHERE id = ?", job.ID)
		onPause(t, db, job.ID)
	}},
	{"done", archived(queue.Done)}, {"dead", archived(queue.Dead)}, {"leftovers", archived(queue.Leftovers)}, {"cancelled", archived(queue.Cancelled)}, {"restored", archived(queue.Restored)},
}

func onPause(t *testing.T, db *sql.DB, id int64) {
	t.Helper()
	if job, err := queue.PauseJob(t.Context(), db, id, "why"); err != nil || job.State != queue.OnPause || job.LastError != "why" || job.DueAt.After(time.Now().Add(25*time.Hour)) {
		t.Fatal(job, err)
	}
}

func archived(state queue.State) func(*testing.T, *sql.DB, queue.Job) {
	return func(t *testing.T, db *sql.DB, job queue.Job) {
		if err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error { return archiveAs(ctx, tx, job.ID, state) }); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVerbsInEveryState: what each conditional write makes of a job in each state. What refuses leaves the
// job as it was.
func TestVerbsInEveryState(t *testing.T) {
	db, ctx := openForest(t), t.Context()
	w := quiet(t, worker(t, db, Config{Name: "w"}))
	const late, refused, same = "too late", "wrong state", "same"
	columns := []string{"cancel", "hold", "retry", "cancel of another deletion", "hold of another deletion", "a worker's failure", "a failure by an old token", "pause", "resume", "hold job", "put first"}
	want := map[string][11]string{
		"scheduled":     {"cancelled", "held", refused, late, late, same, same, "paused", same, "held", refused},
		"due":           {late, late, refused, late, late, same, same, "paused", same, "held", "ready"},
		"held":          {"cancelled", "held", "scheduled", late, late, same, same, refused, same, "held", refused},
		"ready":         {late, late, refused, late, late, same, same, "paused", same, "held", "ready"},
		"running":       {late, late, refused, late, late, "scheduled", same, "paused", same, "held", refused},
		"paused":        {"cancelled", "held", refused, late, late, same, same, "paused", "scheduled", "held", refused},
		"paused, begun": {late, late, refused, late, late, same, same, "paused", "ready", "held", refused},
		"done":          {late, late, refused, late, late, same, same, refused, same, refused, refused},
		"dead":          {late, late, "ready", late, late, same, same, refused, same, "held", refused},
		"leftovers":     {late, late, "ready", late, late, same, same, refused, same, "held", refused},
		"cancelled":     {same, late, refused, late, late, same, same, refused, same, same, refused},
		"restored":      {same, late, refused, late, late, same, same, refused, same, same, refused},
	}
	verbs := []func(queue.Job) error{
		func(j queue.Job) error { return queue.Cancel(ctx, db, j.Resource, j.ResourceID, j.DeletionID) },
		func(j queue.Job) error { return queue.Hold(ctx, db, j.Resource, j.ResourceID, j.DeletionID, "second") },
		func(j queue.Job) error { _, err := queue.Retry(ctx, db, j.ID); return err },
		func(j queue.Job) error { return queue.Cancel(ctx, db, j.Resource, j.ResourceID, j.DeletionID+1) },
		func(j queue.Job) error {
			return queue.Hold(ctx, db, j.Resource, j.ResourceID, j.DeletionID+1, "second")
		},
		func(j queue.Job) error {
			return w.store(ctx, queue.Claimed{Job: j}, queue.Scheduled, 1, errors.New("x"), time.Hour)
		},
		func(j queue.Job) error {
			j.Token++
			return w.store(ctx, queue.Claimed{Job: j}, queue.Scheduled, 1, errors.New("x"), time.Hour)
		},
		func(j queue.Job) error { _, err := queue.PauseJob(ctx, db, j.ID, "again"); return err },
		func(j queue.Job) error { _, err := queue.ResumeJob(ctx, db, j.ID); return err },
		func(j queue.Job) error { _, err := queue.HoldJob(ctx, db, j.ID, "third"); return err },
		func(j queue.Job) error { _, err := queue.PutFirst(ctx, db, j.ID); return err },
	}
	id := int64(0)
	for _, state := range jobStates {
		for i, verb := range verbs {
			id++
			job := condemn(t, db, id, time.Hour)
			state.make(t, db, job)
			before := jobRow(t, db, job.ID)
			err := verb(get(t, db, job.ID))
			got, after := "", jobRow(t, db, job.ID)
			switch {
			case errors.Is(err, queue.ErrTooLate):
				got = late
			case errors.Is(err, queue.ErrWrongState):
				got = refused
			case err != nil:
				got = err.Error()
			case after == before:
				got = same
			default:
				got = string(get(t, db, job.ID).State)
			}
			if got != want[state.name][i] || err != nil && after != before {
				t.Errorf("%s of a job that is %s: %s, want %s; %s, was %s", columns[i], state.name, got, want[state.name][i], after, before)
			}
		}
	}
}

// jobRow is the row of a job, in whichever table.
func jobRow(t *testing.T, db *sql.DB, id int64) (text string) {
	t.Helper()
	const columns = "CONCAT_WS(' ', state, due_at, token, batch_seq, failures, COALESCE(worker, '-'), COALESCE(last_error, '-'))"
	if err := onerow.QueryRow(t.Context(), db, "SELECT CONCAT('open ', "+columns+") FROM onerow_job WHERE id = ? UNION ALL SELECT CONCAT('ended ', "+columns+
		") FROM onerow_job_archive WHERE id = ?", []any{id, id}, &text); err != nil {
		t.Fatal(err)
	}
	return text
}
