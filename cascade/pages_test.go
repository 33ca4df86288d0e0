package cascade

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestListPages: jobs of both tables, their ids in turns and on both sides of 2^31, in pages of any size and
// in each state.
func TestListPages(t *testing.T) {
	db, ctx := openForest(t), t.Context()
	dbtest.Exec(t, db, "ALTER TABLE onerow_job AUTO_INCREMENT = 2147483643")
	want := map[queue.State][]int64{}
	for i := range int64(14) {
		job := condemn(t, db, i+1, time.Duration(i%2)*time.Hour)
		state := job.State
		if i%7 > 2 {
			state = []queue.State{queue.Done, queue.Dead, queue.Leftovers, queue.Cancelled}[i%4]
			dbtest.Exec(t, db, moveColumns+"UTC_TIMESTAMP(6) FROM onerow_job WHERE id = ?", job.ID)
			dbtest.Exec(t, db, "UPDATE onerow_job_archive SET state = ? WHERE id = ?", string(state), job.ID)
			dbtest.Exec(t, db, "DELETE FROM onerow_job WHERE id = ?", job.ID)
		}
		for _, s := range []queue.State{"", state} {
			want[s] = append(want[s], job.ID)
		}
		if state.Open() {
			want[queue.AllOpen] = append(want[queue.AllOpen], job.ID)
		}
	}
	if len(want) < 8 {
		t.Fatalf("states: %v", want)
	}
	for state, ids := range want {
		slices.Reverse(ids)
		dbtest.Pages(t, ids, func(after int64, limit int) (page []int64) {
			jobs, err := queue.List(ctx, db, queue.ListOptions{State: state, After: after, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			for _, job := range jobs {
				page = append(page, job.ID)
			}
			return page
		})
	}
}

// TestParkedPages: parked rows, of all jobs and of one, in either state.
func TestParkedPages(t *testing.T) {
	db, ctx := openForest(t), t.Context()
	dbtest.Exec(t, db, "ALTER TABLE onerow_parked AUTO_INCREMENT = 2147483645")
	first, second := condemn(t, db, 1, time.Hour), condemn(t, db, 2, time.Hour)
	for i := range int64(6) {
		parkRows(t, db, first.ID, "screen", key(i))
		parkRows(t, db, second.ID, "screen", key(i))
	}
	dbtest.Exec(t, db, "UPDATE onerow_parked SET state = 'skipped' WHERE row_key IN ('2', '3', '5')")
	for _, o := range []queue.ParkedOptions{{}, {JobID: &second.ID}, {Open: true}} {
		all, err := queue.ListParked(ctx, db, o)
		if err != nil {
			t.Fatal(err)
		}
		n := count(t, db, "SELECT COUNT(*) FROM onerow_parked WHERE (? IS NULL OR job_id = ?) AND (NOT ? OR state = 'parked')", o.JobID, o.JobID, o.Open)
		ids := make([]int64, 0, n)
		for _, p := range all {
			ids = append(ids, p.ID)
		}
		if int64(len(ids)) != n || !slices.IsSortedFunc(ids, func(a, b int64) int { return int(b - a) }) {
			t.Errorf("%+v: %v of %d", o, ids, n)
		}
		dbtest.Pages(t, ids, func(after int64, limit int) (page []int64) {
			o.After, o.Limit = after, limit
			list, err := queue.ListParked(ctx, db, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list {
				page = append(page, p.ID)
			}
			return page
		})
	}
}

// TestGreatIDs: a tree whose ids are beyond 2^53 goes, and the one beside it, whose ids are the same as
// floats, stays.
func TestGreatIDs(t *testing.T) {
	db := openForest(t)
	const id = 90_000_000_000_000 // its rows begin at 9·10^18
	want := grow(t, db, id, 7, 3, 2, 3)
	beside := grow(t, db, id+1, 3, 2, 1, 1)
	project(t, db, id)
	project(t, db, id+1)
	job := condemn(t, db, id, 0)
	drain(t, worker(t, db, Config{Batch: 5, Target: -1}))
	if got := get(t, db, job.ID); got.State != queue.Done || len(rowsOf(t, db, id)) != 0 || !maps.Equal(rowsOf(t, db, id+1), beside) {
		t.Errorf("%+v, want %v; left %v, beside %v", got, want, rowsOf(t, db, id), rowsOf(t, db, id+1))
	}
}
