package repo_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type Tool struct {
	ID int64 `db:"id"`
}

// TestNoColumns: a resource may have no column but its id.
func TestNoColumns(t *testing.T) {
	db, ctx := dbtest.Open(t), t.Context()
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	plan := schema.Plan{Resources: []schema.Resource{{Name: "tool", Archive: "tool_archive"}, {Name: "nail"}}}
	for _, stmt := range plan.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	for _, name := range []string{"tool", "nail"} {
		tools := must(repo.New[Tool](plan, name))
		made := must(tools.Create(ctx, db, Tool{}, repo.RequestID("r"))).Row
		if again := must(tools.Create(ctx, db, Tool{}, repo.RequestID("r"))); !again.Replayed || again.Row.ID != made.ID {
			t.Errorf("%s: created again: %+v", name, again)
		}
		must(tools.Update(ctx, db, made.ID, func(*Tool) error { return nil }))
		if name == "tool" {
			must(tools.Archive(ctx, db, made.ID))
			must(tools.Activate(ctx, db, made.ID))
		}
		must(tools.Delete(ctx, db, made.ID))
		must(tools.Get(ctx, db, must(tools.Create(ctx, db, Tool{})).Row.ID))
	}
}

type Shed struct {
	ID   int64  `db:"id"`
	Name string `db:"name"`
	Door string `db:"door"`
}

// TestMissing: where tables are not those of the plan, an error says what makes them, or what tells the
// difference; the toolkit's own are somebody else's.
func TestMissing(t *testing.T) {
	ctx := t.Context()
	plan := schema.Plan{Resources: []schema.Resource{{Name: "shed", Columns: []schema.Column{
		{Name: "name", Type: "VARCHAR(40) NOT NULL"}, {Name: "door", Type: "VARCHAR(40) NOT NULL"},
	}}}}
	sheds := must(repo.New[Shed](plan, "shed"))
	create := func(db *sql.DB) error {
		return second(sheds.Create(ctx, db, Shed{Name: "a"}, repo.RequestID("r")))
	}
	const verify = " (live.Verify says how the plan and the tables differ)"
	for name, c := range map[string]struct {
		make func(db *sql.DB)
		ends string
	}{
		"no migrations": {func(*sql.DB) {}, ".onerow_request' doesn't exist (migrations.Up makes the toolkit's tables)"},
		"no table": {func(db *sql.DB) {
			must(0, migrations.Up(ctx, db))
		}, ".shed' doesn't exist" + verify},
		"no column": {func(db *sql.DB) {
			must(0, migrations.Up(ctx, db))
			for _, stmt := range plan.DDL() {
				dbtest.Exec(t, db, stmt)
			}
			dbtest.Exec(t, db, "ALTER TABLE shed DROP COLUMN door")
		}, verify},
		"a column that wants a value": {func(db *sql.DB) {
			must(0, migrations.Up(ctx, db))
			for _, stmt := range plan.DDL() {
				dbtest.Exec(t, db, stmt)
			}
			dbtest.Exec(t, db, "ALTER TABLE shed ADD COLUMN floor VARCHAR(40) NOT NULL")
		}, "Field 'floor' doesn't have a default value" + verify},
	} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.Open(t)
			c.make(db)
			if err := create(db); err == nil || !strings.HasSuffix(err.Error(), c.ends) || strings.Count(err.Error(), "(live") > 1 {
				t.Errorf("%v", err)
			}
		})
	}
}
