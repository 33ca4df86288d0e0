package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/onerow/onerow/cascade/command/internal/age"
	"github.com/onerow/onerow/cascade/command/internal/metrics"
	"github.com/onerow/onerow/cascade/command/internal/ownrows"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// withOld is a database with rows of each kind, of which those with i <= old are old.
func withOld(t *testing.T, old string) *world {
	t.Helper()
	w := ready(t)
	w.exec("ALTER TABLE onerow_job AUTO_INCREMENT = 2000")
	at := "UTC_TIMESTAMP(6) - INTERVAL IF(i <= " + old + ", 401, 1) DAY"
	for _, insert := range []string{
		"onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at) %SELECT i, 'project', i, i, 'done', " + at + ", 1, 1, 0, " + at + ", " + at,
		"onerow_job_count %SELECT i, 'comment', 1",
		"onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at) %SELECT i, 'project', i, 'active', 0, " + at,
		"onerow_action (action, actor, reason, acted_at) %SELECT 'pause', 'ann', '', " + at,
		"onerow_key_audit %SELECT 't', 'op', i, i, 'expire', 'complete', 'ann', 'why', " + at,
		"onerow_request (resource, owner, request_id, fingerprint, call_token, created_at) %SELECT 'project', '1', i, '', '', " + at,
		"onerow_key (tenant, operation, idem_key, status, token, call_token, locked_by, created_at, locked_at, expires_at) %SELECT 't', 'op', i, 'complete', i, '', 'w', " + at + ", " + at + ", " + at + " + INTERVAL 2 DAY",
		"onerow_flow_request (flow, stage, request_id, status, admitted_at, ended_at) %SELECT 'f', 's', i, 'finished', " + at + ", " + at,
		"onerow_stream_message %SELECT 'c', 's', 1, i, 1, '', " + at,
	} {
		w.exec("INSERT INTO " + strings.Replace(insert, "%", cost.Numbers(1000), 1) + " FROM numbers")
	}
	return w
}

// counts are how many rows of each kind there are.
func (w *world) kept() (counts []int64) {
	for _, table := range []string{"onerow_job_archive", "onerow_job_count", "onerow_deletion", "onerow_key_audit", "onerow_request", "onerow_key", "onerow_flow_request", "onerow_stream_message"} {
		counts = append(counts, w.number("SELECT COUNT(*) FROM "+table))
	}
	return counts
}

func (w *world) keeps(want ...int64) {
	w.t.Helper()
	got := w.kept()
	for i, n := range got {
		if n != want[i] {
			w.t.Errorf("%d are left, want %d", got, want)
			return
		}
	}
}

// TestPurge: it removes what is old, says so, and nothing of what is kept for ever by default.
func TestPurge(t *testing.T) {
	w := withOld(t, "450")
	out := w.ok("purge", "--dry-run")
	for _, line := range []string{"jobs              450", "deletions           0", "requests          450", "keys              450"} {
		if !strings.Contains(out, line) {
			t.Errorf("no line %q:\n%s", line, out)
		}
	}
	w.keeps(1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000)
	w.exec("DROP TABLE onerow_request")
	w.exec("CREATE TABLE onerow_request SELECT 1 AS one")
	out = w.run("purge", "--json", "--load", "1").stdout
	var got []age.Purged
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, p := range got {
		if want := p.What != "requests"; want != (p.Removed == 450) || want != (p.Error == "") {
			t.Errorf("%+v", p)
		}
	}
	w.exec("DROP TABLE onerow_request")
	if out = w.ok("purge"); !strings.Contains(out, "there is no such table") || !strings.Contains(out, "onerow_key, onerow_admission") {
		t.Error(out)
	}
	w.exec("CREATE TABLE onerow_request SELECT 1 AS one")
	w.keeps(550, 550, 550, 550, 1, 550, 1000, 1000)
	w.exec("DROP TABLE onerow_request")
	w.ok("purge", "--keep-jobs", "0", "--keep-flows", "720h", "--keep-messages", "720h")
	w.exec("CREATE TABLE onerow_request SELECT 1 AS one")
	w.keeps(550, 550, 550, 550, 1, 550, 550, 550)
	for args, says := range map[string]string{"purge --load 0": "--load", "purge --keep-jobs=-1h": "--keep-jobs", "run --keep-flows=-1h": "--keep-flows"} {
		w.want(2, says, strings.Fields(args)...)
	}
}

// TestKeepsAsPromised: without a flag jobs are kept as long as package queue says, which the trash relies on.
func TestKeepsAsPromised(t *testing.T) {
	var g commandLine
	parser, err := kong.New(&g, kong.Name(output.ProgramName))
	if err == nil {
		_, err = parser.Parse([]string{"purge"})
	}
	if err != nil || g.Purge.KeepJobs != queue.DefaultKeep {
		t.Errorf("--keep-jobs is %s, want %s; %v", g.Purge.KeepJobs, queue.DefaultKeep, err)
	}
}

// TestPurgeInterrupted: it ends at once, with 0 and with what it has done.
func TestPurgeInterrupted(t *testing.T) {
	w := withOld(t, "1000")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	a := &shell.App{Environment: shell.Environment{Stdout: &out, Stderr: &out}, DSN: w.url()}
	c := age.Purge{Keep: ownrows.Keep{KeepJobs: queue.DefaultKeep}, Load: 0.01}
	go func() { // between two batches, as the rest after the first is long
		for w.number("SELECT COUNT(*) FROM onerow_job_archive") == 1000 {
		}
		cancel()
	}()
	if err := errors.Join(c.Run(ctx, a), a.Close()); err != nil {
		t.Error(err)
	}
	if left := w.number("SELECT COUNT(*) FROM onerow_job_archive"); left == 0 || !strings.Contains(out.String(), "interrupted: the next call goes on") {
		t.Errorf("%d jobs are left:\n%s", left, &out)
	}
}

// TestSlowly: steps take the kinds in turn, a batch each, and rest when little is left; what is refused is
// said once.
func TestSlowly(t *testing.T) {
	w := withOld(t, "450")
	kinds, err := ownrows.Keep{KeepJobs: queue.DefaultKeep, KeepRequests: 720 * time.Hour}.Kinds()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	removed := map[string]int64{}
	s := &ownrows.Slowly{Kinds: kinds, Log: slog.New(slog.NewTextHandler(&log, nil)), Purged: func(kind string, rows int64) { removed[kind] += rows }}
	w.exec("RENAME TABLE onerow_key_audit TO aside")
	w.exec("CREATE TABLE onerow_key_audit (x INT)")
	for range kinds {
		s.Step(t.Context(), w.db)
	}
	w.keeps(800, 800, 800, 0, 800, 800, 1000, 1000)
	for range 3 * len(kinds) {
		s.Step(t.Context(), w.db)
	}
	w.keeps(550, 550, 550, 0, 550, 550, 1000, 1000)
	if n := strings.Count(log.String(), "left to a later time"); n != 1 || removed["jobs"] != 450 || removed["key audits"] != 0 {
		t.Errorf("%d times said, removed %v:\n%s", n, removed, &log)
	}
	w.exec("UPDATE onerow_request SET created_at = created_at - INTERVAL 1 YEAR")
	for range len(kinds) { // it rests
		s.Step(t.Context(), w.db)
	}
	w.keeps(550, 550, 550, 0, 550, 550, 1000, 1000)
}

// TestRunPurges: the daemon purges in the background, also beside jobs, and not if it is told so.
func TestRunPurges(t *testing.T) {
	t.Parallel()
	w, off := withOld(t, "450"), withOld(t, "450")
	d, idle := w.start("run", "--poll", "200ms"), off.start("run", "--no-purge", "--poll", "200ms")
	dbtest.Eventually(t, 2*deadline, func() (bool, string) {
		left := w.number("SELECT COUNT(*) FROM onerow_key")
		return left <= 550, fmt.Sprintf("%d keys are left", left)
	})
	for _, r := range []*running{d, idle} {
		r.signal(syscall.SIGTERM)
		if code, took := r.wait(deadline); code != 0 || took > soon {
			t.Errorf("exit code %d after %s", code, took)
		}
	}
	if n := w.number("SELECT COUNT(*) FROM onerow_key"); n != 550 {
		t.Errorf("%d keys are left", n)
	}
	off.keeps(1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000)
}

// TestPurgeMetrics: what waits is counted, up to a bound and once a minute; what cannot be counted has no
// figure.
func TestPurgeMetrics(t *testing.T) {
	w := withOld(t, "450")
	w.exec("UPDATE onerow_deletion SET resource = 'other'")
	w.exec("INSERT INTO onerow_request (resource, owner, request_id, fingerprint, call_token, created_at) " + cost.Numbers(2000) +
		"SELECT 'project', '2', i, '', '', UTC_TIMESTAMP(6) - INTERVAL 1 YEAR FROM numbers")
	w.exec("DROP TABLE onerow_key_audit")
	m, err := metrics.New()
	if err != nil {
		t.Fatal(err)
	}
	if m.Kinds, err = (ownrows.Keep{KeepJobs: queue.DefaultKeep, KeepRequests: 720 * time.Hour}).Kinds(); err != nil {
		t.Fatal(err)
	}
	m.PurgedRows("keys", 7)
	scrape := func() string {
		answer := httptest.NewRecorder()
		m.Handler(w.db, slog.New(slog.NewTextHandler(t.Output(), nil))).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return answer.Body.String()
	}
	first := scrape()
	for _, line := range []string{`waiting{what="jobs"} 450`, `waiting{what="deletions"} 450`, `waiting{what="requests"} 1000`, `waiting{what="keys"} 450`, `onerow_purged_rows_total{what="keys"} 7`} {
		if !strings.Contains(first, line) {
			t.Errorf("no %s", line)
		}
	}
	if strings.Contains(first, `waiting{what="key audits"}`) {
		t.Error("a figure of a table that is not there")
	}
	w.exec("DELETE FROM onerow_key")
	time.Sleep(metrics.MeasureEvery)
	if again := scrape(); !strings.Contains(again, `waiting{what="keys"} 450`) {
		t.Error("it is counted at each scrape")
	}
}
