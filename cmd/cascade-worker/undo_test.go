package main

import (
	"fmt"
	"strings"
	"testing"
)

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

	// A row that an application has hidden, whose name is taken meanwhile.
	hide := func(id, deletion int64) {
		w.exec(`INSERT INTO project_archive (id, user_id, name, name_key, stem_key, created_at, updated_at, archived_at, deletion_id, deleted_from)
VALUES (?, 1, 'P1', 'p1', 'p1', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), ?, 'active')`, id, deletion)
		w.exec("INSERT INTO onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at) VALUES (?, 'project', ?, 'active', 1, UTC_TIMESTAMP(6))", deletion, fmt.Sprint(id))
		w.exec(`INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at)
VALUES ('project', ?, ?, 'scheduled', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, UTC_TIMESTAMP(6))`, fmt.Sprint(id), deletion)
	}
	hide(50, 900)
	w.want(0, `project 50 "P1 (Copy 1)" (it was "P1", a name that is taken now) is active again`, "undo", "900")
	if n := w.number("SELECT COUNT(*) FROM onerow_quota_mark WHERE resource = 'project' AND owner = '1'"); n != 1 {
		t.Errorf("%d quota marks", n)
	}
	hide(51, 901)
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
