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

// TestOldSnapshot: a caller's transaction at REPEATABLE READ does not see what was parked, queued or retried
// since; an operator's verbs that it joins answer by what is there now.
func TestOldSnapshot(t *testing.T) {
	db, ctx := openForest(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites()), t.Context()
	in := func(before func(), verb func(tx *sql.Tx)) {
		t.Helper()
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		count(t, tx, "SELECT COUNT(*) FROM onerow_job")
		before()
		verb(tx)
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	}
	for root, verb := range []func(context.Context, onerow.DB, int64) (queue.Job, error){queue.SkipParked, queue.RetryParked} {
		var job queue.Job
		var ids []int64
		in(func() { job, ids = leftovers(t, db, int64(root), "1", "2") }, func(tx *sql.Tx) {
			if got, err := verb(ctx, tx, ids[0]); err != nil || got.ID != job.ID || got.Parked != 1 || got.Skipped != int64(1-root) {
				t.Errorf("a row that was parked since: %+v, %v", got, err)
			}
			if _, err := verb(ctx, tx, ids[1]+1); !errors.Is(err, onerow.ErrNotFound) {
				t.Errorf("a row that was never parked: %v", err)
			}
		})
	}

	var job queue.Job
	in(func() { job = condemn(t, db, 10, time.Hour) }, func(tx *sql.Tx) {
		if got, err := queue.Retry(ctx, tx, job.ID); !errors.Is(err, queue.ErrWrongState) || got.State != queue.Scheduled {
			t.Errorf("a job that was queued since: %v", err)
		}
	})
	job, _ = leftovers(t, db, 11, "1")
	in(func() {
		if _, err := queue.Retry(ctx, db, job.ID); err != nil {
			t.Fatal(err)
		}
	}, func(tx *sql.Tx) {
		if got, err := queue.Retry(ctx, tx, job.ID); !errors.Is(err, queue.ErrWrongState) || got.State != queue.Ready {
			t.Errorf("a job that was retried since: %v", err)
		}
	})
}
