package command

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
)

// leave makes a finished job with leftovers, of project id, and returns its number and
// those of its parked rows.
func (w *world) leave(id int, keys ...string) (job int64, parked []string) {
	w.t.Helper()
	w.exec(`INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
VALUES (?, 'project', ?, 1, 'leftovers', UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, 1000-id, fmt.Sprint(id))
	for _, key := range keys {
		w.exec(`INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (?, 'comment', ?, 'a trigger\nsays no', 'parked', UTC_TIMESTAMP(6))`, 1000-id, key)
		parked = append(parked, fmt.Sprint(w.number("SELECT MAX(id) FROM onerow_parked")))
	}
	return int64(1000 - id), parked
}

// TestJobZero: a flag that was given as 0 means the job of that number, not that none was given.
func TestJobZero(t *testing.T) {
	w := ready(t)
	w.want(1, "there is no job 0", "parked", "list", "--job", "0")
	w.want(0, "nothing of job 0 is in the trash", "trash", "purge", "--job", "0")
	w.want(1, "there is no job 0", "pause", "--job", "0")
	w.want(1, "there is no job 0", "report", "0")
	for id := range 60 { // newer than the rows of job 0, and more than a list has
		w.leave(id+1, "7")
	}
	w.leave(1000, "8", "9")
	w.leave(2000, "10")
	w.want(0, "project 1000", "report", "0")
	if o := w.want(0, "comment 8 ", "parked", "list", "--job", "0"); strings.Count(o.stdout, "\n") != 3 || !strings.Contains(o.stdout, "comment 9 ") {
		t.Error(o)
	}
	if o := w.want(0, "comment 9 ", "parked", "list", "--job", "0", "--limit", "1"); strings.Count(o.stdout, "\n") != 2 {
		t.Error(o)
	}
	w.exec("INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at) VALUES (0, 1, 'comment', '', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY)")
	w.ok("trash", "purge", "--job", "0")
	if n := w.number("SELECT COUNT(*) FROM onerow_trash WHERE job_id = 0 AND expires_at > UTC_TIMESTAMP(6)"); n != 0 {
		t.Error("the trash of job 0 has not expired")
	}
}

// TestParked follows parked rows from the list to their ends.
func TestParked(t *testing.T) {
	w := ready(t)
	if o := w.want(0, "no parked rows\n", "parked", "list"); o.stdout != "" {
		t.Error(o)
	}
	if out := w.ok("parked", "list", "--json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("%q", out)
	}
	composite, err := onerow.EncodeKey(101, "1993-09-21")
	if err != nil {
		t.Fatal(err)
	}
	job, ids := w.leave(1, "7", composite, "9")
	w.leave(2)
	out := w.ok("parked", "list")
	for _, part := range []string{"PARKED", "comment 7 ", "comment 101,1993-09-21 ", "project 1", "a trigger; says no", "parked"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is missing in\n%s", part, out)
		}
	}
	t.Log("\n" + out + w.ok("jobs"))
	if out := w.ok("parked", "list", "--limit", "2"); strings.Count(out, "\n") != 3 {
		t.Error(out)
	}
	w.want(0, "no parked rows of job 998", "parked", "list", "--job", "998")
	w.want(1, "there is no job 4711", "parked", "list", "--job", "4711")
	w.want(0, "leftovers, 3 parked", "jobs", "--state", "leftovers")

	w.want(0, "parked row "+ids[0]+" stays, with what is above it; job 999 (project 1) is leftovers, 2 parked", "parked", "skip", ids[0])
	w.want(0, "leftovers, 2 parked", "parked", "skip", ids[0])
	o := w.want(1, "there is no parked row 4711", "parked", "skip", ids[1], "4711", ids[2])
	if !strings.Contains(o.stdout, "job 999 (project 1) is done") || strings.Count(o.stdout, "\n") != 2 || !isOneLine(o.stderr) {
		t.Error(o)
	}
	w.want(0, "no parked rows", "parked", "list")
	var list []queue.Parked
	if err := json.Unmarshal([]byte(w.ok("parked", "list", "--skipped", "--json")), &list); err != nil || len(list) != 3 || !list[0].Skipped || list[0].JobID != job {
		t.Errorf("%v %+v", err, list)
	}
	w.want(0, "parked row "+ids[0]+" will be tried again; job 999 (project 1) is ready\n", "parked", "retry", ids[0])
	w.want(1, "there is no parked row "+ids[0]+", or it is being tried again", "parked", "retry", ids[0])

	job, ids = w.leave(3, "1", "2")
	w.want(0, fmt.Sprintf("job %d (project 3) is ready again", job), "retry", fmt.Sprint(job))
	w.want(0, fmt.Sprintf("job %d (project 3) is ready already, nothing was to be done", job), "retry", fmt.Sprint(job))
	w.want(1, "there is no parked row", "parked", "skip", ids[0])

	_, ids = w.leave(4, "1")
	w.ok("enqueue", "project", "4")
	w.want(1, "is open and does its work", "parked", "retry", ids[0])
}

// TestPauseAndResume: what the commands say, and what others say of it.
func TestPauseAndResume(t *testing.T) {
	w := ready(t)
	w.want(0, "the workers are not paused", "pause", "--check")
	w.want(0, "were not paused", "resume")
	w.want(0, "UTC\n", "pause")
	w.want(0, "UTC: schema change until 14:00\n", "pause", "schema", "change", "until", "14:00")
	w.want(1, "schema change", "pause", "--check")
	for _, command := range []string{"jobs", "workers"} {
		if o := w.want(0, "schema change until 14:00; cascade-worker resume", command); o.stdout != "" {
			t.Error(o)
		}
		if o := w.run(command, "--json"); o.stderr != "" || strings.TrimSpace(o.stdout) != "[]" {
			t.Error(o)
		}
	}
	w.want(2, "at most 200", "pause", strings.Repeat("x", 201))
	w.want(2, "takes no reason", "pause", "--check", "why")
	w.want(0, "go on; they were paused since 20", "resume")
	w.want(0, "no worker was seen", "workers")
}

func TestWorkers(t *testing.T) {
	w := ready(t)
	w.exec(`INSERT INTO onerow_worker (name, started_at, seen_at, throttle, job_id, beats) VALUES
('web1:7', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'threads: Threads_running is 99, the limit is 20', 17, 1),
('web2:8', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 10 MINUTE, NULL, NULL, 1)`)
	w.exec(`INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, worker, token, created_at)
VALUES (17, 'project', '1', 1, 'running', UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE, 'web1:7#00ff', 1, UTC_TIMESTAMP(6))`)
	out := w.ok("workers")
	t.Log("\n" + out + w.ok("jobs"))
	if !strings.Contains(out, "99, the limit is 20") || !strings.Contains(out, "not seen since 20") || strings.Count(out, "\n") != 3 {
		t.Error(out)
	}
	w.want(0, "by web1:7, who waits (threads: Threads_running is 99", "jobs")
	var list []admin.WorkerStatus
	if err := json.Unmarshal([]byte(w.ok("workers", "--json")), &list); err != nil || len(list) != 2 || list[0].JobID != 17 {
		t.Errorf("%v %+v", err, list)
	}
}

// TestWrongFlags: what does not fit is said in one line, with exit code 2.
func TestWrongFlags(t *testing.T) {
	w := empty(t)
	secret := "mysql://root:hunter2@nowhere"
	for args, says := range map[string]string{
		"run --max-threads-running=-1":            "--max-threads-running",
		"run --max-lag=-1s":                       "--max-lag",
		"run --max-lag=10ms":                      "whole seconds",
		"run --max-lag=10s":                       "--replica",
		"drain --replica=root@tcp(127.0.0.1:1)/x": "--max-lag",
		"drain --max-lag=10s --replica=" + secret: "a replica's DSN",
		"drain --load=0.001":                      "--load",
		"drain --load=2":                          "--load",
		"drain --target=-1s":                      "--target",
		"run --parallel=-1":                       "--parallel",
		"run --parallel=1000":                     "--parallel",
		"run --throttle-query=":                   "--throttle-query",
		"parked":                                  "list",
		"parked list --limit 0":                   "--limit",
		"parked list --job=-1":                    "--job",
		"parked skip":                             "<parked>",
		"parked skip seven":                       "seven",
		"parked retry -- -1":                      "-1 is no parked row's number",
	} {
		o := w.want(2, says, strings.Fields(args)...)
		if o.stdout != "" || !isOneLine(o.stderr) || strings.Contains(o.stderr, "hunter2") {
			t.Errorf("%s: %s", args, o)
		}
	}
	for _, command := range []string{"parked", "parked list", "parked retry", "parked skip", "pause", "resume", "workers"} {
		if out := w.ok(append(strings.Fields(command), "--help")...); !strings.HasPrefix(out, "Usage: cascade-worker") || !strings.Contains(out, "Examples:") {
			t.Errorf("%s --help:\n%s", command, out)
		}
	}
	for _, command := range []string{"parked list", "parked retry 1", "parked skip 1", "pause", "resume", "workers"} {
		w.want(1, "cascade-worker migrate up", strings.Fields(command)...)
	}
}
