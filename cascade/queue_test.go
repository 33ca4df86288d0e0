package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestEnqueueOneOpenJob(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		var wg sync.WaitGroup
		jobs := make([]queue.Job, 32)
		for i := range jobs {
			wg.Go(func() {
				var err error
				if jobs[i], err = queue.Enqueue(t.Context(), db, queue.Deletion{ID: int64(i + 1), Resource: "project", ResourceID: "1"}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		made := 0
		for i, job := range jobs {
			if job.ID != jobs[0].ID || job.ID == 0 || job.State != queue.Ready || job.DeletionID != jobs[0].DeletionID {
				t.Errorf("call %d: %+v, the first: %+v", i, job, jobs[0])
			}
			if job.CreatedAt.IsZero() {
				made++
			}
		}
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_job"); n != 1 || made != 1 {
			t.Errorf("%d jobs, %d calls made one", n, made)
		}
		for _, d := range []queue.Deletion{{}, {Resource: "project"}, {ResourceID: "1"}, {Resource: "project", ResourceID: "1", Grace: -1},
			{Resource: string(make([]byte, 65)), ResourceID: "1"}, {Resource: "project", ResourceID: "1", From: "elsewhere"},
			{Resource: "project", ResourceID: string(make([]byte, 513))}, {Resource: "project", ResourceID: "1", Owner: string(make([]byte, 513))}} {
			if _, err := queue.Enqueue(t.Context(), db, d); !errors.Is(err, queue.ErrInvalid) {
				t.Errorf("Enqueue(%+v): %v", d, err)
			}
			if _, err := queue.Log(t.Context(), db, d); !errors.Is(err, queue.ErrInvalid) {
				t.Errorf("Log(%+v): %v", d, err)
			}
		}
	})
}

func TestDeleteDuringGraceTakesTheEarlierTime(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		first := condemn(t, db, 1, time.Hour)
		if first.State != queue.Scheduled {
			t.Fatalf("%+v", first)
		}
		at := get(t, db, first.ID).DueAt
		for _, c := range []struct {
			grace time.Duration
			moves bool
			state queue.State
		}{{2 * time.Hour, false, queue.Scheduled}, {time.Minute, true, queue.Scheduled}, {time.Hour, false, queue.Scheduled}, {0, true, queue.Ready}, {time.Hour, false, queue.Ready}} {
			job := condemn(t, db, 1, c.grace)
			if job.ID != first.ID || job.DeletionID != first.DeletionID || job.State != c.state {
				t.Errorf("grace %s: %+v", c.grace, job)
			}
			if moved := job.DueAt.Before(at); moved != c.moves || job.DueAt.After(at) {
				t.Errorf("grace %s: due at %s, was %s", c.grace, job.DueAt, at)
			}
			at = job.DueAt
		}
		if d := time.Since(at); d < -time.Minute || d > time.Minute { // the server is on this machine
			t.Errorf("due at %s, now is %s", at, time.Now().UTC())
		}
		w := worker(t, db, Config{})
		c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
		if err != nil || len(c.Jobs) != 1 {
			t.Fatalf("%+v, %v", c, err)
		}
		running := condemn(t, db, 1, 0)
		if running.ID != first.ID || running.State != queue.Running || running.Token != 1 || !running.DueAt.After(at) {
			t.Errorf("a deletion while the job runs: %+v", running)
		}
		if err := w.settle(t.Context(), c, c.Jobs[0], w.work(t.Context(), c.Jobs[0], false)); err != nil {
			t.Error(err)
		}
		if job := condemn(t, db, 1, 0); job.ID == first.ID || job.State != queue.Ready {
			t.Errorf("a deletion after the job: %+v", job)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_deletion WHERE resource_id = '1' AND owner = '7' AND deleted_from = 'active'"); n != 8 {
			t.Errorf("%d deletions were logged", n)
		}
	})
}

func TestEnqueueInACallersTransaction(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		condemn(t, tx, 1, 0)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if _, err := queue.Find(t.Context(), db, "project", "1"); !errors.Is(err, queue.ErrNoJob) {
			t.Errorf("after a rollback: %v", err)
		}
		if _, err := queue.Get(t.Context(), db, 99); !errors.Is(err, queue.ErrNoJob) {
			t.Errorf("an unknown job: %v", err)
		}
	})
}

func TestCancel(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		job := condemn(t, db, 1, time.Hour)
		if err := queue.Cancel(t.Context(), db, "project", "1", job.DeletionID+1); !errors.Is(err, queue.ErrTooLate) {
			t.Errorf("another deletion: %v", err)
		}
		for range 2 { // the second is a no-op
			if err := queue.Cancel(t.Context(), db, "project", "1", job.DeletionID); err != nil {
				t.Fatal(err)
			}
		}
		if got := get(t, db, job.ID); got.State != queue.Cancelled || got.FinishedAt.IsZero() || got.DeletionID != job.DeletionID {
			t.Errorf("%+v", got)
		}
		again := condemn(t, db, 1, time.Hour)
		makeDue(t, db, again.ID)
		if got := get(t, db, again.ID); got.State != queue.Ready {
			t.Errorf("a scheduled job whose time has come is shown as %s", got.State)
		}
		if err := queue.Cancel(t.Context(), db, "project", "1", again.DeletionID); !errors.Is(err, queue.ErrTooLate) {
			t.Errorf("after the grace period: %v", err)
		}
		drain(t, worker(t, db, Config{}))
		if err := queue.Cancel(t.Context(), db, "project", "1", again.DeletionID); !errors.Is(err, queue.ErrTooLate) {
			t.Errorf("after the job: %v", err)
		}
		if found, err := queue.Find(t.Context(), db, "project", "1"); err != nil || found.ID != again.ID || found.State != queue.Done {
			t.Errorf("Find: %+v, %v", found, err)
		}
	})
}

// TestCancelAgainstClaim: at the end of the grace period exactly one of the two wins.
func TestCancelAgainstClaim(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		cancelled, claimed := 0, 0
		for i := range int64(40) {
			job := condemn(t, db, i, 3*time.Millisecond)
			var wg sync.WaitGroup
			var err error
			wg.Go(func() {
				for n := range 50 {
					if err = queue.Cancel(t.Context(), db, "project", key(i), job.DeletionID); err == nil || !errors.Is(err, queue.ErrTooLate) || n > int(i%5) {
						return
					}
				}
			})
			w := worker(t, db, Config{})
			won := 0
			wg.Go(func() {
				for get(t, db, job.ID).State.Open() {
					c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
					if err != nil {
						t.Error(err)
					}
					if won += len(c.Jobs); won > 0 {
						return
					}
				}
			})
			wg.Wait()
			state := get(t, db, job.ID).State
			switch {
			case err == nil && won == 0 && state == queue.Cancelled:
				cancelled++
			case errors.Is(err, queue.ErrTooLate) && won == 1 && state == queue.Running:
				claimed++
			default:
				t.Fatalf("round %d: cancel said %v, %d claims won, the job is %s", i, err, won, state)
			}
		}
		t.Logf("%d cancelled, %d claimed", cancelled, claimed)
	})
}

func TestFindPrefersTheOpenJob(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		job := condemn(t, db, 1, time.Hour)
		if err := queue.Cancel(t.Context(), db, "project", "1", job.DeletionID); err != nil {
			t.Fatal(err)
		}
		open := condemn(t, db, 1, time.Hour)
		if found, err := queue.Find(t.Context(), db, "project", "1"); err != nil || found.ID != open.ID {
			t.Errorf("%+v, %v", found, err)
		}
		if err := queue.Cancel(t.Context(), db, "project", "1", open.DeletionID); err != nil {
			t.Fatal(err)
		}
		if found, err := queue.Find(t.Context(), db, "project", "1"); err != nil || found.ID != open.ID || found.State != queue.Cancelled {
			t.Errorf("the newest of the finished: %+v, %v", found, err)
		}
	})
}

func TestList(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		want := map[queue.State][]int64{}
		add := func(s queue.State, id int64) {
			want[s] = append(want[s], id)
			want[""] = append(want[""], id)
		}
		for i := range int64(20) {
			job := condemn(t, db, i, time.Duration(i%2)*time.Hour)
			switch i % 4 {
			case 1:
				if err := queue.Cancel(t.Context(), db, "project", key(i), job.DeletionID); err != nil {
					t.Fatal(err)
				}
				add(queue.Cancelled, job.ID)
			case 3:
				if i > 10 {
					makeDue(t, db, job.ID)
					add(queue.Ready, job.ID)
				} else {
					add(queue.Scheduled, job.ID)
				}
			default:
				add(queue.Ready, job.ID)
			}
			dbtest.Exec(t, db, "INSERT INTO onerow_job_count VALUES (?, 'a', 2), (?, 'b', 3)", job.ID, job.ID)
		}
		for state, ids := range want {
			slices.Reverse(ids)
			var got []int64
			for after := int64(0); ; {
				page, err := queue.List(t.Context(), db, queue.ListOptions{State: state, After: after, Limit: 3})
				if err != nil {
					t.Fatal(err)
				}
				for _, job := range page {
					got = append(got, job.ID)
					if job.DeletedRows != 5 || len(job.Tables) != 2 || state != "" && job.State != state {
						t.Errorf("%+v", job)
					}
				}
				if len(page) < 3 {
					break
				}
				after = page[2].ID
			}
			if !slices.Equal(got, ids) {
				t.Errorf("%q: %v, want %v", state, got, ids)
			}
		}
	})
}

func TestRetry(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		job, err := queue.Enqueue(ctx, db, queue.Deletion{ID: 5, Resource: "project", ResourceID: "nonsense"})
		if err != nil {
			t.Fatal(err)
		}
		w := worker(t, db, Config{MaxFailures: 3, Name: "tester"})
		for n := 1; n <= 3; n++ {
			makeDue(t, db, job.ID)
			began := time.Now()
			if worked, err := w.RunOnce(ctx); worked != 1 || err != nil {
				t.Fatal(worked, err)
			}
			got := get(t, db, job.ID)
			want := queue.Ready
			if n == 3 {
				want = queue.Dead
			}
			if got.State != want || got.Failures != n || got.Token != int64(n) || got.LastError == "" {
				t.Fatalf("after failure %d: %+v", n, got)
			}
			// Counted from before the attempt: however slow the machine, the pause is in it.
			if want == queue.Ready && (got.DueAt.Sub(began) < 100*time.Millisecond || time.Until(got.DueAt) > time.Minute) {
				t.Errorf("after failure %d, of an attempt that began at %s, the next is due at %s", n, began, got.DueAt)
			}
			if _, err := queue.Retry(ctx, db, job.ID); n < 3 && !errors.Is(err, queue.ErrWrongState) {
				t.Errorf("retry of a ready job: %v", err)
			} else if n == 3 && err != nil {
				t.Errorf("retry of a dead job: %v", err)
			}
		}
		got := get(t, db, job.ID)
		if got.State != queue.Ready || got.Failures != 0 || got.Token != 3 || !got.FinishedAt.IsZero() || got.DeletionID != 5 {
			t.Errorf("retried: %+v", got)
		}
		if got, err := queue.Retry(ctx, db, job.ID); !errors.Is(err, queue.ErrWrongState) || got.State != queue.Ready || got.ID != job.ID {
			t.Errorf("retried twice: %v", err)
		}
		if _, err := queue.Retry(ctx, db, 12345); !errors.Is(err, queue.ErrNoJob) {
			t.Errorf("unknown: %v", err)
		}
		// Dead again, and a new deletion of the same row.
		dbtest.Exec(t, db, "UPDATE onerow_job SET failures = 2 WHERE id = ?", job.ID)
		if _, err := w.RunOnce(ctx); err != nil {
			t.Fatal(err)
		}
		next, err := queue.Enqueue(ctx, db, queue.Deletion{ID: 6, Resource: "project", ResourceID: "nonsense"})
		if err != nil || next.ID == job.ID {
			t.Fatalf("%+v, %v", next, err)
		}
		if _, err := queue.Retry(ctx, db, job.ID); !errors.Is(err, queue.ErrOpenJob) || !strings.HasSuffix(err.Error(), fmt.Sprintf(": job %d", next.ID)) {
			t.Errorf("with a newer job: %v", err)
		}
		if got := get(t, db, job.ID); got.State != queue.Dead || got.Failures != 3 {
			t.Errorf("after the refused retry: %+v", got)
		}
	})
}

func TestParallelRetries(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		job, err := queue.Enqueue(t.Context(), db, queue.Deletion{Resource: "project", ResourceID: "nonsense"})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, worker(t, db, Config{MaxFailures: 1}))
		var wg sync.WaitGroup
		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() { _, errs[i] = queue.Retry(t.Context(), db, job.ID) })
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			if err == nil {
				won++
			} else if !errors.Is(err, queue.ErrWrongState) {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d retries won", won)
		}
	})
}

// TestClaimsAreDisjoint: every job is claimed by one worker only, however many want it.
func TestClaimsAreDisjoint(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		const jobs = 120
		for i := range int64(jobs) {
			condemn(t, db, i, 0)
		}
		var mu sync.Mutex
		claimed := map[int64]int{}
		var wg sync.WaitGroup
		for range 6 {
			w := worker(t, db, Config{ClaimJobs: 7})
			wg.Go(func() {
				for {
					c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
					if err != nil {
						t.Error(err)
						return
					}
					if c.Seen == 0 {
						return
					}
					mu.Lock()
					for _, job := range c.Jobs {
						claimed[job.ID]++
						if job.Token != 1 {
							t.Errorf("%+v", job)
						}
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if len(claimed) != jobs {
			t.Errorf("%d of %d jobs were claimed", len(claimed), jobs)
		}
		for id, n := range claimed {
			if n != 1 {
				t.Errorf("job %d was claimed %d times", id, n)
			}
		}
	})
}

func TestTransientErrorsDoNotCount(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		job := condemn(t, db, 1, 0)
		w := worker(t, db, Config{})
		c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
		if err != nil || len(c.Jobs) != 1 {
			t.Fatal(c, err)
		}
		lost := &onerow.OutcomeUnknownError{Err: errors.New("no answer from mysql://root:hunter2@db/x?password=hunter3&x=1")}
		if err := w.settle(t.Context(), c, c.Jobs[0], lost); err != nil {
			t.Fatal(err)
		}
		got := get(t, db, job.ID)
		if got.State != queue.Ready || got.Failures != 0 || !time.Now().Before(got.DueAt.Add(time.Minute)) || got.LastError == "" {
			t.Errorf("%+v", got)
		}
		if want := "onerow: COMMIT was sent and not answered, the outcome is unknown; call again to find out: no answer from mysql://…@db/x?password=…&x=1"; got.LastError != want {
			t.Errorf("stored: %s", got.LastError)
		}
		network := &fault.Assets{Err: context.DeadlineExceeded}
		if fault.Transient(network) || !errors.Is(network, context.DeadlineExceeded) {
			t.Error("an asset store's error passes for the database's")
		}
	})
}
