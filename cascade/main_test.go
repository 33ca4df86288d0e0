package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// forest: project ─┬─ screen (pair, asset) ─┬─ comment (pair) ─── reaction (leaf, pair)
//
//	├─ note (leaf)            └─ tag (leaf)
//	└─ widget (quota of the user who stays)
var forest = schema.Plan{Resources: []schema.Resource{
	{Name: "project", Archive: "project_archive", Owner: "user_id", Quota: schema.Quota{Flag: "is_over_quota"}},
	{Name: "screen", Archive: "screen_archive", Parent: schema.Parent{Resource: "project", Column: "project_id"},
		Asset: "blob_key", Columns: []schema.Column{{Name: "blob_key", Type: "VARCHAR(200) NULL"}}},
	{Name: "comment", Archive: "comment_archive", Parent: schema.Parent{Resource: "screen", Column: "screen_id"}},
	{Name: "reaction", Archive: "reaction_archive", Parent: schema.Parent{Resource: "comment", Column: "comment_id"}},
	{Name: "tag", Parent: schema.Parent{Resource: "screen", Column: "screen_id"}},
	{Name: "note", Parent: schema.Parent{Resource: "project", Column: "project_id"}},
	{Name: "widget", Owner: "user_id", Parent: schema.Parent{Resource: "project", Column: "project_id"}, Quota: schema.Quota{Flag: "is_over_quota"}},
}}

// settings are the sessions under which everything must hold, at each of racetest.Levels.
var settings = func() map[string][]dbtest.Option {
	all := map[string][]dbtest.Option{}
	for _, level := range racetest.Levels() {
		name, opts := "read committed", []dbtest.Option{dbtest.Isolation(level)}
		if level == sql.LevelRepeatableRead {
			name, opts = "repeatable read, clientFoundRows", append(opts, dbtest.Param("clientFoundRows", "true"),
				dbtest.Param("interpolateParams", "false"), dbtest.Param("parseTime", "true"), dbtest.Param("loc", "Asia%2FTokyo"))
		}
		all[name] = opts
	}
	return all
}()

// each runs a test under each of the settings.
func each(t *testing.T, test func(t *testing.T, db *sql.DB)) {
	for name, opts := range settings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, openForest(t, opts...))
		})
	}
}

func openForest(t testing.TB, opts ...dbtest.Option) *sql.DB {
	t.Helper()
	db := dbtest.Open(t, opts...)
	plant(t, db)
	return db
}

// plant makes the tables.
func plant(t testing.TB, db *sql.DB) {
	t.Helper()
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range forest.DDL() {
		dbtest.Exec(t, db, stmt)
	}
}

func count(t testing.TB, db onerow.DB, query string, args ...any) (n int64) {
	t.Helper()
	if err := onerow.QueryRow(t.Context(), db, query, args, &n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// insert is the statement that puts a row, with given id and parent, into a table.
func insert(t testing.TB, db onerow.DB, table string, values map[string]any) {
	t.Helper()
	if err := insertRow(t.Context(), db, table, values); err != nil {
		t.Fatalf("insert into %s: %v", table, err)
	}
}

func insertRow(ctx context.Context, db onerow.DB, table string, values map[string]any) error {
	columns, marks, args := "created_at, updated_at", "UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)", []any{}
	if strings.HasSuffix(table, "_archive") {
		columns, marks = columns+", archived_at", marks+", UTC_TIMESTAMP(6)"
	}
	for column, v := range values {
		columns, marks, args = columns+", "+schema.Quote(column), marks+", ?", append(args, v)
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", schema.Quote(table), columns, marks), args...)
	return err
}

// moveColumns copies a job into the archive; the time of its end follows.
const moveColumns = `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq,
  failures, last_error, created_at, started_at, finished_at)
SELECT id, resource, resource_id, deletion_id, state, due_at, token, worker, batch_seq, failures, last_error, created_at, started_at, `

// either is the active table of a pair for even i, the archive for odd i.
func either(table string, i int64) string {
	if i%2 == 1 {
		return table + "_archive"
	}
	return table
}

// grow plants everything below project id: so many screens, each with so many
// comments, each with so many reactions, and so many notes and widgets. Ids start
// at id*100000. It returns the number of rows by table.
func grow(t testing.TB, db *sql.DB, id, screens, comments, reactions, others int64) map[string]int64 {
	t.Helper()
	rows := map[string]int64{}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	put := func(table string, values map[string]any) {
		insert(t, tx, table, values)
		rows[table]++
	}
	base := id * 100000
	for s := range screens {
		screen := base + s
		put(either("screen", s), map[string]any{"id": screen, "project_id": id, "blob_key": fmt.Sprintf("blob-%d", screen)})
		put("tag", map[string]any{"screen_id": screen})
		for c := range comments {
			comment := base + s*comments + c
			put(either("comment", c), map[string]any{"id": comment, "screen_id": screen})
			for a := range reactions {
				put(either("reaction", a), map[string]any{"id": base + (s*comments+c)*reactions + a, "comment_id": comment})
			}
		}
	}
	for i := range others {
		put("note", map[string]any{"project_id": id})
		put("widget", map[string]any{"project_id": id, "user_id": 70 + i%2})
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// rowsOf counts what is below a project, by its ids.
func rowsOf(t testing.TB, db *sql.DB, id int64) map[string]int64 {
	t.Helper()
	rows := map[string]int64{}
	from, to := id*100000, (id+1)*100000
	for _, r := range belowProject(t) {
		for _, table := range r.Tables() {
			column, lo, hi := r.Parent.Column, from, to
			if r.Parent.Resource == "project" {
				lo, hi = id, id+1
			}
			q := fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s >= ? AND %s < ?", schema.Quote(table), schema.Quote(column), schema.Quote(column))
			if n := count(t, db, q, lo, hi); n > 0 {
				rows[table] = n
			}
		}
	}
	return rows
}

// belowProject are the resources but the first, their defaults filled in.
func belowProject(t testing.TB) []schema.Resource {
	t.Helper()
	var list []schema.Resource
	for _, name := range forest.Names()[1:] {
		r, err := forest.Resource(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func sum(rows map[string]int64) (n int64) {
	for v := range maps.Values(rows) {
		n += v
	}
	return n
}

func key(id int64) string { return fmt.Sprint(id) }

// condemn queues the cascade of a project.
func condemn(t testing.TB, db onerow.DB, id int64, grace time.Duration) queue.Job {
	t.Helper()
	return condemnFrom(t, db, id, grace, "active")
}

func condemnFrom(t testing.TB, db onerow.DB, id int64, grace time.Duration, from string) queue.Job {
	t.Helper()
	d := queue.Deletion{Resource: "project", ResourceID: key(id), Owner: "7", From: from, Grace: grace}
	var err error
	if d.ID, err = queue.Log(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
	job, err := queue.Enqueue(t.Context(), db, d)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func project(t testing.TB, db onerow.DB, id int64) {
	t.Helper()
	insert(t, db, "project", map[string]any{"id": id, "user_id": 7})
}

func get(t testing.TB, db onerow.DB, id int64) queue.Job {
	t.Helper()
	job, err := queue.Get(t.Context(), db, id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// makeDue takes the job's pause, grace period or lease to its end. A worker may write its last at the same
// time.
func makeDue(t testing.TB, db onerow.DB, id int64) {
	t.Helper()
	err := onerow.Alone(t.Context(), db, func(ctx context.Context, db onerow.DB) error {
		_, err := db.ExecContext(ctx, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND WHERE id = ?", id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// shelf is an asset store in memory.
type shelf struct {
	mu      sync.Mutex
	deleted map[string]int
	hook    func(ctx context.Context, names []string) error
}

func (s *shelf) Delete(ctx context.Context, names []string) error {
	if s.hook != nil {
		if err := s.hook(ctx, names); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deleted == nil {
		s.deleted = map[string]int{}
	}
	for _, name := range names {
		s.deleted[name]++
	}
	return nil
}

func (s *shelf) names() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.deleted)
}

func worker(t testing.TB, db *sql.DB, c Config) *Worker {
	t.Helper()
	if c.Assets == nil {
		c.Assets = &shelf{}
	}
	w, err := NewWorker(db, forest, c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// quiet is a worker that has read the catalog already, and whose governor asks nothing and
// writes nothing: what it does depends on the time.
func quiet(t testing.TB, w *Worker) *Worker {
	t.Helper()
	if _, err := w.current(t.Context()); err != nil {
		t.Fatal(err)
	}
	still(w)
	return w
}

// mapped gives a worker the catalog as another one has read it, which takes long.
func mapped(t testing.TB, dsn string, plan schema.Plan) func(*Worker) {
	t.Helper()
	w, err := NewWorker(dbtest.OpenDSN(t, dsn), plan, Config{Assets: &shelf{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.current(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.graphCache.read = time.Now().Add(24 * time.Hour)
	return func(other *Worker) {
		other.graphCache = w.graphCache
		still(other)
	}
}

func still(w *Worker) {
	later := time.Now().Add(24 * time.Hour)
	w.governor.Quiet(later)
	w.cfg.Turn = time.Hour
}

func drain(t testing.TB, w *Worker) {
	t.Helper()
	if err := w.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}
