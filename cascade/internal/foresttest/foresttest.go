// Package foresttest has the tables and rows that tests of package cascade and of the rooms beside it share:
// a plan with pairs of tables, leaves, an asset and a quota, and trees of any size below its projects. It
// brings the testing package: only tests import it.
//
// Open this package when a test of the engine needs another tree.
package foresttest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/schema"
)

// Plan is the forest:
//
//	project ─┬─ screen (pair, asset) ─┬─ comment (pair) ─── reaction (leaf, pair)
//	         ├─ note (leaf)           └─ tag (leaf)
//	         └─ widget (quota of the user who stays)
//
// Each call makes one of its own.
func Plan() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{
		{Name: "project", Archive: "project_archive", Owner: "user_id", Quota: schema.Quota{Flag: "is_over_quota"}},
		{Name: "screen", Archive: "screen_archive", Parent: schema.Parent{Resource: "project", Column: "project_id"},
			Asset: "blob_key", Columns: []schema.Column{{Name: "blob_key", Type: "VARCHAR(200) NULL"}}},
		{Name: "comment", Archive: "comment_archive", Parent: schema.Parent{Resource: "screen", Column: "screen_id"}},
		{Name: "reaction", Archive: "reaction_archive", Parent: schema.Parent{Resource: "comment", Column: "comment_id"}},
		{Name: "tag", Parent: schema.Parent{Resource: "screen", Column: "screen_id"}},
		{Name: "note", Parent: schema.Parent{Resource: "project", Column: "project_id"}},
		{Name: "widget", Owner: "user_id", Parent: schema.Parent{Resource: "project", Column: "project_id"}, Quota: schema.Quota{Flag: "is_over_quota"}},
	}}
}

// Settings are the sessions under which everything must hold, at each of racetest.Levels.
func Settings() map[string][]dbtest.Option {
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
}

// Each runs a test on a forest under each of the settings.
func Each(t *testing.T, test func(t *testing.T, db *sql.DB)) {
	t.Helper()
	for name, opts := range Settings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, Open(t, opts...))
		})
	}
}

// Open is a database with the toolkit's tables and the forest's.
func Open(t testing.TB, opts ...dbtest.Option) *sql.DB {
	t.Helper()
	db := dbtest.Open(t, opts...)
	Plant(t, db)
	return db
}

// Plant makes the toolkit's tables and the forest's.
func Plant(t testing.TB, db *sql.DB) {
	t.Helper()
	dbtest.Toolkit(t, db, dbtest.OfQueue()...)
	for _, stmt := range Plan().DDL() {
		dbtest.Exec(t, db, stmt)
	}
}

// Insert puts a row, with given id and parent, into a table.
func Insert(t testing.TB, db onerow.DB, table string, values map[string]any) {
	t.Helper()
	if err := InsertRow(t.Context(), db, table, values); err != nil {
		t.Fatalf("insert into %s: %v", table, err)
	}
}

// InsertRow is Insert where there is no test to fail.
func InsertRow(ctx context.Context, db onerow.DB, table string, values map[string]any) error {
	columns, marks, args := "created_at, updated_at", "UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)", []any{}
	if strings.HasSuffix(table, "_archive") {
		columns, marks = columns+", archived_at", marks+", UTC_TIMESTAMP(6)"
	}
	for column, v := range values {
		columns, marks, args = columns+", "+ident.Quote(column), marks+", ?", append(args, v)
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", ident.Quote(table), columns, marks), args...)
	return err
}

// Project puts the active row of a project in.
func Project(t testing.TB, db onerow.DB, id int64) {
	t.Helper()
	Insert(t, db, "project", map[string]any{"id": id, "user_id": 7})
}

// either is the active table of a pair for even i, the archive for odd i.
func either(table string, i int64) string {
	if i%2 == 1 {
		return table + "_archive"
	}
	return table
}

// Grow plants everything below project id: so many screens, each with so many comments, each with so many
// reactions, and so many notes and widgets. Ids start at id*100000. It returns the number of rows by table.
func Grow(t testing.TB, db *sql.DB, id, screens, comments, reactions, others int64) map[string]int64 {
	t.Helper()
	rows := map[string]int64{}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	put := func(table string, values map[string]any) {
		Insert(t, tx, table, values)
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

// Rows counts what is below a project, by the ids that Grow gives.
func Rows(t testing.TB, db *sql.DB, id int64) map[string]int64 {
	t.Helper()
	rows, plan := map[string]int64{}, Plan()
	from, to := id*100000, (id+1)*100000
	for _, name := range plan.Names()[1:] {
		r, err := plan.Resource(name) // with its defaults
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range r.Tables() {
			column, lo, hi := r.Parent.Column, from, to
			if r.Parent.Resource == "project" {
				lo, hi = id, id+1
			}
			n := dbtest.Scan[int64](t, db, fmt.Sprintf("SELECT COUNT(*) FROM %s WHERE %s >= %d AND %[2]s < %[4]d", ident.Quote(table), ident.Quote(column), lo, hi))
			if n > 0 {
				rows[table] = n
			}
		}
	}
	return rows
}
