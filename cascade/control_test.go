package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// twoRooms makes rooms 1 and 2, each with many sheets, and a job for each.
func twoRooms(t *testing.T) (db *sql.DB, first, second queue.Job) {
	t.Helper()
	db = dbtest.Open(t)
	fillArchive(t, db, []int{50, 50, 50, 50})
	dbtest.Exec(t, db, "INSERT INTO room VALUES (2)")
	dbtest.Exec(t, db, "UPDATE box SET room_id = 2 WHERE id > 2")
	return db, begin(t, db, "room", "1"), begin(t, db, "room", "2")
}

// TestPauseOneJob: a job that is paused at work stops after its batch, the others go on, and Drain does not
// wait for it. It is no failure and no lost lease, and it ends with exact counts when it may go on.
func TestPauseOneJob(t *testing.T) {
	db, first, other := twoRooms(t)
	var lost, batches int
	cfg := Config{Batch: 10, Target: -1, Chunk: 10, ClaimJobs: 1}
	cfg.Progress, cfg.OnEvent = true, func(e Event) {
		if e.LeaseLost {
			lost++
		}
		if e.Progress == nil || e.Progress.ID != first.ID || e.Progress.State != queue.Running {
			return
		}
		if batches++; batches == 2 {
			onPause(t, db, first.ID)
		}
	}
	finish(t, db, archive, cfg, other.ID)
	paused := get(t, db, first.ID)
	if paused.State != queue.OnPause || paused.Failures != 0 || paused.DeletedRows != 20 || batches != 2 || lost != 0 {
		t.Errorf("%+v after %d batches, %d leases lost", paused, batches, lost)
	}
	if job := get(t, db, other.ID); job.State != queue.Done || job.DeletedRows != 102 {
		t.Errorf("%+v", job)
	}
	if same, err := queue.Enqueue(t.Context(), db, queue.Deletion{Resource: "room", ResourceID: "1"}); err != nil || same.ID != first.ID || same.State != queue.OnPause {
		t.Errorf("enqueued again: %+v, %v", same, err)
	}
	if list, err := queue.List(t.Context(), db, queue.ListOptions{State: queue.OnPause}); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if s, err := admin.ReadStats(t.Context(), db); err != nil || s.Open[queue.OnPause] != 1 || s.Paused.On || s.OldestAge != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if list, err := queue.List(t.Context(), db, queue.ListOptions{Due: 5, Later: 5}); err != nil || len(list) != 1 || list[0].State != queue.OnPause {
		t.Errorf("%+v, %v", list, err)
	}
	if job, err := queue.ResumeJob(t.Context(), db, first.ID); err != nil || job.State != queue.Ready {
		t.Errorf("%+v, %v", job, err)
	}
	if job := finish(t, db, archive, Config{}, first.ID); job.State != queue.Done || job.DeletedRows != 102 {
		t.Errorf("%+v", job)
	}
	for _, verb := range []error{second(queue.PauseJob(t.Context(), db, 4711, "")), second(queue.ResumeJob(t.Context(), db, 4711))} {
		if !errors.Is(verb, queue.ErrNoJob) {
			t.Error(verb)
		}
	}
}

// TestPauseKeepsTheTime: the grace period of a job goes on while it is paused, and can be taken back when
// it would have ended.
func TestPauseKeepsTheTime(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		job := condemn(t, db, 1, time.Hour)
		due := get(t, db, job.ID).DueAt
		onPause(t, db, job.ID)
		onPause(t, db, job.ID)
		if got := get(t, db, job.ID).DueAt; !got.Equal(due) {
			t.Errorf("due %s, was %s", got, due)
		}
		if got, err := queue.ResumeJob(t.Context(), db, job.ID); err != nil || !got.DueAt.Equal(due) || got.State != queue.Scheduled {
			t.Errorf("%+v, %v, was due %s", got, err, due)
		}
		makeDue(t, db, job.ID)
		onPause(t, db, job.ID)
		if err := queue.Cancel(t.Context(), db, "project", "1", job.DeletionID); err != nil {
			t.Error(err)
		}
		if got := get(t, db, job.ID); got.State != queue.Cancelled || time.Since(got.DueAt).Abs() > time.Hour {
			t.Errorf("%+v", got)
		}
	})
}

// TestPauseResource: jobs of a resource are given back and claimed by nobody, those of others are worked,
// and what comes meanwhile waits as well.
func TestPauseResource(t *testing.T) {
	db, first, _ := twoRooms(t)
	box := begin(t, db, "box", "4")
	var w *Worker
	batches := 0
	cfg := Config{Batch: 10, Target: -1, Chunk: 10, ClaimJobs: 1}
	cfg.Progress, cfg.OnEvent = true, progressed(func(job queue.Job) {
		if batches++; batches == 2 {
			if err := admin.Pause(t.Context(), db, "room", "moving house"); err != nil {
				t.Error(err)
			}
			w.governor.Stale() // a second has passed
		}
	})
	w, err := NewWorker(db, archive, cfg)
	if err != nil {
		t.Fatal(err)
	}
	drain(t, w)
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_job WHERE resource = 'room' AND state = 'ready' AND failures = 0 AND due_at <= UTC_TIMESTAMP(6)"); n != 2 {
		t.Errorf("%d of two rooms wait", n)
	}
	if job := get(t, db, box.ID); job.State != queue.Done {
		t.Errorf("%+v", job)
	}
	if n := count(t, db, "SELECT SUM(deleted_rows) FROM onerow_job_count WHERE job_id = ?", first.ID); n != 20 {
		t.Errorf("%d rows of the first went", n)
	}
	list, err := admin.PausedResources(t.Context(), db)
	stats, serr := admin.ReadStats(t.Context(), db)
	if err != nil || serr != nil || len(list) != 1 || list[0].Resource != "room" || list[0].Reason != "moving house" || time.Since(list[0].Since).Abs() > time.Hour || !reflect.DeepEqual(list, stats.Resources) || stats.Paused.On {
		t.Errorf("%+v, %+v, %v, %v", list, stats, err, serr)
	}
	for range 2 {
		if err := admin.Resume(t.Context(), db, "room"); err != nil {
			t.Fatal(err)
		}
	}
	w.governor.Stale()
	drain(t, w)
	if n := count(t, db, "SELECT COUNT(*) FROM room") + count(t, db, "SELECT COUNT(*) FROM onerow_job"); n != 0 {
		t.Errorf("%d rows and jobs are left", n)
	}
	if err := admin.Pause(t.Context(), db, strings.Repeat("x", 65), ""); !errors.Is(err, queue.ErrInvalid) {
		t.Error(err)
	}
}

// TestSet: what an operator says counts from the next look on, for one worker before all, until it is taken
// back.
func TestSet(t *testing.T) {
	db, ctx := openForest(t), t.Context()
	w := worker(t, db, Config{Name: "w", Batch: 100, Target: -1})
	look := func(load float64, limit int, slots int) {
		t.Helper()
		w.governor.Stale()
		if _, err := w.governor.Idle(ctx); err != nil {
			t.Fatal(err)
		}
		c := w.governor.Control()
		l := lease{Worker: w}
		if got := l.Limit(); c.Load != load || got != limit || w.slots() != slots {
			t.Errorf("load %g, want %g; %d rows, want %d; %d slots, want %d", c.Load, load, got, limit, w.slots(), slots)
		}
	}
	set := func(s admin.Settings) {
		t.Helper()
		if err := admin.Set(ctx, db, s); err != nil {
			t.Fatal(err)
		}
	}
	look(0, 100, 1)
	set(admin.Settings{Load: 0.3, Parallel: 2})
	look(0.3, 100, 2)
	set(admin.Settings{Worker: "w", Load: 1, Target: 20 * time.Millisecond})
	set(admin.Settings{Worker: "somebody else", Load: 0.01, Parallel: 7})
	w.pace.Took(time.Second, time.Second, 100) // without a target it changes nothing
	look(1, 100, 2)
	w.pace.Took(time.Second, time.Second, 100)
	look(1, 50, 2)
	list, err := admin.ReadSettings(ctx, db)
	want := []admin.Settings{{Load: 0.3, Parallel: 2}, {Worker: "somebody else", Load: 0.01, Parallel: 7}, {Worker: "w", Load: 1, Target: 20 * time.Millisecond}}
	if err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("%+v, %v", list, err)
	}
	if err := admin.Set(ctx, db, admin.Settings{Worker: "w"}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"load", "target", "parallel", "what"} {
		for _, value := range []string{"", "x", "-1", "NaN", "0", "1e300", "+Inf"} {
			dbtest.Exec(t, db, "REPLACE INTO onerow_control (kind, name, value, changed_at) VALUES (?, 'w', ?, UTC_TIMESTAMP(6))", kind, value)
			look(0.3, 100, 2)
		}
	}
	for range 2 {
		if err := errors.Join(admin.Set(ctx, db, admin.Settings{Worker: "w"}), admin.Set(ctx, db, admin.Settings{})); err != nil {
			t.Fatal(err)
		}
	}
	look(0, 100, 1)
	for _, bad := range []admin.Settings{{Load: -1}, {Load: 1.01}, {Target: -1}, {Target: 1}, {Parallel: -1}, {Parallel: 65}, {Worker: strings.Repeat("x", 201)}} {
		if err := admin.Set(ctx, db, bad); !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestSetLoad: the pause between batches follows.
func TestSetLoad(t *testing.T) {
	db := openForest(t)
	w := worker(t, db, Config{Lease: time.Minute})
	if err := admin.Set(t.Context(), db, admin.Settings{Load: 0.25}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.governor.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := w.governor.Wait(t.Context(), 1, 100*time.Millisecond, func(context.Context) error { return nil }); err != nil || time.Since(begin) < 300*time.Millisecond {
		t.Errorf("%s, %v", time.Since(begin), err)
	}
	if shown := onlyWorker(t, db); !strings.Contains(shown.Throttle, "25%") && !strings.Contains(fmt.Sprint(w.governor.Control()), "0.25") {
		t.Errorf("%+v", shown)
	}
}

// TestSetParallel: loops begin and end with the number that is set, at most a second later, and the pool's
// owner is told.
func TestSetParallel(t *testing.T) {
	db := openForest(t)
	var told []int
	w := worker(t, db, Config{Poll: time.Millisecond, OnEvent: func(e Event) {
		if e.Parallel > 0 {
			told = append(told, e.Parallel)
		}
	}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	for _, n := range []int{3, 5, 1, 0} {
		if n > 0 {
			if err := admin.Set(ctx, db, admin.Settings{Parallel: n}); err != nil {
				t.Fatal(err)
			}
		} else if err := admin.Set(ctx, db, admin.Settings{}); err != nil {
			t.Fatal(err)
		}
		w.governor.Stale()
		dbtest.Eventually(t, time.Minute, func() (bool, string) {
			return int(w.loops.Load()) == max(n, 1), fmt.Sprintf("%d loops, want %d", w.loops.Load(), n)
		})
	}
	stop()
	if err := <-ended; err != nil || !reflect.DeepEqual(told, []int{3, 5, 1}) {
		t.Errorf("%v, %v", told, err)
	}
}
