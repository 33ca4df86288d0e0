package command

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/command/internal/lost"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// TestOrphans: found, listed, queued, deleted by a worker, and then none.
func TestOrphans(t *testing.T) {
	w := ready(t)
	o := w.want(0, "no row is missing", "orphans")
	if o.stdout != "" || !isOneLine(output.ProgramName+": "+o.stderr) {
		t.Error(o)
	}
	if out := w.ok("orphans", "--json"); out != "[]\n" {
		t.Errorf("%q", out)
	}
	w.fill(1, 2, 2)
	w.fill(2, 4, 1)
	w.fill(3, 1, 1)
	w.exec("DELETE FROM project WHERE id IN (2, 3)")
	w.ok("enqueue", "project", "3", "--grace", "1h")
	w.exec("INSERT INTO comment (screen_id, body, created_at, updated_at) VALUES (77, 'x', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (78, 'x', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	o = w.want(0, "4 missing rows", "orphans")
	if !strings.Contains(o.stdout, "project 2 is missing: 2 rows of screen_archive\n") || strings.Contains(o.stdout, "project 3") || strings.Count(o.stdout, "\n") != 4 {
		t.Error(o)
	}
	var list []inspect.Orphan
	if err := json.Unmarshal([]byte(w.ok("orphans", "--json", "--table", "comment")), &list); err != nil || len(list) != 2 || list[0].ID != "77" || list[0].Resource != "screen" {
		t.Errorf("%+v, %v", list, err)
	}
	o = w.want(0, "1 missing row; go on with --after ", "orphans", "--limit", "1")
	_, position, _ := strings.Cut(strings.TrimSpace(o.stderr), "--after ")
	w.want(0, "missing row", "orphans", "--after", position)
	w.want(0, "1 missing row; there may be more: raise --limit\n", "orphans", "--limit", "1", "--table", "comment")
	w.want(0, "4 missing rows\n", "orphans", "--limit", "4")
	w.want(1, "1 missing row; go on", "orphans", "--check", "--limit", "1")
	w.want(0, "4 missing rows; 3 jobs queued", "orphans", "--enqueue")
	w.want(0, "no row is missing", "orphans", "--enqueue")
	w.want(0, "3 jobs done", "drain")
	w.want(0, "no row is missing", "orphans", "--check")
	if n := w.rows(); n != 1+2+4+1+1 { // project 1, and what is below 3
		t.Errorf("%d rows", n)
	}
	for _, c := range []struct{ args, says string }{
		{"orphans --table planet", "project, screen, comment"},
		{"orphans --after eHg", "--after"},
		{"orphans --limit=-1", "--limit"},
		{"orphans project", "project"},
	} {
		if o := w.want(2, c.says, strings.Fields(c.args)...); !isOneLine(o.stderr) {
			t.Error(o)
		}
	}
	w.exec("DROP TABLE comment")
	w.want(1, "in 1 point: run cascade-worker verify", "orphans")
	w.want(1, "in 1 point: run cascade-worker verify", "plan", "project", "1")
}

// TestOrphansInterrupted: the position that is printed skips no row that was not queued,
// and a search that was cut does not say that no row is missing.
func TestOrphansInterrupted(t *testing.T) {
	w := ready(t)
	w.fill(1, 1, 0)
	w.exec("DELETE FROM project WHERE id = 1")
	held, err := w.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lock := func(statement string) {
		t.Helper()
		if _, err := held.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	// The search, and not what it reads of the catalog before, which waits for the table as well now and
	// then.
	interrupted := func(table string) string {
		t.Helper()
		lock("LOCK TABLES " + table + " WRITE") // plain reads of it wait, too
		d := w.start("orphans", "--enqueue")
		w.executing(1, "AS entries", "`"+table+"`")
		d.signal(syscall.SIGINT)
		if code, _ := d.wait(deadline); code != 1 {
			t.Errorf("exit code %d", code)
		}
		lock("UNLOCK TABLES")
		w.executing(0, "AS entries")
		return d.stderr.String()
	}
	if says := interrupted("screen"); !strings.Contains(says, "no missing row found so far") || strings.Contains(says, "no row is missing") {
		t.Error(says)
	}
	says := interrupted("comment") // the missing project was found in screen
	if !strings.Contains(says, "1 missing row; ") {
		t.Error(says)
	}
	args := []string{"orphans", "--enqueue"}
	if _, rest, found := strings.Cut(says, "--after "); found {
		position, _, _ := strings.Cut(rest, "\n")
		args = append(args, "--after", position)
	}
	w.ok(args...)
	if n := w.number("SELECT COUNT(*) FROM onerow_job WHERE resource = 'project' AND resource_id = '1'"); n != 1 {
		t.Errorf("%d jobs for the missing project; %s", n, says)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
}

// TestOrphansWatched: a worker searches again and again, beside its work, and tells what it found.
func TestOrphansWatched(t *testing.T) {
	w := ready(t)
	s := w.serve("", true)
	w.fill(1, 2, 2)
	w.exec("DELETE FROM project WHERE id = 1")
	var log strings.Builder
	metrics := s.metrics
	watch := &lost.Watch{DB: w.db, Plan: s.plan, Log: slog.New(slog.NewTextHandler(&log, nil)), Every: 20 * time.Millisecond, Found: metrics.Orphans}
	err := shell.Beside(func(ctx context.Context) error {
		tells := func(line string) {
			t.Helper()
			dbtest.Eventually(t, time.Minute, func() (bool, string) {
				return strings.Contains(s.get("/metrics").body, "\n"+line+"\n"), "/metrics without " + line
			})
		}
		tells("onerow_cascade_orphans 2") // in screen and in its archive
		w.exec("INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, version, created_at, updated_at) VALUES (1, 1, 'a', 'a', 'a', 0, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
		tells("onerow_cascade_orphans 0")
		return ctx.Err()
	}, watch.Run)(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if line, _, _ := strings.Cut(log.String(), "\n"); !strings.Contains(line, "project 1 is missing: 1 row of screen") || !strings.Contains(line, "cascade-worker orphans") {
		t.Error(log.String())
	}
	w.want(2, "it should be a time like 24h", "run", "--orphans-every", "1ms")
	if daily := (lost.WatchFlag{}).Every(schema.Plan{Cluster: true}); daily != 24*time.Hour || (lost.WatchFlag{}).Every(s.plan) != 0 {
		t.Errorf("every %s on a cluster", daily)
	}
}

// TestOrphansTold: text is printed as text, the counts by table come last, and a plan whose references all have
// foreign keys is told that there was nothing to search.
func TestOrphansTold(t *testing.T) {
	w := empty(t)
	w.write(w.plan, `tables:
  - {name: place, key: [id]}
  - {name: spot, key: [id], parents: [{table: place, columns: [code], references: [code]}]}
  - {name: mark, key: [id], parents: [{table: spot, columns: [spot_id]}]}
`)
	w.ok("migrate", "up")
	for _, statement := range []string{
		"CREATE TABLE place (id INT PRIMARY KEY, code VARCHAR(30) NOT NULL UNIQUE)",
		"CREATE TABLE spot (id INT PRIMARY KEY, code VARCHAR(30), KEY (code))",
		"CREATE TABLE mark (id INT PRIMARY KEY, spot_id INT, KEY (spot_id))",
		"INSERT INTO place VALUES (1, 'here')",
		"INSERT INTO spot VALUES (1, 'here'), (2, 'ü''x'), (3, 'ü''x')",
		"INSERT INTO mark VALUES (1, 1), (2, 8), (3, 9)",
	} {
		w.exec(statement)
	}
	o := w.want(0, "3 missing rows\n", "orphans")
	if !strings.Contains(o.stdout, "place with code = 'ü'x' is missing: 2 rows of spot; nothing can be queued: its rows refer to code of place, which is not the key\n") {
		t.Error(o)
	}
	w.want(0, "1 missing row\n", "orphans", "--table", "spot")
	w.exec("DELETE FROM spot WHERE id > 1")
	w.exec("DELETE FROM mark WHERE id > 1")
	w.want(0, "no row is missing\n", "orphans")
	w.exec("ALTER TABLE spot ADD FOREIGN KEY (code) REFERENCES place (code)")
	w.exec("ALTER TABLE mark ADD FOREIGN KEY (spot_id) REFERENCES spot (id)")
	w.want(0, "no row is missing: foreign keys guard every reference that", "orphans", "--check")
}
