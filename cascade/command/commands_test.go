package command

import (
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/onerow/onerow/cascade/command/internal/tables"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/migrations"
)

// wantLine runs a command and compares its exit code and a part of its output.
func (w *world) want(code int, says string, args ...string) outcome {
	w.t.Helper()
	o := w.run(args...)
	if o.code != code || !strings.Contains(o.stdout+o.stderr, says) {
		w.t.Fatalf("%q should exit with %d and say %q: %s", args, code, says, o)
	}
	return o
}

func TestMigrate(t *testing.T) {
	w := empty(t)
	files, err := fs.Glob(migrations.FS, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	applied := output.Plural(len(files), "migration") + " applied"
	w.want(0, "missing: run cascade-worker migrate up", "migrate", "status")
	w.want(0, applied, "migrate", "up")
	w.want(0, "up to date\n", "migrate", "up")
	var status []struct {
		Version int64
		Name    string
		Applied bool
	}
	if err := json.Unmarshal([]byte(w.ok("migrate", "status", "--json")), &status); err != nil || len(status) != len(files) || !status[len(files)-1].Applied {
		t.Errorf("%v %+v", err, status)
	}
	if out := w.ok("migrate", "status"); strings.Contains(out, "missing") || strings.Count(out, "UTC") != len(files) {
		t.Error(out)
	}
	w.want(2, "--yes", "migrate", "down")
	w.want(0, "removed", "migrate", "down", "--yes")
	w.want(0, "removed", "migrate", "down", "--yes")
	w.want(1, "migrate up", "jobs")
	w.want(0, applied, "migrate", "up")
}

// TestVerify: what is missing is named with what to do, one point per line.
func TestVerify(t *testing.T) {
	w := empty(t)
	o := w.want(1, "migrate up", "verify")
	if !strings.Contains(o.stdout, "cascade-worker ddl") {
		t.Errorf("the command that prints the tables is not named: %s", o)
	}
	for _, table := range []string{"project", "project_archive", "screen", "screen_archive", "comment"} {
		if !strings.Contains(o.stdout, table) {
			t.Errorf("the missing table %s is not named: %s", table, o)
		}
	}
	if o.stderr != "" || strings.Count(o.stdout, "\n") > 2 || strings.Contains(o.stdout, "proved") || !strings.Contains(o.stdout, "is it the wrong one?") {
		t.Errorf("the differences are the result, and nothing is there: %s", o)
	}
	w.ok("migrate", "up")
	w.createTables()
	w.want(0, "ok: ", "verify")

	w.exec("ALTER TABLE project DROP INDEX one_name")
	w.exec("ALTER TABLE comment DROP COLUMN body")
	o = w.want(1, "one_name", "verify")
	if !strings.Contains(o.stdout, "body") || strings.Contains(o.stdout, "migrate up") {
		t.Error(o)
	}
	t.Log("\n" + o.stdout)
	for _, command := range []string{"run", "drain"} {
		if o := w.want(1, "cascade-worker verify", command); !isOneLine(o.stderr) {
			t.Errorf("%s: %s", command, o)
		}
	}
}

func TestDDL(t *testing.T) {
	w := &world{t: t}
	o := w.runIn(testPlan, "ddl", "--plan", "-")
	if o.code != 0 || strings.Count(o.stdout, "CREATE TABLE") != 5 || strings.Count(o.stdout, ";\n") != 5 {
		t.Error(o)
	}
	if o := w.runIn("tables: [{name: doc, key: [id]}]", "ddl", "--plan", "-"); o.code != 0 || !strings.HasPrefix(o.stdout, tables.GooseUp+"-- ") || strings.Contains(o.stdout, "\n;") || strings.Count(o.stdout, "\n") != 2 {
		t.Error(o)
	}
}

// TestDDLIsAMigration: goose runs what the examples of the help write, the second time too, when nothing is
// missing any more.
func TestDDLIsAMigration(t *testing.T) {
	w := empty(t)
	w.write(w.plan, "trash: 30d\n"+testPlan)
	folder := t.TempDir()
	for i, args := range [][]string{{"ddl"}, {"ddl", "--trash"}, {"ddl", "--trash"}} {
		w.write(filepath.Join(folder, fmt.Sprintf("%04d_made.sql", i+7)), w.ok(args...))
		p, err := goose.NewProvider(goose.DialectMySQL, w.db, os.DirFS(folder))
		if err != nil {
			t.Fatal(err)
		}
		if done, err := p.Up(t.Context()); err != nil || len(done) != 1 {
			t.Fatalf("%q: %v, %v", args, done, err)
		}
	}
	w.ok("migrate", "up")
	w.want(0, "ok: ", "verify")
}

// TestEnqueueAndJobs follows jobs from the command line to their ends.
func TestEnqueueAndJobs(t *testing.T) {
	w := ready(t)
	below := w.fill(1, 4, 3)
	w.fill(2, 2, 1)
	w.exec(`INSERT INTO project_archive (id, user_id, name, name_key, stem_key, created_at, updated_at, archived_at)
VALUES (3, 8, 'old', 'old', 'old', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
	w.exec(`INSERT INTO comment (screen_id, body, created_at, updated_at) VALUES (77, 'orphan', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)

	if o := w.want(0, "no jobs", "jobs"); o.stdout != "" {
		t.Error(o)
	}
	if out := w.ok("jobs", "--json"); strings.TrimSpace(out) != "[]" {
		t.Errorf("%q", out)
	}
	w.want(0, "project 1 is queued\n", "enqueue", "project", "1")
	w.want(0, "was open for project 1 already and is ready", "enqueue", "project", "1", "--grace", "1h")
	w.want(0, "project 2 is queued, due in 1h0m0s", "enqueue", "project", "2", "--grace", "1h")
	w.want(0, "was open for project 2 already and is scheduled, due 20", "enqueue", "project", "2", "--grace", "30m")
	w.want(0, "project 3 is queued\n", "enqueue", "project", "3")
	w.want(0, "gone already", "enqueue", "screen", "77")
	for query, want := range map[string]int64{
		"SELECT COUNT(*) FROM onerow_deletion":                                                                                    6,
		"SELECT COUNT(*) FROM onerow_deletion WHERE deleted_from = 'operator' AND owner = '1'":                                    4,
		"SELECT COUNT(*) FROM onerow_deletion WHERE deleted_from = 'operator' AND owner = '8' AND resource_id = '3'":              1,
		"SELECT COUNT(*) FROM onerow_deletion WHERE deleted_from = '' AND owner IS NULL AND resource = 'screen'":                  1,
		"SELECT COUNT(*) FROM onerow_job":                                                                                         4,
		"SELECT COUNT(*) FROM onerow_job JOIN onerow_deletion d ON d.id = deletion_id AND d.resource_id = onerow_job.resource_id": 4,
	} {
		if got := w.number(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	t.Log("\n" + w.ok("jobs"))
	o := w.want(0, "3 jobs done", "drain")
	if !strings.Contains(o.stdout, "1 for later") || strings.Count(o.stdout, "\n") != 1 {
		t.Error(o)
	}
	var jobs []queue.Job
	if err := json.Unmarshal([]byte(w.ok("jobs", "--json", "--state", "open")), &jobs); err != nil || len(jobs) != 1 || jobs[0].State != queue.Scheduled {
		t.Fatalf("%v %+v", err, jobs)
	}
	if err := json.Unmarshal([]byte(w.ok("jobs", "--json", "--state", "done")), &jobs); err != nil || len(jobs) != 3 {
		t.Fatalf("%v %+v", err, jobs)
	}
	if jobs[2].Resource != "project" || jobs[2].ResourceID != "1" || jobs[2].DeletedRows != below || jobs[0].DeletedRows != 1 {
		t.Errorf("%+v; %d rows were below project 1", jobs, below)
	}
	if got := w.rows(); got != 2+2+1 { // project 2 with its screens and their comments
		t.Errorf("%d rows are left", got)
	}
	if out := w.ok("jobs", "--limit", "2"); strings.Count(out, "\n") != 3 {
		t.Error(out)
	}
	w.want(1, "only a dead job", "retry", fmt.Sprint(jobs[0].ID))
	w.want(1, "there is no job 4711", "retry", "4711")
}

// TestEnqueueHidden: a row that is in its grace period may go only under the deletion
// that hides it.
func TestEnqueueHidden(t *testing.T) {
	w := ready(t)
	w.exec(`INSERT INTO project_archive (id, user_id, name, name_key, stem_key, created_at, updated_at, archived_at, deletion_id, deleted_from)
VALUES (3, 8, 'old', 'old', 'old', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 1234, 'active')`)
	w.exec("ALTER TABLE onerow_deletion AUTO_INCREMENT = 1235")
	w.want(0, "project 3 is queued", "enqueue", "project", "3")
	w.want(0, "the queue is empty", "drain")
	if got := w.rows(); got != 0 {
		t.Errorf("%d rows are left: %s", got, w.ok("jobs"))
	}
}

// TestEnqueueThenArchived: an operator's word is good for the row wherever it is when the job comes to it.
func TestEnqueueThenArchived(t *testing.T) {
	w := ready(t)
	w.fill(1, 2, 1)
	w.fill(2, 2, 1)
	w.want(0, "is queued", "enqueue", "project", "1", "--grace", "1h")
	w.want(0, "1 job queued", "enqueue", "project", "--where", "id = 2", "--grace", "1h")
	const columns = "id, user_id, name, name_key, stem_key, created_at, updated_at"
	w.exec("INSERT INTO project_archive (" + columns + ", archived_at) SELECT " + columns + ", UTC_TIMESTAMP(6) FROM project")
	w.exec("DELETE FROM project")
	w.exec("UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)")
	w.want(0, "2 jobs done", "drain")
	if got := w.rows(); got != 0 {
		t.Errorf("%d rows are left: %s", got, w.ok("jobs"))
	}
}

// TestManyJobs: more than a page of the library's.
func TestManyJobs(t *testing.T) {
	w := ready(t)
	var values []string
	for i := range 1200 {
		values = append(values, fmt.Sprintf("('project', '%d', 1, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", i+1))
	}
	w.exec("INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) VALUES " + strings.Join(values, ", "))
	if out := w.ok("jobs", "--limit", "5000"); strings.Count(out, "\n") != 1201 {
		t.Errorf("%d lines", strings.Count(out, "\n"))
	}
	if out := w.ok("jobs"); strings.Count(out, "\n") != 51 {
		t.Errorf("%d lines", strings.Count(out, "\n"))
	}
}

// TestFailuresAndRetry: a job of another plan is left alone; one that fails does so until it
// is dead, and drain says so with its exit code; put right, a retry makes it work.
func TestFailuresAndRetry(t *testing.T) {
	w := ready(t)
	w.fill(1, 2, 2)
	w.ok("enqueue", "project", "1")
	other := filepath.Join(t.TempDir(), "other.yaml")
	w.write(other, "resources:\n  - name: comment\n    parent: {resource: screen, column: screen_id}\n")
	w.want(2, `its parent "screen" is not declared`, "drain", "--plan", other)
	w.write(other, "resources:\n  - name: comment\n    columns: [{name: screen_id, type: BIGINT NOT NULL}, {name: body, type: TEXT NOT NULL}]\n")
	w.ok("drain", "--plan", other)
	if n := w.number("SELECT SUM(token) FROM onerow_job"); n != 0 {
		t.Errorf("a worker of another plan has claimed it %d times", n)
	}
	w.exec("UPDATE onerow_job SET resource_id = 'nonsense'")
	o := w.want(1, "1 failed, to be tried again", "drain")
	if !strings.Contains(o.stderr, "could not be worked") {
		t.Error(o)
	}
	w.want(0, "not a key", "jobs")
	w.exec("UPDATE onerow_job SET failures = 9, due_at = UTC_TIMESTAMP(6)")
	w.want(1, "1 dead; the queue is empty", "drain")
	w.exec("UPDATE onerow_job_archive SET resource_id = '1'")
	id := fmt.Sprint(w.number("SELECT id FROM onerow_job_archive"))
	w.want(0, "dead", "jobs", "--state", "dead")
	w.want(0, "job "+id+" (project 1) is ready again", "retry", id)
	w.want(0, "is ready already", "retry", id)
	w.want(0, "1 job done, 6 rows", "drain")
}

// TestTableGone: a job whose table is dropped while workers run waits for it, and says so where jobs are listed.
func TestTableGone(t *testing.T) {
	w := ready(t)
	s := w.serve("", true)
	w.fill(1, 1, 1)
	d := w.start("run", "--poll", "100ms")
	w.eventually("workers", "SELECT COUNT(*) FROM onerow_worker", func(n int64) bool { return n > 0 })
	w.exec("DROP TABLE comment")
	w.ok("enqueue", "project", "1")
	w.eventually("jobs with an error", "SELECT COUNT(*) FROM onerow_job WHERE state = 'ready' AND last_error IS NOT NULL", func(n int64) bool { return n > 0 })
	d.signal(syscall.SIGTERM)
	d.wait(deadline)
	w.want(0, "comment", "jobs")
	var id, why string
	if err := w.db.QueryRowContext(t.Context(), "SELECT id, last_error FROM onerow_job").Scan(&id, &why); err != nil {
		t.Fatal(err)
	}
	t.Log(why)
	why = html.EscapeString(output.OneLine(why)[:40])
	s.eventually("/", why)
	s.eventually("/jobs/"+id, why)
}

// TestAssets: files go before the rows that name them.
func TestAssets(t *testing.T) {
	w := empty(t)
	w.write(w.plan, `
resources:
  - name: album
  - name: photo
    parent: {resource: album, column: album_id}
    asset: blob_key
    columns: [{name: blob_key, type: VARCHAR(80) NOT NULL}]
`)
	w.ok("migrate", "up")
	w.createTables()
	folder := filepath.Join(t.TempDir(), "my files")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	w.exec("INSERT INTO album (id, created_at, updated_at) VALUES (1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	for i := range 20 {
		name := fmt.Sprintf("photo-%d.jpg", i)
		w.write(filepath.Join(folder, name), "bytes")
		w.exec("INSERT INTO photo (album_id, blob_key, created_at, updated_at) VALUES (1, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", name)
	}
	w.want(0, "is queued", "enqueue", "album", "1")
	w.want(2, "--assets", "drain")
	w.want(0, "1 job done, 20 rows", "drain", "--assets", "file://"+strings.ReplaceAll(folder, " ", "%20"))
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

// TestAssetsOfTables: a table that somebody else designed names its assets as a resource does.
func TestAssetsOfTables(t *testing.T) {
	w := empty(t)
	w.write(w.plan, "tables: [{name: doc, key: [id], asset: file}]")
	w.ok("migrate", "up")
	w.exec("CREATE TABLE doc (id INT PRIMARY KEY, file VARCHAR(80) NOT NULL)")
	w.exec("INSERT INTO doc VALUES (1, 'one.pdf'), (2, 'two.pdf')")
	folder := t.TempDir()
	w.write(filepath.Join(folder, "one.pdf"), "bytes")
	w.write(filepath.Join(folder, "two.pdf"), "bytes")
	w.want(0, "is queued", "enqueue", "doc", "1")
	w.want(2, `"doc" of the plan names its assets in the column "file"`, "drain")
	w.want(0, "1 job done", "drain", "--assets", "file://"+folder)
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 || left[0].Name() != "two.pdf" {
		t.Errorf("%v are left, %v", left, err)
	}
}
