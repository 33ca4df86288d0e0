package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestZombie: a worker whose job was claimed by another changes nothing any more.
func TestZombie(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		want := grow(t, db, 1, 6, 2, 2, 3)
		job := condemn(t, db, 1, 0)
		stopped, proceed := make(chan struct{}), make(chan struct{})
		var once sync.Once
		zombie := worker(t, db, Config{Chunk: 2, Name: "zombie", Assets: &shelf{hook: func(context.Context, []string) error {
			once.Do(func() {
				close(stopped)
				<-proceed
			})
			return nil
		}}})
		result := make(chan error)
		var its queue.Claim
		go func() {
			var err error
			if its, err = zombie.claim(t.Context(), 10); err == nil {
				err = zombie.work(t.Context(), its.Jobs[0], false)
			}
			result <- err
		}()
		<-stopped
		makeDue(t, db, job.ID) // its lease ends

		// The successor works a part of the job, the zombie wakes up in the middle.
		second := worker(t, db, Config{Chunk: 1, Name: "second"})
		c, err := second.claim(t.Context(), 10)
		if err != nil || len(c.Jobs) != 1 || c.Jobs[0].Token != 2 {
			t.Fatal(c, err)
		}
		before := rowsOf(t, db, 1)
		counted := get(t, db, job.ID).DeletedRows
		close(proceed)
		if err := <-result; !errors.Is(err, fault.ErrLeaseLost) {
			t.Errorf("the zombie's answer: %v", err)
		}
		if after := rowsOf(t, db, 1); !maps.Equal(before, after) {
			t.Errorf("the zombie deleted rows: %v, were %v", after, before)
		}
		if got := get(t, db, job.ID); got.DeletedRows != counted || got.Token != 2 || got.State != queue.Running {
			t.Errorf("the zombie changed the job: %+v", got)
		}
		old := c.Jobs[0]
		old.Token = 1
		for name, write := range map[string]error{
			"fail":     zombie.fail(t.Context(), old, errors.New("x"), false),
			"postpone": zombie.store(t.Context(), old, queue.Ready, 0, errors.New("x"), time.Second),
			"release":  zombie.release(t.Context(), its, []queue.Claimed{old}),
		} {
			if got := get(t, db, job.ID); write != nil || got.State != queue.Running || got.Failures != 0 || got.Worker != "second" {
				t.Errorf("%s: %v, %+v", name, write, got)
			}
		}
		if err := second.settle(t.Context(), c, c.Jobs[0], second.work(t.Context(), c.Jobs[0], false)); err != nil {
			t.Error(err)
		}
		if got := get(t, db, job.ID); got.State != queue.Done || !maps.Equal(got.Tables, want) {
			t.Errorf("%+v, want %v", got, want)
		}
	})
}

// TestManyWorkers: leases that are far too short make workers take each other's job
// all the time. The counts stay exact.
func TestManyWorkers(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		wants := map[int64]map[string]int64{}
		for id := range int64(3) {
			want := grow(t, db, id+1, 6, 4, 5, 8)
			wants[condemn(t, db, id+1, 0).ID] = want
		}
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 4 {
			w := worker(t, db, Config{Batch: 4, Chunk: 3, Lease: 25 * time.Millisecond, Poll: time.Millisecond})
			wg.Go(func() {
				if err := w.Run(ctx); err != nil {
					t.Error(err)
				}
			})
		}
		dbtest.Eventually(t, 3*time.Minute, func() (bool, string) {
			n := count(t, db, "SELECT COUNT(*) FROM onerow_job")
			return n == 0, fmt.Sprintf("%d jobs are open", n)
		})
		stop()
		wg.Wait()
		claims := int64(0)
		for id, want := range wants {
			got := get(t, db, id)
			claims += got.Token
			if got.State != queue.Done || !maps.Equal(got.Tables, want) || got.Failures != 0 {
				t.Errorf("%+v, want %v", got, want)
			}
		}
		t.Logf("%d claims of 3 jobs", claims)
	})
}

// mover archives and activates rows of a table pair, as package repo does.
func mover(ctx context.Context, db *sql.DB, table string, lo, hi int64) error {
	from, to := table, table+"_archive"
	columns, archived := "id, version, created_at, updated_at, "+parentOf[table], ", archived_at"
	value := ", UTC_TIMESTAMP(6)"
	if table == "screen" {
		columns += ", blob_key"
	}
	if rand.IntN(2) == 0 { //nolint:gosec // a test
		from, to, archived, value = to, from, "", ""
	}
	id := lo + rand.Int64N(hi-lo) //nolint:gosec // a test
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("SELECT id FROM %s WHERE id = ? FOR UPDATE", from), id); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s%s) SELECT %s%s FROM %s WHERE id = ?", to, columns, archived, columns, value, from), id); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE id = ?", from), id); err != nil {
		return err
	}
	return tx.Commit()
}

var parentOf = map[string]string{"screen": "project_id", "comment": "screen_id", "reaction": "comment_id"}

// TestRowsMoveMeanwhile: rows of every level move between their two tables while the
// cascade works. None is missed and none is counted twice.
func TestRowsMoveMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		want := grow(t, db, 1, 12, 5, 4, 3)
		job := condemn(t, db, 1, 0)
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var moved atomic.Int64
		for table, n := range map[string]int64{"screen": 12, "comment": 60, "reaction": 240} {
			wg.Go(func() {
				for ctx.Err() == nil {
					if err := mover(ctx, db, table, 100000, 100000+n); err == nil {
						moved.Add(1)
					} else if ctx.Err() == nil && !fault.Transient(err) {
						t.Error(err)
						return
					}
				}
			})
		}
		w := worker(t, db, Config{Batch: 5, Chunk: 3})
		dbtest.Eventually(t, time.Minute, func() (bool, string) {
			makeDue(t, db, job.ID)
			drain(t, w)
			state := get(t, db, job.ID).State
			return !state.Open(), string(state)
		})
		stop()
		wg.Wait()
		got := get(t, db, job.ID)
		if got.State != queue.Done || got.DeletedRows != sum(want) || got.Failures > 0 {
			t.Errorf("%+v, want %d rows", got, sum(want))
		}
		if left := rowsOf(t, db, 1); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		t.Logf("%d moves", moved.Load())
	})
}

// create inserts a child as a well-behaved application does: with a share lock on its
// parent, wherever that is. It returns false when there is no parent.
func create(ctx context.Context, db *sql.DB, child, parent string, parentID int64) (bool, error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	var one int
	err = tx.QueryRowContext(ctx, fmt.Sprintf("SELECT 1 FROM %s WHERE id = ? LOCK IN SHARE MODE", parent), parentID).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := insertRow(ctx, tx, child, map[string]any{parent + "_id": parentID}); err != nil {
		return false, err
	}
	return true, tx.Commit()
}

// TestChildrenAppearMeanwhile: children are created at every level while their
// parents die. Every acknowledged one is deleted and counted, and none is left.
func TestChildrenAppearMeanwhile(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		project(t, db, 1)
		want := sum(grow(t, db, 1, 10, 4, 3, 2))
		project(t, db, 2)
		job := condemn(t, db, 1, 0)
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var made, refused atomic.Int64
		for _, level := range []struct {
			child, parent string
			lo, n         int64
		}{{"screen", "project", 1, 1}, {"note", "project", 1, 1}, {"tag", "screen", 100000, 10}, {"comment", "screen", 100000, 10}, {"reaction", "comment", 100000, 40}} {
			wg.Go(func() {
				rest := rand.Perm(int(level.n)) //nolint:gosec // a test
				for made1 := 0; ctx.Err() == nil && len(rest) > 0; made1++ {
					i := made1 % len(rest)
					ok, err := create(ctx, db, level.child, level.parent, level.lo+int64(rest[i]))
					switch {
					case err == nil && ok:
						made.Add(1)
					case err == nil:
						refused.Add(1)
						rest = append(rest[:i], rest[i+1:]...)
					case ctx.Err() == nil && !fault.Transient(err):
						t.Error(err)
						return
					}
					if made1 > 300 { // nobody adds for ever
						return
					}
				}
			})
		}
		w := worker(t, db, Config{Batch: 5, Chunk: 3})
		dbtest.Eventually(t, time.Minute, func() (bool, string) {
			makeDue(t, db, job.ID)
			drain(t, w)
			state := get(t, db, job.ID).State
			return !state.Open(), string(state)
		})
		wg.Wait()
		stop()
		if got := get(t, db, job.ID); got.State != queue.Done || got.DeletedRows != want+made.Load() {
			t.Errorf("%+v, want %d rows and %d created meanwhile", got, want, made.Load())
		}
		for _, r := range belowProject(t) {
			for _, table := range r.Tables() {
				if n := count(t, db, "SELECT COUNT(*) FROM "+table); n != 0 {
					t.Errorf("%d rows are left in %s, the first below %d", n, table,
						count(t, db, fmt.Sprintf("SELECT %s FROM %s ORDER BY id LIMIT 1", r.Parent.Column, table)))
				}
			}
		}
		t.Logf("%d created meanwhile, %d refused", made.Load(), refused.Load())
	})
}
