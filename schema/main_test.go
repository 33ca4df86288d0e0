package schema_test

import (
	"database/sql"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// fullPlan has every kind of resource: a root with names and a quota, file names that are unique below their
// parent, children without an archive, and names of tables and columns that need quoting.
func fullPlan() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{{
		Name: "project", Archive: "project_archive", Owner: "user_id",
		Label:   schema.Label{Column: "name"},
		Quota:   schema.Quota{Flag: "is_over_quota", By: "position"},
		Columns: []schema.Column{{Name: "position", Type: "INT NOT NULL DEFAULT 0"}, {Name: "note", Type: "VARCHAR(80) NOT NULL DEFAULT 'a, b'"}},
		Indexes: []schema.Index{{Columns: []string{"note"}, Unique: true}, {Columns: []string{"position", "note"}}},
	}, {
		Name: "screen", Archive: "screen_archive", Owner: "project_id",
		Label:  schema.Label{Column: "client_filename", Key: "client_filename_base", Kind: names.KindFilename},
		Parent: schema.Parent{Resource: "project", Column: "project_id"}, Asset: "blob",
		Columns: []schema.Column{{Name: "blob", Type: "VARCHAR(255) NULL"}},
	}, {
		Name: "comment", Active: "Comment `of` a \"screen\"", ID: "nummer №", Owner: "author",
		Parent: schema.Parent{Resource: "screen", Column: "screen id"},
		Quota:  schema.Quota{Flag: "over"}, Columns: []schema.Column{{Name: "body", Type: "TEXT NOT NULL"}},
	}}}
}

// plain is fullPlan with names that are accepted (backticks are not).
func plain() schema.Plan {
	plan := fullPlan()
	plan.Resources[2].Active = "Comment of a \"screen\""
	return plan
}

// open makes a schema with the toolkit's tables and the plan's.
func open(t testing.TB, plan schema.Plan) *sql.DB {
	t.Helper()
	db := dbtest.Open(t)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range plan.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	return db
}
