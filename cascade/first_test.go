package cascade

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestPutFirst: the job that was put first is worked first, the last one put there before the others; also
// beside jobs of the same moment and of other resources, and one that waits after a failure. Twice is as
// once.
func TestPutFirst(t *testing.T) {
	db, ctx := openForest(t), t.Context()
	var jobs []queue.Job
	for id := int64(1); id <= 6; id++ {
		jobs = append(jobs, condemn(t, db, id, 0))
	}
	dbtest.Exec(t, db, "UPDATE onerow_job SET due_at = '2020-01-01' WHERE id <= ?", jobs[3].ID) // of one moment
	dbtest.Exec(t, db, "UPDATE onerow_job SET state = 'ready', failures = 1, token = 1, due_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR WHERE id = ?", jobs[5].ID)
	for _, i := range []int{2, 5, 4, 4} {
		job, err := queue.PutFirst(queue.WithActor(ctx, "jane", "asked for"), db, jobs[i].ID)
		if err != nil || job.ID != jobs[i].ID || job.State != queue.Ready {
			t.Fatal(i, job, err)
		}
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_action WHERE action = 'first' AND actor = 'jane'"); n != 3 {
		t.Errorf("%d actions, want 3: the second time changes nothing", n)
	}
	var order []int64
	w := worker(t, db, Config{ClaimJobs: 1, Name: "w"})
	for range jobs {
		c, err := w.claim(ctx, w.cfg.ClaimJobs)
		if err != nil || len(c.Jobs) != 1 {
			t.Fatal(c, err)
		}
		order = append(order, c.Jobs[0].ID)
		if err := w.store(ctx, c.Jobs[0], queue.Scheduled, 1, errors.New("x"), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int64{jobs[4].ID, jobs[5].ID, jobs[2].ID, jobs[0].ID, jobs[1].ID, jobs[3].ID}; !slices.Equal(order, want) {
		t.Errorf("worked in the order %v, want %v", order, want)
	}
	if _, err := queue.PutFirst(ctx, db, 4711); !errors.Is(err, queue.ErrNoJob) {
		t.Error(err)
	}
}

// TestPutFirstAlone: where nothing else is due a job that waits for its next attempt is due at once.
func TestPutFirstAlone(t *testing.T) {
	db := openForest(t)
	job := condemn(t, db, 1, 0)
	dbtest.Exec(t, db, "UPDATE onerow_job SET state = 'ready', failures = 3, token = 1, due_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR")
	if got, err := queue.PutFirst(t.Context(), db, job.ID); err != nil || time.Until(got.DueAt) > time.Minute || got.Failures != 3 {
		t.Error(got, err)
	}
	if c, err := worker(t, db, Config{}).claim(context.WithoutCancel(t.Context()), 10); err != nil || len(c.Jobs) != 1 {
		t.Error(c, err)
	}
}
