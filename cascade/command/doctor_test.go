package command

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestDoctor: what is wrong is named, with what mends it, which is then done; in the end nothing is wrong.
func TestDoctor(t *testing.T) {
	w := empty(t)
	o := w.want(1, "migrate up", "doctor")
	if !strings.Contains(o.stdout, "is it the wrong one?") || strings.Count(o.stdout, "\n") > 8 {
		t.Errorf("an empty database: %s", o)
	}
	w.ok("migrate", "up")
	w.createTables()
	if o := w.want(0, "nothing is wrong", "doctor"); o.stdout != "" || strings.Count(o.stderr, "ok: ") != 6 {
		t.Errorf("a healthy database: %s", o)
	}
	if out := w.ok("doctor", "--json"); strings.TrimSpace(out) != "[]" {
		t.Error(out)
	}
	job, parked := w.leave(1, "7")
	if job != 999 {
		t.Fatal(job)
	}
	const insert = "INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, last_error, created_at) VALUES "
	for _, statement := range []string{
		"ALTER TABLE project DROP INDEX one_name", "ALTER TABLE onerow_job AUTO_INCREMENT = 2000", "ALTER TABLE onerow_deletion AUTO_INCREMENT = 2000",
		insert + "(1, 'project', '1', 1, 'ready', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, NULL, UTC_TIMESTAMP(6))",
		insert + "(2, 'project', '2', 1, 'held', UTC_TIMESTAMP(6) + INTERVAL 100 YEAR, 'cancelled', UTC_TIMESTAMP(6))",
		`INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, last_error, created_at, finished_at)
VALUES (3, 'project', '3', 1, 'dead', UTC_TIMESTAMP(6), 1, 1, 10, 'the disk is full', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`,
		"INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at, error) VALUES (4, 1, 'comment', '', 2, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY, 'Duplicate entry')",
		"INSERT INTO onerow_worker (name, started_at, seen_at, beats) VALUES ('db1:7', UTC_TIMESTAMP(6) - INTERVAL 1 HOUR, UTC_TIMESTAMP(6) - INTERVAL 5 MINUTE, 1)",
		`INSERT INTO onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at, expected_completion) VALUES
('', 'charge', '1', 'in_progress', 1, '', 'web', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 1 HOUR)`,
	} {
		w.exec(statement)
	}
	w.ok("pause", "--resource", "screen", "ticket 4711")
	var found []struct{ About, Problem, Fix string }
	if o := w.run("doctor", "--json"); o.code != 1 || json.Unmarshal([]byte(o.stdout), &found) != nil {
		t.Fatal(o)
	}
	for _, want := range [][3]string{
		{"project", "one_name", "ADD UNIQUE"},
		{"screen", "ticket 4711", "resume --resource screen"},
		{"job 2, project 2", "is held", "retry 2"},
		{"job 3, project 3", "the disk is full", "retry 3"},
		{"job 999, project 1", "rows that could not be deleted", "parked list --job 999"},
		{"worker db1:7", "no sign of life", "start it again"},
		{"the queue", "1 job due, and no worker", "cascade-worker run"},
		{"the trash of job 4", "2 rows could not come back", "restore 4"},
		{"idempotency keys", "1 in progress", "keys list --overdue"},
	} {
		there := false
		for _, f := range found {
			there = there || f.About == want[0] && strings.Contains(f.Problem, want[1]) && strings.Contains(f.Fix, want[2])
		}
		if !there {
			t.Errorf("not named: %q", want)
		}
	}
	if len(found) != 9 {
		t.Errorf("%d are named: %+v", len(found), found)
	}
	o = w.want(1, "    fix: cascade-worker retry 3", "doctor")
	t.Log("\n" + o.stdout + o.stderr)
	w.ok("resume", "--resource", "screen")
	w.ok("parked", "skip", parked[0])
	w.ok("pause", "the night")
	if o := w.want(1, "the night", "doctor"); strings.Contains(o.stdout, "job 999") || strings.Contains(o.stdout, "ticket 4711") {
		t.Error(o)
	}
}
