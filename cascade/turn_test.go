package cascade

import (
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestASmallJobPassesHugeOnes: huge jobs have every slot of the only worker. One that is enqueued after
// them ends before them, also where the worker had claimed the huge ones and more at once; they go on where
// they were, and count each row once. The small one is enqueued on the worker's goroutine, so that time
// decides nothing.
func TestASmallJobPassesHugeOnes(t *testing.T) {
	for _, c := range []struct{ huge, parallel, claim int }{{1, 0, 0}, {3, 1, 1}, {3, 1, 10}, {12, 1, 2}, {2, 2, 1}, {5, 2, 10}} {
		t.Run(fmt.Sprintf("%d huge, parallel %d, claims of %d", c.huge, c.parallel, c.claim), func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t)
			const rows = 6000
			boxes := make([]int, 60) // of all rooms, in turn
			for i := range boxes {
				boxes[i] = rows / len(boxes)
			}
			fillArchive(t, db, boxes)
			for room := 2; room <= c.huge; room++ {
				dbtest.Exec(t, db, "INSERT INTO room VALUES (?)", room)
			}
			dbtest.Exec(t, db, "UPDATE box SET room_id = 1 + id % ?", c.huge)
			dbtest.Exec(t, db, "INSERT INTO room VALUES (1000)")
			dbtest.Exec(t, db, "INSERT INTO box VALUES (1000, 1000)")
			dbtest.Exec(t, db, "INSERT INTO sheet (box_id) VALUES (1000), (1000), (1000)")
			for room := range c.huge {
				begin(t, db, "room", fmt.Sprint(room+1))
			}
			var small int64
			var ended []string // the rooms
			cfg := Config{Parallel: c.parallel, ClaimJobs: c.claim, Batch: 20, Target: -1, Chunk: 20, Turn: 1}
			cfg.Progress, cfg.OnEvent = true, progressed(func(job queue.Job) {
				if small == 0 {
					small = begin(t, db, "room", "1000").ID
				}
				if job.State == queue.Done {
					ended = append(ended, job.ResourceID)
				}
			})
			w, err := NewWorker(db, archive, cfg)
			if err != nil {
				t.Fatal(err)
			}
			drain(t, w)
			if len(ended) == 0 || ended[0] != "1000" {
				t.Errorf("the jobs ended in the order %v", ended)
			}
			if n := count(t, db, "SELECT SUM(deleted_rows) FROM onerow_job_count WHERE job_id <> ?", small); n != rows+int64(len(boxes)) {
				t.Errorf("%d rows are counted", n)
			}
		})
	}
}

// TestATurnAlone: where nobody waits a job is worked in one go, and nobody else's jobs make it give way.
func TestATurnAlone(t *testing.T) {
	db := dbtest.Open(t)
	fillArchive(t, db, []int{100, 100, 100})
	job := begin(t, db, "room", "1")
	for _, d := range []queue.Deletion{{Resource: "elsewhere", ResourceID: "1"}, {Resource: "room", ResourceID: "2", Grace: 1e15}} {
		if _, err := queue.Enqueue(t.Context(), db, d); err != nil {
			t.Fatal(err)
		}
	}
	if got := finish(t, db, archive, Config{Batch: 10, Target: -1, Chunk: 10, Turn: 1}, job.ID); got.Token != 1 || got.DeletedRows != 303 {
		t.Errorf("%+v", got)
	}
}

// TestTheLongestWaiting: who is due longest is claimed, and worked first; jobs that were claimed and not
// begun do not lose their place.
func TestTheLongestWaiting(t *testing.T) {
	db := openForest(t)
	const jobs = 30
	for id := range int64(jobs) {
		job := condemn(t, db, id+1, 0)
		dbtest.Exec(t, db, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6) - INTERVAL ? MINUTE WHERE id = ?", 10+(id*7)%jobs, job.ID)
	}
	w := worker(t, db, Config{ClaimJobs: 3})
	for range 10 {
		first := count(t, db, "SELECT id FROM onerow_job WHERE due_at = (SELECT MIN(due_at) FROM onerow_job)")
		const waiting = "SELECT COUNT(*) FROM onerow_job WHERE state = 'ready' AND due_at < UTC_TIMESTAMP(6) - INTERVAL 9 MINUTE"
		before := count(t, db, waiting+" AND id <> ?", first)
		c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
		if err != nil || len(c.Jobs) != 3 || c.Jobs[0].ID != first {
			t.Fatalf("claimed %+v, %v, want %d as the first", c.Jobs, err, first)
		}
		c.Jobs[0].Begun = true
		if err := w.release(t.Context(), c, c.Jobs[:1]); err != nil {
			t.Fatal(err)
		}
		if err := w.release(t.Context(), c, c.Jobs[1:]); err != nil {
			t.Fatal(err)
		}
		var age int64
		if err := onerow.QueryRow(t.Context(), db, "SELECT TIMESTAMPDIFF(MINUTE, due_at, UTC_TIMESTAMP(6)) FROM onerow_job WHERE id = ?", []any{first}, &age); err != nil || age > 9 {
			t.Errorf("what was begun is due for %d minutes, %v", age, err)
		}
		if n := count(t, db, waiting); n < before {
			t.Errorf("%d jobs have waited for long, %d before", n, before)
		}
	}
}
