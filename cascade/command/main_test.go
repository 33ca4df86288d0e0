package command

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/command/internal/tables"
	"github.com/onerow/onerow/cascade/fileassets"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// envMain makes this test binary be the command, so that every test runs the whole
// program in a process of its own, under the race detector if the test is.
const envMain = "CASCADE_WORKER_TEST_MAIN"

// envProgram is the program without the race detector, for commands that end at once.
const envProgram = "ONEROW_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(envMain) != "" {
		os.Exit(Main(nil, Options{OpenAssets: fileassets.Open}))
	}
	dbtest.Main(m)
}

const testPlan = `
resources:
  - name: project
    archive: project_archive
    owner: user_id
    label: {column: name}
    quota: {flag: is_over_quota}
  - name: screen
    archive: screen_archive
    owner: project_id
    parent: {resource: project, column: project_id}
    label: {column: filename, key: base, kind: filename}
  - name: comment
    parent: {resource: screen, column: screen_id}
    columns: [{name: body, type: TEXT NOT NULL}]
`

// world is a database of its own with the plan's tables, and how to run the command
// against it.
type world struct {
	t    *testing.T
	db   *sql.DB
	cfg  *mysql.Config
	plan string // a file
	env  []string
	bin  string // "": this test binary
}

// empty is a database without any table.
func empty(t *testing.T) *world {
	t.Helper()
	dsn := dbtest.DSN(t)
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, db: dbtest.OpenDSN(t, dsn), cfg: cfg, plan: filepath.Join(t.TempDir(), "plan.yaml")}
	w.write(w.plan, testPlan)
	w.env = []string{shell.EnvDSN + "=" + w.url(), shell.EnvPlan + "=" + w.plan}
	return w
}

// ready has the tables of the toolkit and of the plan.
func ready(t *testing.T) *world {
	t.Helper()
	w := empty(t)
	w.ok("migrate", "up")
	w.createTables()
	return w
}

func (w *world) createTables() {
	w.t.Helper()
	for _, statement := range strings.Split(strings.TrimPrefix(w.ok("ddl"), tables.GooseUp), ";\n") {
		statement = strings.TrimSpace(statement)
		if strings.HasPrefix(statement, "CREATE TABLE `project` ") || strings.HasPrefix(statement, "CREATE TABLE `screen` ") {
			statement += " AUTO_INCREMENT = 1000000000" // above the ids that tests choose
		}
		if statement != "" {
			w.exec(statement)
		}
	}
}

// url is the DSN of the database, without parameters.
func (w *world) url() string {
	return fmt.Sprintf("%s:%s@tcp(%s)/%s", w.cfg.User, w.cfg.Passwd, w.cfg.Addr, w.cfg.DBName)
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) exec(query string, args ...any) {
	w.t.Helper()
	if _, err := w.db.ExecContext(w.t.Context(), query, args...); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
}

func (w *world) number(query string, args ...any) (n int64) {
	w.t.Helper()
	if err := w.db.QueryRowContext(w.t.Context(), query, args...).Scan(&n); err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	return n
}

// fill makes project id with screens, each with comments, half of them archived, and
// returns how many rows there are below it.
func (w *world) fill(id, screens, comments int) int64 {
	w.t.Helper()
	w.exec(`INSERT INTO project (id, user_id, name, name_key, stem_key, created_at, updated_at)
VALUES (?, 1, ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, id, fmt.Sprint("p", id), fmt.Sprint("p", id), fmt.Sprint("p", id))
	var values []string
	for c := range comments {
		values = append(values, fmt.Sprintf("(@screen, 'c%d', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", c))
	}
	for s := range screens {
		table, last, more := "screen", "", ""
		if s%2 == 1 {
			table, last, more = "screen_archive", ", archived_at", ", UTC_TIMESTAMP(6)"
		}
		screen := id*10000 + s
		w.exec(fmt.Sprintf(`INSERT INTO %s (id, project_id, filename, base, stem_key, created_at, updated_at%s)
VALUES (%d, %d, 's%d', 's%d', 's%d', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)%s)`, table, last, screen, id, s, s, s, more))
		if len(values) > 0 {
			w.exec("INSERT INTO comment (screen_id, body, created_at, updated_at) VALUES " +
				strings.ReplaceAll(strings.Join(values, ", "), "@screen", fmt.Sprint(screen)))
		}
	}
	return int64(screens + screens*comments)
}

// rows is how many rows the plan's tables have.
func (w *world) rows() int64 {
	w.t.Helper()
	return w.number(`SELECT (SELECT COUNT(*) FROM project) + (SELECT COUNT(*) FROM project_archive) + (SELECT COUNT(*) FROM screen)
 + (SELECT COUNT(*) FROM screen_archive) + (SELECT COUNT(*) FROM comment)`)
}

// executing waits until n statements with all of the parts are executed.
func (w *world) executing(n int, parts ...string) {
	w.t.Helper()
	dbtest.Eventually(w.t, 60*time.Second, func() (bool, string) {
		ids := dbtest.Executing(w.t, w.db, parts...)
		return len(ids) == n, fmt.Sprintf("%d statements with %q are executed, want %d", len(ids), parts, n)
	})
}

// eventually waits until the number that the query returns is what want says.
func (w *world) eventually(what, query string, want func(int64) bool) {
	w.t.Helper()
	dbtest.Eventually(w.t, 60*time.Second, func() (bool, string) {
		n := w.number(query)
		return want(n), fmt.Sprintf("%s: %d", what, n)
	})
}
