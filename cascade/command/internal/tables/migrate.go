package tables

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/fit"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// Migrate creates, removes or lists the toolkit's own tables.
type Migrate struct {
	Up     migrateUpCmd     `cmd:"" help:"Create what is missing of the toolkit's tables."`
	Down   migrateDownCmd   `cmd:"" help:"Remove the toolkit's tables and what is in them."`
	Status migrateStatusCmd `cmd:"" help:"List the migrations and which of them the database has."`
	SQL    migrateSQLCmd    `cmd:"" name:"sql" help:"Print the statements of migrate up, for another migration tool."`
}

type migrateUpCmd struct{}

// Run applies what is missing; it may be run twice, and by several at once.
func (migrateUpCmd) Run(ctx context.Context, a *shell.App, db shell.BareDB) error {
	missing, err := fit.Pending(ctx, db.DB)
	if err == nil {
		err = migrations.Up(ctx, db.DB)
	}
	if err != nil {
		return needing("SELECT, INSERT and CREATE", err)
	}
	line := "the toolkit's tables are up to date"
	if missing > 0 {
		line += fmt.Sprintf(": %s applied", output.Plural(missing, "migration"))
	}
	return a.Say("%s", line)
}

const erTableAccessDenied = 1142

// needing says which rights a migration needs, where the server has refused it for want of one.
func needing(rights string, err error) error {
	if mysqlerr.Number(err) == erTableAccessDenied {
		return fmt.Errorf("%w; it needs %s on the database: grant them to this user, or run it as one who has them", err, rights)
	}
	return err
}

type migrateDownCmd struct {
	Yes bool `help:"Do it: jobs, audit, request ids and quota marks are lost."`
}

// Validate wants a second word.
func (c *migrateDownCmd) Validate() error {
	if !c.Yes {
		return usage.Errorf("migrate down removes the toolkit's tables with all jobs, open ones too, and the audit of deletions: add --yes to do it")
	}
	return nil
}

func (c *migrateDownCmd) Run(ctx context.Context, a *shell.App, db shell.BareDB) error {
	if err := migrations.Down(ctx, db.DB); err != nil {
		return needing("SELECT, DELETE and DROP", err)
	}
	return a.Say("the toolkit's tables are removed")
}

type migrateStatusCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Run lists the migrations. It only reads, and missing migrations are no failure.
func (c *migrateStatusCmd) Run(ctx context.Context, a *shell.App, db shell.BareDB) error {
	all, err := migrations.Status(ctx, db.DB)
	if err != nil {
		return err
	}
	return shell.PrintList(a, c.JSON, all, "", []string{">VERSION", "MIGRATION", "APPLIED"}, func(m migrations.Migration) []string {
		at := "missing: run " + output.ProgramName + " migrate up"
		if m.Applied {
			at = output.Moment(m.AppliedAt) + " UTC"
		}
		return []string{fmt.Sprint(m.Version), m.Name, at}
	})
}

type migrateSQLCmd struct {
	Down bool `help:"Print those that remove the toolkit's tables instead."`
}

// Run prints the statements, and needs no database.
func (c *migrateSQLCmd) Run(a *shell.App) error {
	text, down, err := migrations.SQL()
	if err != nil {
		return err
	}
	if c.Down {
		text = down
	}
	return a.Say("%s", strings.TrimSuffix(text, "\n"))
}

// DDL prints the statements that create the plan's tables.
type DDL struct {
	shell.PlanFlag
	Trash bool `help:"Print the tables instead that keep deleted rows, of which the database has none yet."`
}

// Run prints the statements.
func (c *DDL) Run(ctx context.Context, a *shell.App, plan schema.Plan) (err error) {
	ddl, none := plan.DDL(), NoResources
	if c.Trash {
		none = "-- the trash tables are there; cascade-worker verify compares them"
		if ddl, err = trashDDL(ctx, a, plan); err != nil {
			return err
		}
	}
	if len(ddl) == 0 {
		return a.Say("%s", GooseUp+none)
	}
	return a.Say("%s", GooseUp+strings.Join(ddl, ";\n\n")+";")
}

// trashDDL makes the trash tables that are missing.
func trashDDL(ctx context.Context, a *shell.App, plan schema.Plan) ([]string, error) {
	if len(plan.Kept()) == 0 {
		return nil, usage.Errorf("the plan keeps no deleted rows: say trash: 30d in it")
	}
	db, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	cat, err := catalog.Read(ctx, db)
	if err != nil {
		return nil, err
	}
	return cat.TrashDDL(plan)
}

// GooseUp makes a file that goose takes; to all others it is a comment. There is no part for Down: it would
// drop the tables where somebody has mysql read the file.
const GooseUp = "-- +goose Up\n"

// NoResources is printed where nothing is to be created.
const NoResources = "-- the plan has no resources; its tables exist already"
