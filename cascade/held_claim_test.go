package cascade

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestClaimPassesByHeldJobs: a batch that waits for a lock holds its job's row past the end
// of the lease. Nobody waits with it: claims leave that job out, and it does not count as
// seen, so that Drain does not turn on it.
func TestClaimPassesByHeldJobs(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		var held []queue.Job
		for id := range int64(3) {
			held = append(held, condemn(t, db, id+1, 0))
		}
		batch, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = batch.Rollback() }()
		for _, job := range held {
			dbtest.Exec(t, batch, "UPDATE onerow_job SET batch_seq = batch_seq + 1 WHERE id = ?", job.ID)
		}
		late, cancel := context.WithTimeout(t.Context(), 20*time.Second) // else it waits for innodb_lock_wait_timeout, 50s
		defer cancel()
		w := worker(t, db, Config{ClaimJobs: 1})
		if c, err := w.claim(late, 1); err != nil || len(c.Jobs) != 0 || c.Seen != 0 {
			t.Errorf("%+v, %v", c, err)
		}
		free := condemn(t, db, 4, 0)
		if err := w.Drain(late); err != nil {
			t.Fatal(err)
		}
		if got := get(t, db, free.ID); got.State != queue.Done {
			t.Errorf("%+v", got)
		}
		if err := batch.Commit(); err != nil {
			t.Fatal(err)
		}
		drain(t, w)
		for _, job := range held {
			if got := get(t, db, job.ID); got.State != queue.Done || got.Token != 1 {
				t.Errorf("%+v", got)
			}
		}
	})
}
