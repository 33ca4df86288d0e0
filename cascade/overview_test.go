package cascade

import (
	"fmt"
	"testing"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestOverview: of several resources what runs, what is due, and what is due next, as much of each as was
// asked for; and what has ended last.
func TestOverview(t *testing.T) {
	db := openForest(t)
	ctx := t.Context()
	for id, job := range map[int]string{
		1: "'project', 1, 1, 'running', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR",
		2: "'project', 2, 2, 'ready', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR",
		3: "'screen', 3, 3, 'ready', UTC_TIMESTAMP(6) - INTERVAL 2 HOUR",
		4: "'screen', 4, 4, 'scheduled', UTC_TIMESTAMP(6) + INTERVAL 2 HOUR",
		5: "'project', 5, 5, 'scheduled', UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE",
		6: "'elsewhere', 6, 6, 'held', UTC_TIMESTAMP(6) + INTERVAL 365000 DAY",
		7: "'project', 7, 7, 'running', UTC_TIMESTAMP(6) - INTERVAL 3 HOUR", // its lease is over
	} {
		dbtest.Exec(t, db, fmt.Sprintf("INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at) VALUES (%d, %s, UTC_TIMESTAMP(6))", id, job))
	}
	dbtest.Exec(t, db, "INSERT INTO onerow_job_count VALUES (2, 'screen', 3)")
	for _, c := range []struct {
		due, later int
		want       string
	}{
		{10, 10, "[1 7 3 2 5 4 6]"},
		{2, 10, "[1 7 3 2 4 6]"}, // 7 is among those that run
		{10, 2, "[1 7 3 2 5]"},   // those that run come first
		{1, 3, "[1 7 3 4]"},
		{10, 1, "[1 7 3 2 5]"},
	} {
		jobs, err := queue.List(ctx, db, queue.ListOptions{Due: c.due, Later: c.later})
		if got := ids(jobs); err != nil || got != c.want {
			t.Errorf("%d due, %d later: %s, %v, want %s", c.due, c.later, got, err, c.want)
		}
		for _, j := range jobs {
			if j.ID == 2 && j.DeletedRows != 3 || j.ID == 5 && j.State != queue.Ready {
				t.Errorf("%+v", j)
			}
		}
	}
	if stats, err := admin.ReadStats(ctx, db); stats.Due != 4 || err != nil {
		t.Errorf("%+v, %v", stats, err)
	}
	dbtest.Exec(t, db, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
 SELECT 10 + id, resource, resource_id, deletion_id, IF(id % 2, 'done', 'dead'), due_at, 1, 1, 0, created_at, UTC_TIMESTAMP(6) - INTERVAL id % 3 HOUR FROM onerow_job`)
	for limit, want := range map[int]string{3: "[16 13 17]", 100: "[16 13 17 14 11 15 12]"} {
		if jobs, err := queue.List(ctx, db, queue.ListOptions{LastEnded: true, Limit: limit}); err != nil || ids(jobs) != want {
			t.Errorf("the last %d: %s, %v, want %s", limit, ids(jobs), err, want)
		}
	}
	dbtest.Exec(t, db, "DELETE FROM onerow_job")
	if jobs, err := queue.List(ctx, db, queue.ListOptions{Due: 5, Later: 5}); len(jobs) > 0 || err != nil {
		t.Errorf("%v, %v", jobs, err)
	}
}

func ids(jobs []queue.Job) string {
	var list []int64
	for _, j := range jobs {
		list = append(list, j.ID)
	}
	return fmt.Sprint(list)
}
