package tables

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/adopt"
)

// Adopt prints the migrations that make a resource of a table, or fills in its keys.
type Adopt struct {
	shell.PlanFlag
	shell.ThrottleFlags
	Resource string `arg:"" help:"The resource of the plan that your table is to become."`
	Out      string `placeholder:"DIR" help:"Write the files into this folder instead of printing them; none is overwritten."`
	Number   int64  `placeholder:"N" help:"The number of the first file (1, or the one behind the last in --out)."`
	Backfill bool   `help:"Fill in the keys of names, instead of printing files: between the files before it and those behind it."`
	Copies   bool   `help:"With --backfill: rename rows whose name is taken to \"Name (Copy 1)\", as activating them would."`
}

// Run prints files, or fills in keys.
func (c *Adopt) Run(ctx context.Context, a *shell.App, plan schema.Plan, db shell.BareDB) error {
	if _, err := plan.Resource(c.Resource); err != nil {
		var names []string
		for _, r := range plan.Resources {
			names = append(names, r.Name)
		}
		return usage.Errorf("the plan has no resource %q; it has %s", c.Resource, strings.Join(names, ", "))
	}
	if c.Backfill {
		return c.backfill(ctx, a, db.DB, plan)
	}
	found, err := adopt.Prepare(ctx, db, plan, c.Resource)
	if err != nil {
		return err
	}
	return c.files(a, found)
}

// Validate tells printing from filling in.
func (c *Adopt) Validate() error {
	throttled := c.Load != nil || c.MaxLag != 0 || c.MaxThreadsRunning != 0 || len(c.Replica)+len(c.ThrottleQuery) > 0
	switch {
	case !c.Backfill && (c.Copies || throttled):
		return usage.Errorf("--copies and throttles are for --backfill; printing files changes nothing")
	case c.Backfill && (c.Out != "" || c.Number != 0):
		return usage.Errorf("--out and --number are for files, which --backfill does not write")
	case c.Number < 0:
		return usage.Errorf("--number is %d; it should be 1 or more", c.Number)
	}
	return nil
}

// files prints or writes the files, or says what stands against them.
func (c *Adopt) files(a *shell.App, found *adopt.Adoption) error {
	var b strings.Builder
	for _, d := range found.Against {
		fmt.Fprintf(&b, "  - %s\n      %s\n", output.OneLine(d.Table+": "+part(d)+d.Problem), output.OneLine(fix(d)))
	}
	if b.Len() > 0 {
		if err := a.Say("before %s can be adopted:\n%s\nno file is printed before this is seen to", c.Resource, b.String()); err != nil {
			return err
		}
		return shell.ErrReported
	}
	if len(found.Steps) == 0 {
		return a.Say("nothing to do: %s has all that the resource %s needs; %s verify looks at the rest", found.Resource.Active, c.Resource, output.ProgramName)
	}
	if c.Out != "" {
		return c.write(a, found)
	}
	for _, note := range found.Notes {
		fmt.Fprintf(&b, "-- note: %s\n", output.OneLine(note))
	}
	for name, text := range adopt.Files(found, max(c.Number, 1)) {
		fmt.Fprintf(&b, "\n-- %s %s\n%s", strings.Repeat("=", 8), name, text)
	}
	return a.Print(strings.TrimPrefix(b.String(), "\n"))
}

// backfill fills in what no DDL can.
func (c *Adopt) backfill(ctx context.Context, a *shell.App, db *sql.DB, plan schema.Plan) error {
	throttles, err := a.Throttles(c.ThrottleFlags)
	if err != nil {
		return err
	}
	show := shell.NewCounter(a)
	pace := shell.NewPacer(a, db, shell.OrZero(c.Load), throttles, show)
	report, err := adopt.Backfill(ctx, db, plan, c.Resource, adopt.Options{Copies: c.Copies, OnPage: func(ctx context.Context, r adopt.Report) error {
		show.Say(func() string {
			return fmt.Sprintf("%s: %s read, %s, now %s", r.Table, output.Plural(int(r.Rows), "row"), output.Plural(int(r.Written+r.Copied), "write"), r.Last)
		})
		return pace.Wait(ctx)
	}})
	if errors.Is(err, adopt.ErrNotReady) {
		return output.Said(fmt.Sprintf("%s is not ready for the backfill: %s; see %s adopt %s", c.Resource, output.Detail(err, adopt.ErrNotReady), output.ProgramName, c.Resource), err)
	}
	if err != nil {
		return errors.Join(err, a.Note("%s; run it again", output.Plural(int(report.Written+report.Copied), "write")))
	}
	return c.printReport(a, report)
}

// printReport prints the rows that were left, and how it ended.
func (c *Adopt) printReport(a *shell.App, r adopt.Report) error {
	var b strings.Builder
	for _, l := range r.Left {
		line := output.Printable(l.Table + " " + l.ID)
		for _, owner := range l.Owner {
			line += " of " + output.Printable(owner)
		}
		if l.Name != "" {
			line += fmt.Sprintf(", %q", output.Shorten(output.Printable(l.Name), 60))
		}
		fmt.Fprintf(&b, "%s: %s\n", line, output.OneLine(strings.TrimPrefix(l.Err.Error(), "adopt: ")))
	}
	fmt.Fprintf(&b, "%s read, %s, %s renamed", output.Plural(int(r.Rows), "row"), output.Plural(int(r.Written), "write"), output.Grouped(r.Copied))
	switch {
	case r.LeftRows > int64(len(r.Left)):
		fmt.Fprintf(&b, "; of %s left the first %d are listed", output.Grouped(r.LeftRows), len(r.Left))
	case r.LeftRows > 0:
		fmt.Fprintf(&b, "; %s left", output.Grouped(r.LeftRows))
	}
	switch {
	case r.LeftRows > 0:
		b.WriteString(": see to them and run it again (--copies renames those whose name is taken)")
	case r.Behind > 0:
		fmt.Fprintf(&b, "; %s behind in the last pass: others write names without keys, run it again when they have stopped", output.Grouped(r.Behind))
	default:
		b.WriteString("; each row has all that it needs")
	}
	if err := a.Say("%s", b.String()); err != nil {
		return err
	}
	if !r.Whole {
		return shell.ErrReported
	}
	return nil
}

// write makes the files in --out, all or none.
func (c *Adopt) write(a *shell.App, found *adopt.Adoption) error {
	list, err := os.ReadDir(c.Out)
	if err != nil {
		return usage.Errorf("--out: %w", err)
	}
	last, there := int64(0), map[string]string{} // by what stands behind the number
	for _, entry := range list {
		number, rest, ok := strings.Cut(entry.Name(), "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if !ok || err != nil {
			continue
		}
		last, there[rest] = max(last, n), entry.Name()
	}
	first := c.Number
	if first == 0 {
		first = last + 1
	}
	files := adopt.Files(found, first)
	for name := range files {
		_, rest, _ := strings.Cut(name, "_")
		if other := there[rest]; other != "" {
			return usage.Errorf("--out has %s already, and the database lacks what it makes: run it; if it was run and undone since, remove it, so that it is written anew", other)
		}
	}
	var b strings.Builder
	var made []string
	for name, text := range files {
		path, i := filepath.Join(c.Out, name), len(made)
		if err := create(path, text); err != nil {
			for _, path := range made {
				err = errors.Join(err, os.Remove(path))
			}
			return err
		}
		made = append(made, path)
		mark := ""
		if found.Steps[i].Last && (i == 0 || !found.Steps[i-1].Last) {
			mark = fmt.Sprintf("  (before this one: %s adopt %s --backfill)", output.ProgramName, c.Resource)
		}
		fmt.Fprintf(&b, "%s%s\n", name, mark)
	}
	for _, note := range found.Notes {
		fmt.Fprintf(&b, "note: %s\n", output.OneLine(note))
	}
	return a.Print(b.String())
}

// create writes a file that is not there yet.
func create(name, text string) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a migration is read by others
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(text)
	return err
}
