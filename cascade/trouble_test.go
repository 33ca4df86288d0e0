package cascade

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// TestTroubleOfOldWorkers: jobs that a worker of an earlier version has left dead, and did not
// list, are listed by the workers of this one.
func TestTroubleOfOldWorkers(t *testing.T) {
	w, _ := pairWorker(t, Config{MaxFailures: 1})
	drain(t, w)
	for id, state := range map[int]State{11: Dead, 12: Leftovers, 13: Done, 14: Dead} {
		exec(t, w.db, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
VALUES (?, 'a', '1', 0, ?, UTC_TIMESTAMP(6), 1, 1, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL ? HOUR)`, id, []byte(state), (id-10)*3)
	}
	exec(t, w.db, "UPDATE onerow_job_archive SET finished_at = finished_at - INTERVAL 3 DAY WHERE id = 14")
	listed := func() string {
		t.Helper()
		return fmt.Sprint(troubles(t, w.db, 11), troubles(t, w.db, 12), troubles(t, w.db, 13), troubles(t, w.db, 14))
	}
	beat := func(g *governor) {
		t.Helper()
		g.stale()
		g.tidied = time.Time{}
		if _, err := g.idle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	g := newGovernor(w.db, "w", 10*time.Second, nil, 1, nil)
	beat(g)
	if got := listed(); got != "1 1 0 0" {
		t.Errorf("at first: %s", got)
	}
	exec(t, w.db, "DELETE FROM onerow_job_trouble")
	beat(g)
	if got := listed(); got != "0 0 0 0" {
		t.Errorf("of the last hour: %s", got)
	}
	exec(t, w.db, "UPDATE onerow_job_archive SET finished_at = UTC_TIMESTAMP(6) WHERE id = 12")
	beat(g)
	if got := listed(); got != "0 1 0 0" {
		t.Errorf("of the last hour: %s", got)
	}
	if _, err := Retry(t.Context(), w.db, 12); err != nil && !errors.Is(err, ErrOpenJob) {
		t.Fatal(err)
	}
	beat(g)
	if got := listed(); got != "0 0 0 0" {
		t.Errorf("retried: %s", got)
	}
}
