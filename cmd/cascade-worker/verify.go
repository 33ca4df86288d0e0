package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/schema"
)

type verifyCmd struct{ planFlag }

// Help is the command's longer description.
func (verifyCmd) Help() string {
	return `Compares the tables of the plan, their columns, indexes and foreign keys, and the
toolkit's own tables with what the database has. Prints each difference with what to
do about it and exits with 1 if there is one. It only reads.

Examples:

    cascade-worker verify --plan plan.yaml
    cascade-worker verify --plan plan.yaml && cascade-worker run --plan plan.yaml`
}

// Run prints the differences.
func (c *verifyCmd) Run(ctx context.Context, a *app) (err error) {
	plan, err := a.plan(c.planFlag)
	if err != nil {
		return err
	}
	db, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	err = schema.Verify(ctx, db, plan)
	var differs *schema.VerifyError
	switch {
	case errors.As(err, &differs):
		return printDifferences(a, differs.Differences)
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "ok: the database is as the plan declares it (%s)\n", plural(len(plan.Resources), "resource"))
	return err
}

// printDifferences prints what differs, table by table, and what to do about it.
func printDifferences(a *app, found []schema.Difference) error {
	var b strings.Builder
	table := ""
	for _, d := range found {
		if d.Table != table {
			table = d.Table
			fmt.Fprintf(&b, "%s\n", printable(table))
		}
		fmt.Fprintf(&b, "  - %s\n      %s\n", oneLine(part(d)+d.Problem), oneLine(fix(d)))
	}
	fmt.Fprintf(&b, "\n%s between the database and the plan", plural(len(found), "difference"))
	if _, err := fmt.Fprintln(a.stdout, b.String()); err != nil {
		return err
	}
	return errReported
}

// fix is what to do, in the words of this program.
func fix(d schema.Difference) string {
	return strings.ReplaceAll(d.Fix, "Plan.DDL returns", programName+" ddl prints")
}

// part names what of the table differs.
func part(d schema.Difference) string {
	switch {
	case d.Column != "" && d.Index != "":
		return fmt.Sprintf("column %s, index %s: ", d.Column, d.Index)
	case d.Column != "":
		return fmt.Sprintf("column %s: ", d.Column)
	case d.Index != "":
		return fmt.Sprintf("index %s: ", d.Index)
	}
	return ""
}
