package command

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
)

// TestPausedDaemon: a worker in the middle of a job waits while it is paused, says why,
// keeps the job, and goes on.
func TestPausedDaemon(t *testing.T) {
	t.Parallel()
	w := ready(t)
	total := w.big()
	d := w.start("run", "--batch", "1", "--load", "1", "--name", "first", "--lease", "2s") // so small that the job lasts until it has noticed
	w.eventually("rows deleted", sqlDeleted, func(n int64) bool { return n > 0 })
	w.want(0, "schema change", "pause", "schema", "change")
	w.eventually("workers that wait", "SELECT COUNT(*) FROM onerow_worker WHERE throttle = 'paused: schema change' AND job_id IS NOT NULL", func(n int64) bool { return n == 1 })
	w.wantMiddle(total)
	before := w.number(sqlDeleted)
	due := w.number("SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', due_at) FROM onerow_job")
	w.eventually("the lease", "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', due_at) FROM onerow_job", func(n int64) bool { return n >= due+2_000_000 })
	if n := w.number(sqlDeleted); n != before || w.number("SELECT token FROM onerow_job") != 1 {
		t.Errorf("%d rows were deleted while it was paused; %s", n-before, w.ok("jobs"))
	}
	w.want(0, "who waits (paused: schema change)", "jobs")
	w.ok("resume")
	w.eventually("jobs done", "SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'done' AND token = 1", func(n int64) bool { return n == 1 })
	w.wantDone(total)
	d.signal(syscall.SIGTERM)
	if code, _ := d.wait(deadline); code != 0 {
		t.Errorf("exit code %d: %s", code, d.stderr)
	}
	if n := w.number("SELECT COUNT(*) FROM onerow_worker"); n != 0 {
		t.Errorf("%d workers are listed after the end", n)
	}
}

// TestThrottledDrain: throttles of the command line have their say, and one that cannot
// be asked too, without its password.
func TestThrottledDrain(t *testing.T) {
	w := ready(t)
	w.fill(1, 2, 2)
	w.ok("enqueue", "project", "1")
	w.exec("CREATE TABLE busy (why VARCHAR(80))")
	w.exec("INSERT INTO busy VALUES ('stock taking')")
	query := "SELECT MAX(why) FROM busy"
	w.env = append(w.env, shell.EnvReplicas+"=root:hunter2@tcp(127.0.0.1:1)/x")
	d := w.start("run", "--throttle-query", query, "--poll", "50ms")
	w.eventually("workers that wait", "SELECT COUNT(*) FROM onerow_worker WHERE throttle = 'query: stock taking'", func(n int64) bool { return n == 1 })
	w.exec("DELETE FROM busy")
	w.eventually("jobs done", "SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'done'", func(n int64) bool { return n == 1 })
	d.signal(syscall.SIGTERM)
	if code, _ := d.wait(deadline); code != 0 {
		t.Errorf("exit code %d: %s", code, d.stderr)
	}
	d = w.start("run", "--max-lag", "5s")
	w.eventually("workers that wait", "SELECT COUNT(*) FROM onerow_worker WHERE throttle LIKE 'lag: the throttle cannot be asked: replica 1: %'", func(n int64) bool { return n == 1 })
	out := w.ok("workers")
	d.signal(syscall.SIGTERM)
	code, _ := d.wait(deadline)
	if code != 0 || strings.Contains(d.stderr.String()+out, "hunter2") {
		t.Errorf("exit code %d: %s\n%s", code, d.stderr, out)
	}
	// With room for all that this server does, and half of the time, it is the same work.
	w.fill(2, 2, 2)
	w.ok("enqueue", "project", "2")
	w.want(0, "1 job done", "drain", "--max-threads-running", "100000", "--load", "0.5", "--parallel", "2", "--target", "20ms", "--throttle-query", query)
	w.want(2, "no_such_table", "run", "--throttle-query", "SELECT why FROM no_such_table")
}

// TestDrainWithLeftovers: the exit code is 1, and the line says where to look.
func TestDrainWithLeftovers(t *testing.T) {
	w := ready(t)
	w.fill(1, 2, 2)
	w.ok("enqueue", "project", "1")
	// As a worker parks it that was killed afterwards.
	w.exec(`INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at)
SELECT (SELECT MAX(id) FROM onerow_job), 'comment', MIN(id), 'a keeper', 'parked', UTC_TIMESTAMP(6) FROM comment`)
	w.exec("UPDATE onerow_job SET token = 1")
	o := w.want(1, "1 job with leftovers", "drain")
	if !strings.Contains(o.stderr, "cascade-worker parked list") {
		t.Error(o)
	}
	if out := w.ok("parked", "list"); !strings.Contains(out, "a keeper") {
		t.Error(out)
	}
	if n := w.rows(); n != 3 {
		t.Errorf("%d rows are left, not the project, a screen and its comment", n)
	}
	id := w.number("SELECT id FROM onerow_job_archive WHERE state = 'leftovers'")
	w.want(0, "is ready again", "retry", strings.TrimSpace(output.Grouped(id)))
	w.want(0, "1 job done", "drain")
	if n := w.rows(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestPausedDrain: without work it does not wait for the end of a pause; with work it says
// that it waits. What an earlier run has deleted it does not count as its own.
func TestPausedDrain(t *testing.T) {
	w := ready(t)
	w.ok("pause", "backup")
	w.want(0, "0 jobs done, 0 rows deleted below them in 0s; the queue is empty\n", "drain")
	total := w.fill(1, 2, 2)
	w.ok("enqueue", "project", "1")
	w.exec("INSERT INTO onerow_job_count (job_id, table_name, deleted_rows) SELECT id, 'comment', 1000 FROM onerow_job")
	d := w.start("drain")
	w.eventually("workers that wait", "SELECT COUNT(*) FROM onerow_worker WHERE throttle = 'paused: backup'", func(n int64) bool { return n == 1 })
	d.signal(syscall.SIGTERM)
	if code, _ := d.wait(deadline); code != 1 || !strings.Contains(d.stderr.String(), `msg="cascade: waits"`) || !strings.Contains(d.stderr.String(), `reason="paused: backup"`) {
		t.Errorf("exit code %d: %s", code, d.stderr)
	}
	w.ok("resume")
	w.want(0, fmt.Sprintf("1 job done, %d rows deleted", total), "drain")
	if n := w.number(sqlDeleted); n != 1000+total {
		t.Errorf("the job counts %d rows", n)
	}
}
