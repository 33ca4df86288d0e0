package admin

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// leftovers is a job of a project that has ended but for rows of a table, by their keys. It returns the ids
// under which those are parked, in order.
func leftovers(t testing.TB, db *sql.DB, project int64, keys ...string) (ids []int64) {
	t.Helper()
	job := condemn(t, db, project, 0)
	dbtest.EndJob(t, db, job.ID, "leftovers")
	for _, key := range keys {
		dbtest.Exec(t, db, `INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at)
VALUES (?, 'note', ?, 'e', 'parked', UTC_TIMESTAMP(6))`, job.ID, key)
		ids = append(ids, dbtest.Scan[int64](t, db, "SELECT MAX(id) FROM onerow_parked"))
	}
	return ids
}

func TestReadStats(t *testing.T) {
	foresttest.Each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		empty, err := ReadStats(ctx, db)
		if err != nil || fmt.Sprint(empty) != fmt.Sprint(Stats{Open: map[queue.State]int64{queue.Scheduled: 0, queue.Ready: 0, queue.Running: 0, queue.Held: 0, queue.OnPause: 0}}) {
			t.Errorf("%+v, %v", empty, err)
		}
		for id := range int64(6) {
			condemn(t, db, id+10, time.Duration(id%2)*time.Hour)
		}
		job := condemn(t, db, 20, time.Hour)
		dbtest.Exec(t, db, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6) - INTERVAL 90 SECOND WHERE id = ?", job.ID)
		dbtest.Exec(t, db, "UPDATE onerow_job SET state = 'running', due_at = UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE WHERE resource_id = '10'")
		dbtest.Exec(t, db, "UPDATE onerow_job SET state = 'held' WHERE resource_id = '11'")
		ids := leftovers(t, db, 1, "1", "2")
		leftovers(t, db, 2, "1")
		if _, err := queue.SkipParked(ctx, db, ids[0]); err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, db, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
VALUES (999, 'project', '999', 1, 'dead', UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
		dbtest.Exec(t, db, "INSERT INTO onerow_worker (name, started_at, seen_at, beats) VALUES ('a', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 1), ('b', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE, 1)")
		if err := Pause(ctx, db, "", "why"); err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, db, "INSERT INTO onerow_control (kind, name, value, changed_at) VALUES ('load', 'project', '0.5', UTC_TIMESTAMP(6))") // which pauses nothing
		s, err := ReadStats(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		if age := s.OldestAge; age < 90*time.Second || age > 120*time.Second {
			t.Error(age)
		}
		if !s.Paused.On || s.Paused.Reason != "why" || time.Since(s.Paused.Since).Abs() > time.Minute {
			t.Errorf("%+v", s.Paused)
		}
		s.OldestAge, s.Paused = 0, PauseState{}
		want := Stats{Open: map[queue.State]int64{queue.Scheduled: 2, queue.Ready: 3, queue.Running: 1, queue.Held: 1, queue.OnPause: 0}, Due: 3, Dead: 1, Leftovers: 2, Parked: 2, Workers: 1, Ended: 3}
		if fmt.Sprint(s) != fmt.Sprint(want) {
			t.Errorf("%+v, want %+v", s, want)
		}
	})
}
