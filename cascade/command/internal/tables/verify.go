// Package tables has the commands about the plan and the database's tables: discover, adopt, verify, doctor,
// ddl and migrate.
//
// Open this package when a command about the plan or the database's tables changes.
package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/erasure"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/migrations/ddl"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// Verify compares the database with the plan.
type Verify struct {
	shell.PlanFlag
	Grants  string `placeholder:"USER@HOST" help:"Only print the GRANT statements that let this user run the worker by the plan."`
	Purge   bool   `help:"With --grants: those for purging, too."`
	Restore bool   `help:"With --grants: those for restore, too, which the worker itself does not need."`
	Erasure string `placeholder:"RESOURCE" help:"Only look for columns that may name its rows, or what goes with them, and on which the plan decides nothing."`
}

// Run prints the differences, and what the worker needs.
func (c *Verify) Run(ctx context.Context, a *shell.App, plan schema.Plan) error {
	switch {
	case c.Erasure != "" && (c.Grants != "" || c.Purge || c.Restore):
		return usage.Errorf("--erasure is asked alone")
	case c.Grants != "":
		return c.printGrants(a, plan)
	case c.Purge:
		return usage.Errorf("--purge needs --grants: whose rights?")
	case c.Restore:
		return usage.Errorf("--restore needs --grants: whose rights?")
	}
	db, err := a.Open(ctx)
	if err != nil {
		return err
	}
	if c.Erasure != "" {
		return erasure.Verify(ctx, a, db, plan, c.Erasure)
	}
	var found []live.Difference
	var differs *live.VerifyError
	if err = live.Verify(ctx, db, plan); errors.As(err, &differs) {
		found = differs.Differences
	} else if err != nil {
		return err
	}
	access, err := live.VerifyPrivileges(ctx, db, plan, live.Privileges(plan))
	if err != nil {
		return err
	}
	found = append(found, access.Missing...)
	if err := printAccess(a, access, absent(found)); err != nil {
		return err
	}
	lines, found := summarizeAbsent(plan, a.Database(), found)
	for _, line := range lines {
		if err := a.Say("%s", line); err != nil {
			return err
		}
	}
	switch {
	case len(found) > 0:
		return printDifferences(a, found)
	case len(lines) > 0:
		return shell.ErrReported
	}
	if err := a.Say("ok: the database is as the plan declares it (%s)", planSize(plan)); err != nil {
		return err
	}
	return noteAssets(a, plan)
}

// noteAssets says of assets, whose place nobody has named, that run will ask for it.
func noteAssets(a *shell.App, plan schema.Plan) error {
	for _, n := range plan.Nodes() {
		if n.Asset != "" && a.Getenv(shell.EnvAssets) == "" {
			return a.Note("%q names its assets in the column %q: run needs --assets or %s", n.Name, n.Asset, shell.EnvAssets)
		}
	}
	return nil
}

// planSize is "2 resources, 5 tables, 6 edges".
func planSize(plan schema.Plan) string {
	size := output.Plural(edgesOf(plan), "edge")
	if n := len(plan.Tables); n > 0 {
		size = output.Plural(n, "table") + ", " + size
	}
	if n := len(plan.Resources); n > 0 {
		size = output.Plural(n, "resource") + ", " + size
	}
	return size
}

// printAccess prints what the worker needs, as far as it was proved, and what this user may not be shown.
func printAccess(a *shell.App, access live.Access, lacks map[string]bool) error {
	lacks["onerow_goose_version"] = lacks["onerow_job"] // made together; a right that the database gives says nothing
	for _, d := range access.Missing {
		lacks[d.Table] = true
	}
	var b strings.Builder
	for _, p := range access.Needs {
		if !lacks[p.Table] {
			fmt.Fprintf(&b, "needs: %s (proved)\n", output.OneLine(strings.Join(p.Rights, ", ")+" on "+p.Table))
		}
	}
	for _, n := range access.Blind {
		fmt.Fprintf(&b, "not seen: %s\n", output.OneLine(n.Text))
	}
	return a.Print(b.String())
}

// printGrants needs the name of the database, but no connection.
func (c *Verify) printGrants(a *shell.App, plan schema.Plan) error {
	cfg, err := shell.ParseDSN(a.DSN)
	if err != nil {
		return err
	}
	if name, _, _ := strings.Cut(c.Grants, "@"); name == "" {
		return usage.Errorf("--grants %q names no user; it should be like worker@10.0.0.%%", c.Grants)
	}
	var b strings.Builder
	needs := live.Privileges(plan)
	if c.Purge {
		needs = append(needs, live.PurgePrivileges()...)
	}
	if c.Restore {
		needs = append(needs, live.RestorePrivileges(plan)...)
	}
	for _, p := range needs {
		fmt.Fprintf(&b, "%s;\n", output.OneLine(p.Grant(cfg.DBName, c.Grants)))
	}
	return a.Print(b.String())
}

// printDifferences prints what differs, table by table, and what to do about it.
func printDifferences(a *shell.App, found []live.Difference) error {
	var b strings.Builder
	table := ""
	for _, d := range found {
		if d.Table != table {
			table = d.Table
			fmt.Fprintf(&b, "%s\n", output.Printable(table))
		}
		fmt.Fprintf(&b, "  - %s\n      %s\n", output.OneLine(part(d)+d.Problem), output.OneLine(fix(d)))
	}
	fmt.Fprintf(&b, "\n%s between the database and the plan", output.Plural(len(found), "difference"))
	if err := a.Say("%s", b.String()); err != nil {
		return err
	}
	return shell.ErrReported
}

// fix is what to do, in the words of this program.
func fix(d live.Difference) string {
	return strings.ReplaceAll(d.Fix, "Plan.DDL returns", output.ProgramName+" ddl prints")
}

// part names what of the table differs.
func part(d live.Difference) string {
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

// absent are the tables that are not there at all, about which nothing else is to be said.
func absent(found []live.Difference) map[string]bool {
	tables := map[string]bool{}
	for _, d := range found {
		if d.Absent {
			tables[d.Table] = true
		}
	}
	return tables
}

// summarizeAbsent says what a database lacks that has no table of the plan, or none of the toolkit, and
// returns the other differences.
func summarizeAbsent(plan schema.Plan, database string, found []live.Difference) (lines []string, rest []live.Difference) {
	gone := absent(found)
	var ours []string
	for _, n := range plan.Nodes() {
		ours = append(ours, n.Tables...)
	}
	toolkit := !slices.ContainsFunc([]string{"onerow_job", "onerow_worker", "onerow_deletion"}, func(name string) bool { return !gone[name] })
	if toolkit {
		lines = append(lines, fmt.Sprintf("the toolkit's tables are not there: run %s migrate up", output.ProgramName))
	}
	nothing := !slices.ContainsFunc(ours, func(name string) bool { return !gone[name] })
	if nothing {
		lines = append(lines, output.OneLine(fmt.Sprintf("none of the plan's tables is in the database %s (%s): is it the wrong one? If it is new: %s ddl prints them",
			database, strings.Join(ours, ", "), output.ProgramName)))
	}
	for _, d := range found {
		switch {
		case toolkit && ddl.Has(d.Table), nothing && slices.Contains(ours, d.Table): // said
		case gone[d.Table] && !d.Absent: // such as rights on what is not there
		default:
			rest = append(rest, d)
		}
	}
	return lines, rest
}
