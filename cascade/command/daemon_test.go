package command

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

const (
	sqlDeleted = "SELECT COALESCE(SUM(deleted_rows), 0) FROM onerow_job_count"
	deadline   = time.Minute // of a process that should end, for a machine that has other things to do
	// soon is within two seconds, as it is promised, on such a machine. What a stop could wait for by mistake
	// takes longer: a lock wait 50 seconds, a poll or a lease an hour.
	soon = 20 * time.Second
)

// TestDaemon runs the real binary as an operator would.
func TestDaemon(t *testing.T) {
	built := &world{t: t}
	built.build()
	for name, test := range map[string]func(*testing.T, *world){
		"SIGTERM in the middle of a job": testTerminated,
		"SIGKILL again and again":        testKilled,
		"SIGTERM while idle":             testIdle,
		"one signal, sent twice":         testTwice,
		"SIGTERM while a batch waits":    testBlocked,
		"drain is interrupted":           testInterrupted,
		"drain on a terminal":            testTerminal,
		"drain elsewhere":                testPlainLines,
	} {
		t.Run(name, func(t *testing.T) {
			w := ready(t)
			w.bin = built.bin
			test(t, w)
		})
	}
}

// big is a job that takes a while: batches of 5 rows.
func (w *world) big() (total int64) {
	total = w.fill(1, 60, 100)
	w.ok("enqueue", "project", "1")
	return total
}

func (w *world) wantDone(total int64) {
	w.t.Helper()
	if got := w.number("SELECT SUM(c.deleted_rows) FROM onerow_job_count c JOIN onerow_job_archive a ON a.id = c.job_id WHERE a.state = 'done'"); got != total {
		w.t.Errorf("%d rows are counted, there were %d", got, total)
	}
	if got := w.rows(); got != 0 {
		w.t.Errorf("%d rows are left", got)
	}
}

// wantMiddle asserts that the job is begun and not done.
func (w *world) wantMiddle(total int64) {
	w.t.Helper()
	if n := w.number(sqlDeleted); n == 0 || n >= total {
		w.t.Fatalf("%d of %d rows are deleted: not in the middle of the job", n, total)
	}
}

func testTerminated(t *testing.T, w *world) {
	total := w.big()
	d := w.start("run", "--batch", "5", "--name", "first", "--lease", "1h")
	w.eventually("rows deleted", sqlDeleted, func(n int64) bool { return n > 0 })
	d.signal(syscall.SIGTERM)
	code, took := d.wait(deadline)
	if code != 0 || took > soon {
		t.Errorf("exit code %d after %s: %s", code, took, d.stderr)
	}
	w.wantMiddle(total)
	// The lease of an hour was given back: the job is due now.
	if w.number("SELECT COUNT(*) FROM onerow_job WHERE state = 'ready' AND due_at <= UTC_TIMESTAMP(6)") != 1 {
		t.Errorf("the lease was not given back: %s", w.ok("jobs"))
	}
	if !strings.Contains(d.stderr.String(), "msg=stopped") {
		t.Errorf("log: %s", d.stderr)
	}
	w.want(0, "1 job done", "drain", "--name", "second")
	w.wantDone(total)
}

func testKilled(t *testing.T, w *world) {
	total := w.big()
	for range 3 {
		before := w.number(sqlDeleted)
		d := w.start("run", "--batch", "5", "--lease", "300ms", "--poll", "50ms")
		w.eventually("rows deleted", sqlDeleted, func(n int64) bool { return n > before })
		d.signal(syscall.SIGKILL)
		if code, _ := d.wait(deadline); code != -1 {
			t.Fatalf("exit code %d: %s", code, d.stderr)
		}
		w.wantMiddle(total)
	}
	d := w.start("run", "--poll", "50ms", "--log-format", "json")
	w.eventually("jobs done", "SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'done'", func(n int64) bool { return n == 1 })
	d.signal(syscall.SIGTERM)
	if code, _ := d.wait(deadline); code != 0 || !strings.HasPrefix(d.stderr.String(), "{") {
		t.Errorf("exit code %d: %s", code, d.stderr)
	}
	w.wantDone(total)
}

// testTwice: who signals the process and its group means it once.
func testTwice(t *testing.T, w *world) {
	d := w.start("run")
	w.eventually("workers", "SELECT COUNT(*) FROM onerow_worker", func(n int64) bool { return n == 1 })
	for range 20 {
		d.signal(syscall.SIGTERM)
		d.signal(syscall.SIGINT)
	}
	if code, _ := d.wait(deadline); code != 0 || !strings.Contains(d.stderr.String(), "msg=stopped") {
		t.Errorf("exit code %d: %s", code, d.stderr)
	}
}

func testIdle(t *testing.T, w *world) {
	d := w.start("run", "--poll", "1h", "--name", "idler")
	dbtest.Eventually(t, deadline, func() (bool, string) { return len(dbtest.Executing(t, w.db)) > 0, "it has no session" })
	d.signal(syscall.SIGINT)
	code, took := d.wait(deadline)
	if code != 0 || took > soon {
		t.Errorf("exit code %d after %s: %s", code, took, d.stderr)
	}
}

// testBlocked: somebody holds a row that the batch needs, so it cannot be ended and is
// rolled back.
func testBlocked(t *testing.T, w *world) {
	total := w.fill(1, 4, 4)
	w.ok("enqueue", "project", "1")
	tx, err := w.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var id int64
	if err := tx.QueryRowContext(t.Context(), "SELECT id FROM comment ORDER BY id DESC LIMIT 1 FOR UPDATE").Scan(&id); err != nil {
		t.Fatal(err)
	}
	d := w.start("run", "--lease", "1h")
	w.eventually("jobs running", "SELECT COUNT(*) FROM onerow_job WHERE state = 'running'", func(n int64) bool { return n == 1 })
	w.executing(1, "DELETE ")
	d.signal(syscall.SIGTERM)
	code, took := d.wait(deadline)
	if code != 0 || took > soon {
		t.Errorf("exit code %d after %s: %s", code, took, d.stderr)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	w.eventually("jobs due", "SELECT COUNT(*) FROM onerow_job WHERE state = 'ready' AND due_at <= UTC_TIMESTAMP(6)", func(n int64) bool { return n == 1 })
	w.want(0, "1 job done", "drain")
	w.wantDone(total)
}

func testInterrupted(t *testing.T, w *world) {
	total := w.big()
	d := w.start("drain", "--batch", "5", "--lease", "1h")
	w.eventually("rows deleted", sqlDeleted, func(n int64) bool { return n > 0 })
	d.signal(syscall.SIGINT)
	code, took := d.wait(deadline)
	if code != 1 || took > soon || !strings.Contains(d.stderr.String(), "interrupted") {
		t.Errorf("exit code %d after %s: %s", code, took, d.stderr)
	}
	w.wantMiddle(total)
	w.want(0, "the queue is empty", "drain")
	w.wantDone(total)
}

func testPlainLines(t *testing.T, w *world) {
	total := w.big()
	o := w.want(0, "1 job done, "+output.Plural(total, "row")+" deleted", "drain", "--batch", "200")
	if !strings.HasPrefix(o.stderr, "0/1 job, ") || !strings.Contains(o.stderr, "now project 1") || strings.Contains(o.stderr, "\x1b") {
		t.Error(o)
	}
	w.wantDone(total)
	w.want(0, "0 jobs done, 0 rows deleted", "drain")
}

// testTerminal: a bar that is redrawn, and one summary line at the end.
func testTerminal(t *testing.T, w *world) {
	total := w.big()
	cmd := w.command(t.Context(), "drain", "--batch", "5")
	cmd.Env = append(cmd.Env, "TERM=xterm")
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	// Linux ends the reading with EIO when the other side is closed.
	if _, err := io.Copy(&out, screen); err != nil && !strings.Contains(err.Error(), "input/output error") {
		t.Error(err)
	}
	if code := exitCode(t, cmd.Wait()); code != 0 {
		t.Errorf("exit code %d: %s", code, out.String())
	}
	if err := screen.Close(); err != nil {
		t.Error(err)
	}
	frames := regexp.MustCompile(`[01]/1 job +\[[ =>]*\] +[\d,]+ rows?, now project 1`).FindAllString(out.String(), -1)
	if len(frames) < 2 || !strings.Contains(out.String(), "\x1b[") {
		t.Errorf("%d frames: %q", len(frames), out.String())
	}
	last := strings.TrimSpace(out.String()[strings.LastIndex(strings.TrimSpace(out.String()), "\n")+1:])
	if !strings.Contains(last, "1 job done, "+output.Plural(total, "row")) {
		t.Errorf("the last line is %q", last)
	}
	for _, frame := range frames {
		if len(frame) > 100 {
			t.Errorf("wider than the terminal: %q", frame)
		}
	}
	w.wantDone(total)
}
