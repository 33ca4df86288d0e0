package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade/internal/fit"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

type migrateCmd struct {
	Up     migrateUpCmd     `cmd:"" help:"Create what is missing of the toolkit's tables."`
	Down   migrateDownCmd   `cmd:"" help:"Remove the toolkit's tables and what is in them."`
	Status migrateStatusCmd `cmd:"" help:"List the migrations and which of them the database has."`
}

// Help is the command's longer description.
func (migrateCmd) Help() string {
	return `The toolkit's tables begin with onerow_ and live beside the application's own
migrations. The tables of the plan are not touched: see the command ddl.

Examples:

    cascade-worker migrate up
    cascade-worker migrate status
    cascade-worker migrate down --yes`
}

type migrateUpCmd struct{}

// Run applies what is missing; it may be run twice, and by several at once.
func (migrateUpCmd) Run(ctx context.Context, a *app) (err error) {
	db, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	missing, err := fit.Pending(ctx, db)
	if err != nil {
		return err
	}
	if err := migrations.Up(ctx, db); err != nil {
		return err
	}
	line := "the toolkit's tables are up to date"
	if missing > 0 {
		line += fmt.Sprintf(": %s applied", output.Plural(missing, "migration"))
	}
	_, err = fmt.Fprintln(a.stdout, line)
	return err
}

type migrateDownCmd struct {
	Yes bool `help:"Do it: jobs, audit, request ids and quota marks are lost."`
}

// Run removes the tables.
func (c *migrateDownCmd) Run(ctx context.Context, a *app) (err error) {
	if !c.Yes {
		return usage.Errorf("migrate down removes the toolkit's tables with all jobs, open ones too, and the audit of deletions: add --yes to do it")
	}
	db, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := migrations.Down(ctx, db); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, "the toolkit's tables are removed")
	return err
}

type migrateStatusCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Run lists the migrations. It only reads, and missing migrations are no failure.
func (c *migrateStatusCmd) Run(ctx context.Context, a *app) (err error) {
	db, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	all, err := migrations.Status(ctx, db)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(a, all)
	}
	rows := make([][]string, len(all))
	for i, m := range all {
		at := "missing: run " + output.ProgramName + " migrate up"
		if m.Applied {
			at = output.Moment(m.AppliedAt) + " UTC"
		}
		rows[i] = []string{fmt.Sprint(m.Version), m.Name, at}
	}
	return output.Table(a.stdout, []string{">VERSION", "MIGRATION", "APPLIED"}, rows)
}

type ddlCmd struct {
	planFlag
	Trash bool `help:"Print the tables instead that keep deleted rows, of which the database has none yet."`
}

// Help is the command's longer description.
func (ddlCmd) Help() string {
	return `A migration of the application's own, for goose; the worker never creates or alters these
tables. Needs no database, but for --trash: a trash table has the columns of its table as the
database has them.

Examples:

    cascade-worker ddl --plan plan.yaml > migrations/0007_projects.sql
    cascade-worker ddl --plan plan.yaml --trash > migrations/0008_trash.sql`
}

// Run prints the statements.
func (c *ddlCmd) Run(ctx context.Context, a *app) error {
	plan, err := a.plan(c.planFlag)
	if err != nil {
		return err
	}
	if c.Trash {
		return c.trash(ctx, a, plan)
	}
	_, err = fmt.Fprintln(a.stdout, gooseUp+statements(plan))
	return err
}

// trash prints the trash tables that are missing.
func (c *ddlCmd) trash(ctx context.Context, a *app, plan schema.Plan) (err error) {
	if len(plan.Kept()) == 0 {
		return usage.Errorf("the plan keeps no deleted rows: say trash: 30d in it")
	}
	db, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	cat, err := live.Inspect(ctx, db)
	if err != nil {
		return err
	}
	ddl, err := cat.TrashDDL(plan)
	if err != nil {
		return err
	}
	if len(ddl) == 0 {
		_, err = fmt.Fprintln(a.stdout, gooseUp+"-- the trash tables are there; cascade-worker verify compares them")
		return err
	}
	_, err = fmt.Fprintln(a.stdout, gooseUp+strings.Join(ddl, ";\n\n")+";")
	return err
}

// gooseUp makes a file that goose takes; to all others it is a comment. There is no part for Down: it would
// drop the tables where somebody has mysql read the file.
const gooseUp = "-- +goose Up\n"

const noResources = "-- the plan has no resources; its tables exist already"

func statements(plan schema.Plan) string {
	ddl := plan.DDL()
	if len(ddl) == 0 {
		return noResources
	}
	return strings.Join(ddl, ";\n\n") + ";"
}
