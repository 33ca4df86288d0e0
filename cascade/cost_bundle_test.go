package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestTogetherDoesNotGrow: where a batch has room for few of the jobs that were claimed, what is read and
// locked for each does not depend on how many wait with it.
func TestTogetherDoesNotGrow(t *testing.T) {
	perJob := map[int][2]float64{}
	for _, jobs := range []int{20, 100} {
		dsn := dbtest.DSN(t)
		db := dbtest.OpenDSN(t, dsn)
		plant(t, db)
		dbtest.Exec(t, db, "INSERT INTO project_archive (id, user_id, deletion_id, deleted_from, created_at, updated_at, archived_at) "+cost.Numbers(1000)+
			"SELECT i, 7, i, 'active', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers WHERE i <= ?", jobs)
		for range 10 {
			dbtest.Exec(t, db, "INSERT INTO note (project_id, created_at, updated_at) SELECT id, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM project_archive")
		}
		dbtest.Exec(t, db, "INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at) "+
			"SELECT id, 'project', id, id, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM project_archive")
		dbtest.Exec(t, db, "ANALYZE TABLE note, project_archive, onerow_job")
		var read, locked int64
		var all string
		for _, s := range cost.Of(t, dsn, func(ctx context.Context, db *sql.DB) error {
			w, err := NewWorker(db, forest, Config{ClaimJobs: 100, Batch: 40, Target: -1, Lease: time.Hour, Assets: &shelf{}})
			if err != nil {
				return err
			}
			worked, err := w.RunOnce(ctx)
			if err == nil && worked != jobs {
				err = fmt.Errorf("%d worked of %d", worked, jobs)
			}
			return err
		}) {
			read, locked, all = read+s.Read, locked+s.Locked, all+s.String()+"\n"
		}
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'done' AND token = 1"); n != int64(jobs) {
			t.Errorf("%d jobs have ended of %d", n, jobs)
		}
		perJob[jobs] = [2]float64{float64(read) / float64(jobs), float64(locked) / float64(jobs)}
		t.Logf("%d jobs: %.0f read, %.0f locked for each\n%s", jobs, perJob[jobs][0], perJob[jobs][1], all)
	}
	for i, what := range []string{"read", "locked"} {
		if few, many := perJob[20][i], perJob[100][i]; many > 1.3*few {
			t.Errorf("%s for each of 20: %.0f, of 100: %.0f", what, few, many)
		}
	}
}

// TestTogetherLarge: jobs of which a batch has room for one go their own ways after the first.
func TestTogetherLarge(t *testing.T) {
	db := openForest(t)
	for id := range int64(4) {
		insert(t, db, "project_archive", map[string]any{"id": id + 1, "user_id": 7, "deletion_id": id + 1, "deleted_from": "active"})
		for range 30 {
			insert(t, db, "note", map[string]any{"project_id": id + 1})
		}
		dbtest.Exec(t, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at)
VALUES (?, 'project', ?, ?, 'ready', UTC_TIMESTAMP(6) - INTERVAL ? SECOND, UTC_TIMESTAMP(6))`, id+1, key(id+1), id+1, 100-id)
	}
	w := quiet(t, worker(t, db, Config{Batch: 40, Target: -1}))
	c, err := w.claim(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	if n := w.endSmallJobs(t.Context(), &c); n != 1 || len(c.Jobs) != 3 || count(t, db, "SELECT COUNT(*) FROM note") != 90 {
		t.Errorf("%d have ended together, %d are left", n, len(c.Jobs))
	}
	dbtest.Exec(t, db, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)")
	drain(t, w)
	for id := range int64(4) {
		if job := get(t, db, id+1); job.DeletedRows != 30 || job.State != queue.Done {
			t.Errorf("%+v, want 30 rows", job)
		}
	}
}
