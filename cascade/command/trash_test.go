package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/command/internal/tables"
)

// createTrash has the plan keep what is deleted.
func (w *world) createTrash() {
	w.t.Helper()
	w.write(w.plan, "trash: 30d\n"+testPlan)
	w.execAll(w.ok("ddl", "--trash"))
}

// execAll executes the statements that a command has printed.
func (w *world) execAll(ddl string) {
	w.t.Helper()
	for statement := range strings.SplitSeq(strings.TrimPrefix(ddl, tables.GooseUp), ";\n") {
		if statement = strings.TrimSpace(statement); statement != "" {
			w.exec(statement)
		}
	}
}

// TestTrash: what was deleted comes back by the commands, once; until its tables are there nothing is deleted.
func TestTrash(t *testing.T) {
	w := ready(t)
	w.want(2, "say trash: 30d in it", "ddl", "--trash")
	w.want(0, "the trash is empty", "trash", "list")
	w.write(w.plan, "trash: 30d\n"+testPlan)
	below := w.fill(1, 4, 3)
	w.ok("enqueue", "project", "1")
	w.want(1, `it does not exist; deleted rows of "project" are kept in it`, "verify")
	if w.run("drain").code != 1 || w.rows() != below+1 {
		t.Error("it deleted and could keep nothing")
	}
	w.createTrash()
	w.ok("verify")
	w.want(0, "-- the trash tables are there", "ddl", "--trash")
	content := func() (all string) {
		for _, table := range []string{"project", "project_archive", "screen", "screen_archive", "comment"} {
			rows, err := w.db.QueryContext(t.Context(), "SELECT * FROM "+table+" ORDER BY id")
			if err != nil {
				t.Fatal(err)
			}
			columns, err := rows.Columns()
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				values, dest := make([]any, len(columns)), make([]any, len(columns))
				for i := range values {
					dest[i] = &values[i]
				}
				if err := rows.Scan(dest...); err != nil {
					t.Fatal(err)
				}
				all += fmt.Sprintf("%s %q\n", table, values)
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	before := content()
	w.ok("drain")
	if n := w.rows(); n != 0 {
		t.Fatalf("%d rows are left", n)
	}
	job := fmt.Sprint(w.number("SELECT id FROM onerow_job_archive"))
	w.want(0, "project 1", "trash", "list")
	w.want(0, "comment", "trash", "show", job)
	w.want(0, "comment", "restore", job, "--dry-run")
	w.want(0, fmt.Sprintf("%d rows back", below+1), "restore", job, "--batch", "3")
	if after := content(); after != before {
		t.Errorf("restored:\n%s\nbefore:\n%s", after, before)
	}
	w.want(1, "nothing of job "+job+" is in the trash", "restore", job)
	w.want(1, "there is no job 4711", "restore", "4711")
	for _, args := range [][]string{{"restore"}, {"restore", "--", "-1"}, {"restore", job, "--batch", "0"}, {"restore", job, "--load", "2"}} {
		if o := w.want(2, "", args...); !isOneLine(o.stderr) {
			t.Error(o)
		}
	}

	// For good: at once, or later.
	w.ok("enqueue", "project", "1", "--no-trash")
	w.ok("drain")
	w.want(0, "the trash is empty", "trash", "list")
	w.fill(2, 2, 2)
	w.ok("enqueue", "project", "2")
	w.ok("drain")
	job = fmt.Sprint(w.number("SELECT MAX(id) FROM onerow_job_archive"))
	w.want(0, "17 rows removed from the trash, copies of rows that are back included", "trash", "purge")
	w.want(0, "0 rows removed", "trash", "purge")
	w.want(0, "7 rows removed", "trash", "purge", "--job", job)
	w.want(1, "nothing of job "+job+" is in the trash", "restore", job)
	if n := w.number("SELECT (SELECT COUNT(*) FROM onerow_trash_project) + (SELECT COUNT(*) FROM onerow_trash_comment) + (SELECT COUNT(*) FROM onerow_trash WHERE step > 0)"); n != 0 {
		t.Errorf("%d rows are left in the trash", n)
	}
}

// TestRestoreStuck: what cannot come back stays, is said, and comes when it can.
func TestRestoreStuck(t *testing.T) {
	w := ready(t)
	w.createTrash()
	w.fill(1, 2, 2)
	w.ok("enqueue", "project", "1")
	w.ok("drain")
	job := fmt.Sprint(w.number("SELECT MAX(id) FROM onerow_job_archive"))
	w.exec("INSERT INTO comment (id, screen_id, body, created_at, updated_at) SELECT MIN(id), 5, 'taken', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM onerow_trash_comment")
	w.want(1, "1 row could not come back and stay in the trash", "restore", job)
	w.want(0, "Duplicate entry", "trash", "show", job)
	w.exec("DELETE FROM comment WHERE body = 'taken'")
	w.want(0, "1 row back", "restore", job)
	w.want(0, "the trash is empty", "trash", "list")
	if n := w.rows(); n != 7 {
		t.Errorf("%d rows", n)
	}
}

// TestRestorePartial: what does not come back is named by table, before and after, and the exit code says it;
// the job is restored, and the report has how many rows are back.
func TestRestorePartial(t *testing.T) {
	w := ready(t)
	w.createTrash()
	w.fill(1, 2, 2)
	w.ok("enqueue", "project", "1")
	w.ok("drain")
	job := fmt.Sprint(w.number("SELECT MAX(id) FROM onerow_job_archive"))
	w.exec("UPDATE onerow_trash SET expires_at = UTC_TIMESTAMP(6) WHERE table_name = 'comment'")
	const gone = "4 rows of comment: their time in the trash is over"
	w.want(0, gone, "restore", job, "--dry-run")
	o := w.want(1, gone, "restore", job)
	if !strings.Contains(o.stdout, "3 rows back") || !strings.Contains(o.stderr, "not all that job "+job+" has deleted is back") || strings.Contains(o.stderr, "goes on") {
		t.Error(o)
	}
	w.want(0, "project 1", "jobs", "--state", "restored")
	o = w.want(0, "job           "+job+", restored", "report", job)
	for _, want := range []string{"4 rows of comment\n", "1 row of screen, 1 of them back", "restored      3 rows"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	if strings.Contains(o.stdout, "restore again") {
		t.Error(o)
	}

	// The root cannot come back.
	w.fill(2, 1, 1)
	w.ok("enqueue", "project", "2")
	w.ok("drain")
	job = fmt.Sprint(w.number("SELECT MAX(id) FROM onerow_job_archive"))
	w.exec("DELETE FROM onerow_trash_project")
	w.exec("DELETE FROM onerow_trash_project_archive")
	o = w.want(1, "project 2 itself is not back: it is not in the trash", "restore", job)
	if strings.Contains(o.stdout, "taken back") || strings.Contains(o.stderr, "goes on") {
		t.Error(o)
	}
	w.want(0, "project 2", "jobs", "--state", "restored")
}
