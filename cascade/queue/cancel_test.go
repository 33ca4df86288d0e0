package queue

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestCancelledSince: a transaction whose snapshot is older than another one's cancel is told that it is done.
func TestCancelledSince(t *testing.T) {
	db := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites())
	ctx := t.Context()
	d := Deletion{Resource: "project", ResourceID: "1", Owner: "7", From: "active", Grace: time.Hour}
	var err error
	if d.ID, err = Log(ctx, db, d); err != nil {
		t.Fatal(err)
	}
	if _, err := Enqueue(ctx, db, d); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM onerow_job_archive")
	if err := Cancel(ctx, db, d.Resource, d.ResourceID, d.ID); err != nil {
		t.Fatal(err)
	}
	if err := Cancel(ctx, tx, d.Resource, d.ResourceID, d.ID); err != nil {
		t.Error(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}

// TestCancelledNewest: of deletions that nobody logged, and so have no number, the row's newest one counts.
func TestCancelledNewest(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		d := Deletion{Resource: "project", ResourceID: "1", From: "active", Grace: time.Hour}
		first, err := Enqueue(ctx, db, d)
		if err != nil {
			t.Fatal(err)
		}
		dbtest.EndJob(t, db, first.ID, "done")
		if err := Cancel(ctx, db, d.Resource, d.ResourceID, 0); !errors.Is(err, ErrTooLate) {
			t.Errorf("of a job that is done: %v", err)
		}
		if _, err := Enqueue(ctx, db, d); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := Cancel(ctx, db, d.Resource, d.ResourceID, 0); err != nil {
				t.Error(err)
			}
		}
	})
}
