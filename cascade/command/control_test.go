package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPauseOne: one job, and one resource, from the command line. What is paused is shown where an operator looks, and
// drain does not wait for it.
func TestPauseOne(t *testing.T) {
	w := ready(t)
	for id := 1; id <= 3; id++ {
		w.fill(id, 1, 1)
	}
	w.ok("enqueue", "project", "1")
	w.ok("enqueue", "project", "2")
	job := fmt.Sprint(w.number("SELECT MIN(id) FROM onerow_job"))
	w.want(0, "job "+job+" (project 1) is paused", "pause", "--job", job, "asked", "the", "owner")
	o := w.want(0, "asked the owner", "jobs")
	if !strings.Contains(o.stdout, "paused, else due") {
		t.Error(o)
	}
	w.want(0, "asked the owner", "jobs", "--state", "paused")
	if o := w.want(0, "1 job done", "drain"); !strings.Contains(o.stdout, "1 for later (job "+job+" is paused: asked the owner)\n") {
		t.Error(o)
	}
	if o := w.want(0, "0 jobs done", "drain"); !strings.Contains(o.stdout, "1 for later (job "+job+" is paused: asked the owner)\n") {
		t.Error(o)
	}
	w.want(0, "job "+job+" (project 1) is ready", "resume", "--job", job) // it has not begun: due at once
	w.want(0, "jobs of project are paused since ", "pause", "--resource", "project", "ticket", "7")
	for _, command := range []string{"jobs", "workers", "drain"} {
		if o := w.run(command); o.code != 0 || !strings.Contains(o.stderr, ": ticket 7; cascade-worker resume --resource project lets them go on") {
			t.Errorf("%s: %s", command, o)
		}
	}
	if n := w.number("SELECT COUNT(*) FROM onerow_job"); n != 1 {
		t.Errorf("%d jobs are open", n)
	}
	if o := w.run("drain"); !strings.Contains(o.stdout, "1 due, 0 for later (jobs of project are paused since ") || !strings.Contains(o.stdout, ": ticket 7)\n") {
		t.Error(o)
	}
	w.ok("pause", "ticket", "8") // drain waits for the end of this one
	d := w.start("drain")
	w.eventually("workers that wait", "SELECT COUNT(*) FROM onerow_worker WHERE throttle LIKE 'paused%'", func(n int64) bool { return n > 0 })
	d.signal(syscall.SIGINT)
	if code, _ := d.wait(deadline); code != 1 || !strings.Contains(d.stdout.String(), "1 due, 0 for later (the workers are paused since ") || !strings.Contains(d.stdout.String(), ": ticket 8; jobs of ") {
		t.Errorf("exit code %d: %s", code, d.stdout)
	}
	w.ok("resume")
	w.want(0, "jobs of project are worked", "resume", "--resource", "project")
	w.want(0, "1 job done", "drain")
	w.want(1, "job "+job+" is done: no worker takes it", "pause", "--job", job)
	w.want(1, "there is no job 4711", "pause", "--job", "4711")
	w.want(1, "there is no job 4711", "resume", "--job", "4711")
	for _, args := range [][]string{{"pause", "--job=-1"}, {"pause", "--job", "1", "--resource", "project"}, {"resume", "--job=-1"}, {"pause", "--check", "--job", "1"},
		{"pause", "--resource", strings.Repeat("x", 65)}} {
		if o := w.run(args...); o.code != 2 || !isOneLine(o.stderr) {
			t.Errorf("%q: %s", args, o)
		}
	}
}

// TestSetCommand: settings are shown by set and by workers, until they are taken back.
func TestSetCommand(t *testing.T) {
	w := ready(t)
	w.want(0, "the workers work as their flags say", "set")
	w.want(0, "set for all workers: --load 0.3 --target 20ms", "set", "--load", "30", "--target", "20ms")
	w.want(0, "set for worker db1: --parallel 2", "set", "--parallel", "2", "--worker", "db1")
	w.want(0, "set for all workers: --load 0.5 --target 20ms", "set", "--load", "0.5")
	if o := w.run("workers"); o.code != 0 || !strings.Contains(o.stderr, "set for all workers: --load 0.5 --target 20ms (") || !strings.Contains(o.stderr, "set for worker db1: --parallel 2 (") {
		t.Error(o)
	}
	w.want(0, "set for all workers: --load 0.5 --target 20ms", "set", "--default", "--worker", "db1")
	w.want(0, "the workers work as their flags say", "set", "--default")
	for _, args := range [][]string{{"--load", "0"}, {"--load", "101"}, {"--load", "NaN"}, {"--target", "1h"}, {"--target", "0s"}, {"--parallel", "0"}, {"--parallel", "65"}, {"--worker", "w"},
		{"--default", "--load", "30"}} {
		if o := w.run(append([]string{"set"}, args...)...); o.code != 2 || !isOneLine(o.stderr) {
			t.Errorf("%q: %s", args, o)
		}
	}
}

// TestFirst: a job that is due goes before the others; one that does not wait is refused.
func TestFirst(t *testing.T) {
	w := ready(t)
	for id := 1; id <= 3; id++ {
		w.fill(id, 1, 1)
		w.ok("enqueue", "project", fmt.Sprint(id))
	}
	last := fmt.Sprint(w.number("SELECT MAX(id) FROM onerow_job"))
	w.want(0, "job "+last+" (project 3) is first", "first", last, "--by", "jane", "--reason", "due today")
	w.want(0, "first by jane: due today", "report", last)
	if n := w.number("SELECT COUNT(*) FROM onerow_job WHERE due_at > (SELECT MIN(due_at) FROM onerow_job) AND id <> " + last); n != 2 {
		t.Errorf("it goes before %d others", n)
	}
	w.ok("drain")
	w.want(1, "job "+last+" cannot be put first: it is done", "first", last)
	w.want(1, "there is no job 4711", "first", "4711")
	w.want(1, "there is no job 0", "first", "0")
	w.want(2, "no job's number", "first", "--", "-1")
}

// TestCancel: a job that has begun is cancelled, and the command says what is gone.
func TestCancel(t *testing.T) {
	w := ready(t)
	w.fill(1, 2, 2)
	w.ok("enqueue", "project", "1")
	job := fmt.Sprint(w.number("SELECT MIN(id) FROM onerow_job"))
	w.exec("DELETE FROM comment WHERE screen_id = (SELECT MIN(id) FROM screen)")
	w.exec("INSERT INTO onerow_job_count VALUES (?, 'comment', 2)", job)
	w.exec("UPDATE onerow_job SET state = 'running', token = 1, worker = 'w#1', due_at = UTC_TIMESTAMP(6) + INTERVAL 10 SECOND")
	left := w.rows()
	for range 2 {
		o := w.want(0, "job "+job+" (project 1) is cancelled", "cancel", job)
		if !strings.Contains(o.stdout, "2 rows of comment were deleted\nnothing of that is in the trash: it stays gone\n") {
			t.Error(o)
		}
	}
	w.want(0, "cancelled", "jobs")
	w.ok("drain")
	if n := w.rows(); n != left {
		t.Errorf("%d rows are left, were %d", n, left)
	}
	w.ok("enqueue", "project", "1")
	w.ok("drain")
	w.want(1, "is done: what it has deleted comes back with cascade-worker restore", "cancel", fmt.Sprint(w.number("SELECT MAX(id) FROM onerow_job_archive")))
	w.want(1, "there is no job 4711", "cancel", "4711")
	w.want(1, "there is no job 0", "cancel", "0")
}

// TestPlanStatements: plan --sql prints a file of SQL, and --exact counts beyond the limit.
func TestPlanStatements(t *testing.T) {
	w := ready(t)
	w.fill(1, 3, 4)
	o := w.want(0, "-- comment, below screen\n", "plan", "--sql")
	for _, want := range []string{"-- read\nSELECT /*+ SET_VAR(eq_range_index_dive_limit=0) */ `id`", "-- lock\n", "-- delete\nDELETE t FROM `screen`", "-- delete, unread\nDELETE /*+ SET_VAR(eq_range_index_dive_limit=0) */ FROM `comment`"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("%q is not in %s", want, o)
		}
	}
	w.want(0, `"sql": "SELECT`, "plan", "--sql", "--json")
	w.want(0, "≥", "plan", "project", "1", "--limit", "2")
	if o := w.want(0, "to be deleted: 16 rows", "plan", "project", "1", "--exact", "--limit", "2"); strings.Contains(o.stdout, "≥") {
		t.Error(o)
	}
	file := filepath.Join(t.TempDir(), "again.yaml")
	printed := w.ok("plan", "--yaml")
	if err := os.WriteFile(file, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := w.ok("plan", "--yaml", "--plan", file); again != printed {
		t.Errorf("a plan that was printed is another one:\n%s\n%s", printed, again)
	}
	for _, args := range [][]string{{}, {"project"}, {"--sql", "project"}, {"--sql", "--exact"}, {"--yaml", "project"}, {"--yaml", "--sql"}} {
		if o := w.run(append([]string{"plan"}, args...)...); o.code != 2 || !isOneLine(o.stderr) {
			t.Errorf("%q: %s", args, o)
		}
	}
}
