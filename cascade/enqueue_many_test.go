package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestEnqueueMany(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		before := condemn(t, db, 3, time.Hour)
		many := make([]queue.Deletion, 1203)
		for i := range many {
			many[i] = queue.Deletion{Resource: "project", ResourceID: key(int64(i)), Owner: key(int64(i % 7)), From: "active", Grace: time.Duration(i%2) * time.Minute}
		}
		many[1201].ResourceID = "1200" // twice in one call
		many[1202].ID = 7777777        // logged by somebody else
		queued, open, err := queue.EnqueueMany(ctx, db, many)
		if queued != 1201 || open != 2 || err != nil {
			t.Fatalf("%d queued, %d open, %v", queued, open, err)
		}
		for query, want := range map[string]int64{
			"SELECT COUNT(*) FROM onerow_job":                                                                                                           1202,
			"SELECT COUNT(*) FROM onerow_deletion":                                                                                                      1 + 1202,
			"SELECT COUNT(*) FROM onerow_job WHERE deletion_id = 7777777":                                                                               1,
			"SELECT COUNT(*) FROM onerow_deletion WHERE owner IN ('1', '6')":                                                                            344 - 1, // the last one is not logged here
			"SELECT COUNT(*) FROM onerow_job j JOIN onerow_deletion d ON d.id = j.deletion_id AND d.resource_id = j.resource_id":                        1201,
			"SELECT COUNT(*) FROM onerow_job WHERE state = 'scheduled' AND due_at > UTC_TIMESTAMP(6) AND due_at < UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE": 600,
			"SELECT COUNT(*) FROM onerow_job WHERE state = 'ready' AND due_at <= UTC_TIMESTAMP(6)":                                                      602,
		} {
			if got := count(t, db, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
		if got := get(t, db, before.ID); got.DeletionID != before.DeletionID || got.DueAt.After(time.Now().Add(2*time.Minute)) {
			t.Errorf("the job that was open: %+v", got)
		}
		if queued, open, err := queue.EnqueueMany(ctx, db, many); queued != 0 || open != 1203 || err != nil {
			t.Errorf("again: %d queued, %d open, %v", queued, open, err)
		}
		if queued, open, err := queue.EnqueueMany(ctx, db, nil); queued != 0 || open != 0 || err != nil {
			t.Errorf("none: %d queued, %d open, %v", queued, open, err)
		}
		if _, _, err := queue.EnqueueMany(ctx, db, append(many[:1:1], queue.Deletion{})); !errors.Is(err, queue.ErrInvalid) {
			t.Error(err)
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if queued, _, err := queue.EnqueueMany(ctx, tx, []queue.Deletion{{Resource: "project", ResourceID: "9999"}}); queued != 1 || err != nil {
			t.Errorf("%d queued, %v", queued, err)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if _, err := queue.Find(ctx, db, "project", "9999"); !errors.Is(err, queue.ErrNoJob) {
			t.Errorf("after a rollback: %v", err)
		}
	})
}

// TestEnqueueManyStep: ids of a cluster's nodes are not consecutive.
func TestEnqueueManyStep(t *testing.T) {
	db := openForest(t, dbtest.Param("auto_increment_increment", "3"), dbtest.Param("auto_increment_offset", "2"))
	many := make([]queue.Deletion, 700)
	for i := range many {
		many[i] = queue.Deletion{Resource: "project", ResourceID: key(int64(i))}
	}
	if queued, _, err := queue.EnqueueMany(t.Context(), db, many); queued != 700 || err != nil {
		t.Fatalf("%d queued, %v", queued, err)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_job j JOIN onerow_deletion d ON d.id = j.deletion_id AND d.resource_id = j.resource_id"); n != 700 {
		t.Errorf("%d jobs have their own deletion", n)
	}
}

// TestEnqueueManyInParallel: overlapping calls, in other orders, make each job once.
func TestEnqueueManyInParallel(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		var wg sync.WaitGroup
		var queued atomic.Int64
		for caller := range int64(6) {
			wg.Go(func() {
				many := make([]queue.Deletion, 300)
				for i := range many {
					many[i] = queue.Deletion{Resource: "project", ResourceID: key(caller*50 + int64(i*7%300))}
				}
				made, _, err := queue.EnqueueMany(t.Context(), db, many)
				if err != nil {
					t.Error(err)
				}
				queued.Add(int64(made))
			})
		}
		wg.Wait()
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_job"); n != 550 || queued.Load() != n {
			t.Errorf("%d jobs, %d were reported", n, queued.Load())
		}
	})
}

func TestCrashEnqueueMany(t *testing.T) {
	crash(t, 35, func(*shelf) crashtest.Workflow {
		return crashtest.Workflow{
			Setup: func(ctx context.Context, db *sql.DB) error {
				return execAll(ctx, db, putJob("project", "scheduled", "1 HOUR"), "UPDATE onerow_job SET deletion_id = 7777777")
			},
			Call: func(ctx context.Context, db *sql.DB) error {
				queued, open, err := queue.EnqueueMany(ctx, db, []queue.Deletion{{Resource: "project", ResourceID: "1"}, {Resource: "project", ResourceID: "2"}, {Resource: "screen", ResourceID: "2"}})
				if err == nil && queued+open != 3 {
					return fmt.Errorf("%d queued, %d open", queued, open)
				}
				return err
			},
		}
	})
}
