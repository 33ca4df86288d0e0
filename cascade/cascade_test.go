package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
)

// TestWholeTree: everything below the root goes, nothing else does, and the counts
// are exact, with batches and chunks of any size.
func TestWholeTree(t *testing.T) {
	for _, c := range []Config{{}, {Batch: 1, Chunk: 1}, {Batch: 7, Chunk: 3}, {Batch: 3, Chunk: 100}, {Batch: 1000, Chunk: 2}} {
		t.Run(fmt.Sprintf("batch %d, chunk %d", c.Batch, c.Chunk), func(t *testing.T) {
			each(t, func(t *testing.T, db *sql.DB) {
				c := c // of this one
				want := grow(t, db, 1, 4, 3, 5, 6)
				other := grow(t, db, 2, 3, 3, 2, 2)
				project(t, db, 2)
				store := &shelf{}
				c.Assets, c.Name = store, "tester"
				var progress []int64
				c.Progress, c.OnEvent = true, progressed(func(job queue.Job) {
					if sum(job.Tables) != job.DeletedRows {
						t.Errorf("progress %+v", job)
					}
					progress = append(progress, job.DeletedRows)
				})
				job := condemn(t, db, 1, 0)
				drain(t, worker(t, db, c))
				got := get(t, db, job.ID)
				if got.State != queue.Done || !maps.Equal(got.Tables, want) || got.DeletedRows != sum(want) {
					t.Errorf("%+v\nwant %v", got, want)
				}
				if got.Worker != "tester" || got.StartedAt.IsZero() || got.FinishedAt.Before(got.StartedAt) || got.Failures != 0 {
					t.Errorf("%+v", got)
				}
				if left := rowsOf(t, db, 1); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
				if left := rowsOf(t, db, 2); !maps.Equal(left, other) {
					t.Errorf("of the other tree: %v, want %v", left, other)
				}
				if n := count(t, db, "SELECT COUNT(*) FROM project"); n != 1 {
					t.Errorf("%d projects", n)
				}
				if store.names() != 4 {
					t.Errorf("%d assets deleted", store.names())
				}
				for i, n := range progress {
					if n > sum(want) || i > 0 && n < progress[i-1] {
						t.Fatalf("progress went %v", progress)
					}
				}
				if len(progress) == 0 || progress[len(progress)-1] != sum(want) {
					t.Errorf("progress went %v", progress)
				}
				// The two users of the widgets stay, and their quotas moved.
				if n := count(t, db, "SELECT COUNT(DISTINCT owner) FROM onerow_quota_mark WHERE resource = 'widget' AND owner IN ('70', '71')"); n != 2 {
					t.Errorf("%d owners of widgets are marked", n)
				}
			})
		})
	}
}

// TestRootRow: the root row goes last, wherever it is, if it is this deletion's.
func TestRootRow(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		project(t, db, 1)
		live := condemn(t, db, 1, 0)
		want := grow(t, db, 1, 2, 2, 2, 2)
		hidden := condemn(t, db, 2, 0)
		insert(t, db, "project_archive", map[string]any{"id": 2, "user_id": 8, "deletion_id": hidden.DeletionID, "deleted_from": "active"})
		insert(t, db, "project_archive", map[string]any{"id": 3, "user_id": 8})
		archived := condemnFrom(t, db, 3, 0, queue.FromOperator)
		foreign := condemn(t, db, 4, 0)
		insert(t, db, "project_archive", map[string]any{"id": 4, "user_id": 8, "deletion_id": foreign.DeletionID + 1})
		below := grow(t, db, 4, 1, 1, 1, 1)
		w := worker(t, db, Config{MaxFailures: 1})
		drain(t, w)
		if got := get(t, db, live.ID); got.State != queue.Done || !maps.Equal(got.Tables, want) { // the root does not count
			t.Errorf("%+v", got)
		}
		for _, id := range []int64{hidden.ID, archived.ID} {
			if got := get(t, db, id); got.State != queue.Done || got.DeletedRows != 0 {
				t.Errorf("%+v", got)
			}
		}
		if n := count(t, db, "SELECT COUNT(*) FROM project"); n != 0 {
			t.Errorf("%d active projects", n)
		}
		if got := get(t, db, foreign.ID); got.State != queue.Dead || !strings.Contains(got.LastError, "another deletion") || got.DeletedRows != 0 {
			t.Errorf("%+v", got)
		}
		if left := rowsOf(t, db, 4); !maps.Equal(left, below) {
			t.Errorf("another deletion's rows: %v, want %v", left, below)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM project_archive"); n != 1 {
			t.Errorf("%d archived projects", n)
		}
		// Only the live one counted for its owner's quota.
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark WHERE resource = 'project' AND owner = '7'"); n != 1 {
			t.Errorf("%d marks", n)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark WHERE resource = 'project' AND owner = '8'"); n != 0 {
			t.Errorf("%d marks of archived rows", n)
		}
		if err := quota.Mark(t.Context(), db, "project", 7); err != nil { // the form of the owner is quota's
			t.Fatal(err)
		}
		if n := count(t, db, "SELECT COUNT(DISTINCT owner) FROM onerow_quota_mark WHERE resource = 'project'"); n != 1 {
			t.Errorf("%d forms of one owner", n)
		}
	})
}

// TestRootWithAsset: a root that names an asset is hidden, and its asset goes first.
func TestRootWithAsset(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		dbtest.Exec(t, db, "INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) VALUES ('screen', '5', 9, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
		insert(t, db, "screen_archive", map[string]any{"id": 5, "project_id": 1, "blob_key": "first", "deletion_id": 9})
		insert(t, db, "comment", map[string]any{"id": 50, "screen_id": 5})
		insert(t, db, "tag", map[string]any{"id": 51, "screen_id": 5})
		store := &shelf{}
		store.hook = func(ctx context.Context, _ []string) error { // an upload gets in between, once
			_, err := db.ExecContext(ctx, "UPDATE screen_archive SET blob_key = 'second' WHERE id = 5 AND blob_key = 'first'")
			return err
		}
		drain(t, worker(t, db, Config{Assets: store}))
		if store.deleted["first"] == 0 || store.deleted["second"] == 0 {
			t.Errorf("deleted assets: %v", store.deleted)
		}
		for _, table := range []string{"screen", "screen_archive", "comment", "tag", "onerow_job"} {
			if n := count(t, db, "SELECT COUNT(*) FROM "+table); n != 0 {
				t.Errorf("%d rows in %s", n, table)
			}
		}
	})
}

// TestAssets: they go before their rows, and a row that names another one meanwhile
// takes that one along.
func TestAssets(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		want := grow(t, db, 1, 230, 0, 0, 0)
		dbtest.Exec(t, db, "UPDATE screen SET blob_key = NULL WHERE id % 10 = 0")
		store := &shelf{}
		uploads, calls := 0, 0
		store.hook = func(ctx context.Context, names []string) error {
			calls++
			if len(names) > 100 || len(names) == 0 { // what Assets.Delete was promised
				t.Errorf("a call with %d names", len(names))
			}
			for _, name := range names {
				if n := count(t, db, "SELECT COUNT(*) FROM (SELECT blob_key FROM screen UNION ALL SELECT blob_key FROM screen_archive) x WHERE blob_key = ?", name); n != 1 {
					t.Errorf("the row of %s went before it", name)
				}
			}
			if uploads++; uploads > 3 {
				return nil
			}
			_, err := db.ExecContext(ctx, "UPDATE screen_archive SET blob_key = CONCAT(blob_key, '+') WHERE blob_key = ?", names[len(names)-1])
			return err
		}
		job := condemn(t, db, 1, 0)
		drain(t, worker(t, db, Config{Assets: store, Lease: time.Millisecond}))
		if got := get(t, db, job.ID); got.State != queue.Done || !maps.Equal(got.Tables, want) {
			t.Errorf("%+v, want %v", got, want)
		}
		if store.names() < 230-23 || calls < 3 { // some screens name none
			t.Errorf("%d assets in %d calls", store.names(), calls)
		}
		if left := rowsOf(t, db, 1); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestAssetStoreFails: the job fails, its rows stay, and a later attempt succeeds.
func TestAssetStoreFails(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		want := grow(t, db, 1, 5, 1, 1, 1)
		store := &shelf{hook: func(context.Context, []string) error {
			return fmt.Errorf("https://key:hunter2@store/x?X-Amz-Signature=hunter3: %w", context.DeadlineExceeded)
		}}
		job := condemn(t, db, 1, 0)
		w := worker(t, db, Config{Assets: store, MaxFailures: 2})
		for range 2 {
			drain(t, w)
			makeDue(t, db, job.ID)
		}
		got := get(t, db, job.ID)
		if got.State != queue.Dead || got.Failures != 2 || strings.Contains(got.LastError, "hunter") || !strings.Contains(got.LastError, "delete 5 assets") {
			t.Fatalf("%+v", got)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM screen WHERE project_id = 1"); n != 3 {
			t.Errorf("%d screens are left", n)
		}
		store.hook = nil
		if _, err := queue.Retry(t.Context(), db, job.ID); err != nil {
			t.Fatal(err)
		}
		drain(t, w)
		if got := get(t, db, job.ID); got.State != queue.Done || !maps.Equal(got.Tables, want) {
			t.Errorf("%+v, want %v", got, want)
		}
	})
}

func TestBadJobsFail(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		for id, says := range map[string]string{"'text": "not an integer", "1,2": "2 parts", "nonsense": "not a key", "18446744073709551615": "too great"} {
			job, err := queue.Enqueue(t.Context(), db, queue.Deletion{Resource: "project", ResourceID: id})
			if err != nil {
				t.Fatal(err)
			}
			drain(t, worker(t, db, Config{MaxFailures: 1}))
			if got := get(t, db, job.ID); got.State != queue.Dead || !strings.Contains(got.LastError, says) {
				t.Errorf("%s: %+v", id, got)
			}
		}
	})
}

func TestNewWorkerRefuses(t *testing.T) {
	for name, c := range map[string]Config{"no assets": {}, "batch": {Batch: -1, Assets: &shelf{}}, "lease": {Lease: time.Microsecond, Assets: &shelf{}}} {
		if _, err := NewWorker(nil, forest, c); !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewWorker(nil, schema.Plan{}, Config{}); !errors.Is(err, schema.ErrInvalidPlan) {
		t.Errorf("an empty plan: %v", err)
	}
	if _, err := NewWorker(nil, schema.Plan{Resources: forest.Resources[:1]}, Config{}); err != nil {
		t.Errorf("the zero configuration: %v", err)
	}
}

func TestNames(t *testing.T) {
	c, err := Config{Name: strings.Repeat("é#", 200)}.withDefaults()
	if err != nil || len(c.Name) > governor.MaxName {
		t.Fatal(len(c.Name), err)
	}
	for n, want := range map[int]time.Duration{1: time.Second, 4: 8 * time.Second, 1000: 5 * time.Minute} {
		if d := backoff.After(n); d < want/2 || d > want*3/2 {
			t.Errorf("backoff(%d) = %s", n, d)
		}
	}
}
