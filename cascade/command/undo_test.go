package command

import (
	"fmt"
	"strings"
	"testing"
)

// hide makes a row that an application has hidden.
func (w *world) hide(id, deletion int64) {
	w.t.Helper()
	w.exec(`INSERT INTO project_archive (id, user_id, name, name_key, stem_key, created_at, updated_at, archived_at, deletion_id, deleted_from)
VALUES (?, 1, 'P1', 'p1', 'p1', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), ?, 'active')`, id, deletion)
	w.exec("INSERT INTO onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at) VALUES (?, 'project', ?, 'active', 1, UTC_TIMESTAMP(6))", deletion, fmt.Sprint(id))
	w.exec(`INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at)
VALUES ('project', ?, ?, 'scheduled', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, UTC_TIMESTAMP(6))`, fmt.Sprint(id), deletion)
}

// TestUndo: by the deletion's number, once; too late, never, before.
func TestUndo(t *testing.T) {
	w := ready(t)
	w.fill(1, 2, 2)
	out := w.ok("enqueue", "project", "1", "--grace", "1h")
	_, number, found := strings.Cut(out, "undo ")
	if !found {
		t.Fatal(out)
	}
	number, _, _ = strings.Cut(number, " ")
	w.want(0, "deletion "+number+` is taken back: project 1 "p1" is active again`, "undo", number)
	w.want(0, "was taken back before; project 1 \"p1\" is active\n", "undo", number)
	if n := w.number("SELECT COUNT(*) FROM onerow_job"); n != 0 {
		t.Errorf("%d jobs are open", n)
	}

	// The name is taken meanwhile.
	w.hide(50, 900)
	w.want(0, `project 50 "P1 (Copy 1)" (it was "P1", a name that is taken now) is active again`, "undo", "900")
	if n := w.number("SELECT COUNT(*) FROM onerow_quota_mark WHERE resource = 'project' AND owner = '1'"); n != 1 {
		t.Errorf("%d quota marks", n)
	}
	w.hide(51, 901)
	w.exec("UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)")
	w.want(1, "too late", "undo", "901")
	w.ok("drain")
	w.want(1, ": too late, nothing was changed: its job is done\n", "undo", "901")
	w.want(1, ": there is no deletion 4711\n", "undo", "4711")
	for _, wrong := range []string{"0", "x", "1.5"} {
		if o := w.want(2, wrong, "undo", wrong); !isOneLine(o.stderr) {
			t.Error(o)
		}
	}
	w.want(2, "<deletion>", "undo")
}

// TestHeld: the job of a row that was to come back and cannot is left alone past its grace period, "jobs"
// shows why, and a retry lets it go on.
func TestHeld(t *testing.T) {
	w := ready(t)
	w.fill(1, 2, 2)
	w.hide(50, 900)
	w.exec("ALTER TABLE project ADD UNIQUE KEY one_each (user_id)")
	w.want(1, "one_each", "undo", "900")
	w.exec("ALTER TABLE project DROP KEY one_each") // no worker would start
	w.exec("UPDATE onerow_job SET due_at = due_at - INTERVAL 2 HOUR")
	w.ok("drain")
	for _, args := range [][]string{{"jobs"}, {"jobs", "--state", "held"}} {
		out := w.ok(args...)
		for _, says := range []string{"project 50", "held, else due 20", "cancelled, and it cannot come back: ", "project 50 has the same user_id"} {
			if !strings.Contains(out, says) {
				t.Errorf("%q does not say %q:\n%s", args, says, out)
			}
		}
	}
	job := fmt.Sprint(w.number("SELECT id FROM onerow_job"))
	w.want(0, "job "+job+" (project 50) is ready again", "retry", job)
	w.want(0, "1 job done", "drain")
	if n := w.number("SELECT COUNT(*) FROM project_archive"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestUndoOfTables: a row that somebody else's table has stays where it is.
func TestUndoOfTables(t *testing.T) {
	w := designed(t)
	w.ok("migrate", "up")
	w.ok("enqueue", "city", "eu,1993-09-21", "--grace", "1h")
	w.want(0, "taken back: nothing of city eu,1993-09-21 will be deleted", "undo", "1")
	w.want(0, "taken back before", "undo", "1")
	w.ok("enqueue", "region", "eu")
	w.want(1, "too late, nothing was changed", "undo", "2")
}

// TestUndoSaysWhatIsMissing: a row that the application has deleted, and what a job has done that was held
// when it had begun, with or without a trash.
func TestUndoSaysWhatIsMissing(t *testing.T) {
	w := designed(t)
	w.ok("migrate", "up")
	w.ok("enqueue", "city", "eu,1993-09-21", "--grace", "1h")
	w.exec("DELETE FROM city WHERE since = '1993-09-21'")
	const gone = "city eu,1993-09-21 itself is gone and does not come back"
	w.want(0, gone, "undo", "1")
	w.want(0, gone, "undo", "1")
	w.ok("enqueue", "city", "eu,1994-01-01", "--grace", "1h")
	if o := w.want(0, "taken back", "undo", "2"); strings.Count(o.stdout, "\n") != 1 {
		t.Error(o)
	}

	w.ok("enqueue", "region", "eu")
	w.exec("INSERT INTO onerow_job_count SELECT id, 'city', 1 FROM onerow_job")
	w.exec("INSERT INTO onerow_job_detached SELECT id, 'note', 2 FROM onerow_job")
	w.exec("UPDATE onerow_job SET state = 'held', token = 1, due_at = due_at + INTERVAL 365000 DAY")
	if o := w.want(0, "taken back", "undo", "3"); !strings.Contains(o.stdout, "1 row of city was deleted\n2 rows of note were detached\n") || !strings.Contains(o.stdout, "nothing of that is in the trash") {
		t.Error(o)
	}
	w.exec("INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at) SELECT id, 1, 'city', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR FROM onerow_job_archive WHERE deletion_id = 3")
	w.want(0, "1 of these are in the trash: cascade-worker restore ", "undo", "3")
	w.ok("enqueue", "region", "eu", "--grace", "1h") // a job of a later deletion says nothing of the first one
	if o := w.want(0, "taken back before", "undo", "3"); strings.Contains(o.stdout, "deleted\n") {
		t.Error(o)
	}
}
