package records

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/serial"
)

// Serials lists series of numbers and finds their gaps.
type Serials struct {
	List serialsListCmd `cmd:"" help:"List the series and their counters."`
	Gaps serialsGapsCmd `cmd:"" help:"Find missing, overlapping and voided numbers of a series."`
}

// Help is the command's longer description.
func (Serials) Help() string {
	return `Series of numbers without gaps, as package serial gives them out.

Examples:

    cascade-worker serials list
    cascade-worker serials gaps invoices-2026`
}

type serialsListCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help is the command's longer description.
func (serialsListCmd) Help() string {
	return `NEXT is the first number that nobody has.

Examples:

    cascade-worker serials list
    cascade-worker serials list --json | jq -r '.[].series' | xargs -n1 cascade-worker serials gaps`
}

// Run prints the series.
func (c *serialsListCmd) Run(ctx context.Context, a *shell.App) (err error) {
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	all := []serial.Counter{}
	for after := ""; ; after = all[len(all)-1].Series {
		const page = 1000
		more, err := serial.List(ctx, db, after, page)
		if err != nil {
			return err
		}
		if all = append(all, more...); len(more) < page {
			break
		}
	}
	if c.JSON {
		return shell.PrintJSON(a, all)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(a.Stderr, "no series")
		return err
	}
	rows := make([][]string, len(all))
	for i, s := range all {
		rows[i] = []string{ShellWord(s.Series), strconv.FormatInt(s.First, 10), strconv.FormatInt(s.Next, 10)}
	}
	return output.Table(a.Stdout, []string{"SERIES", ">FIRST", ">NEXT"}, rows)
}

type serialsGapsCmd struct {
	Series string `arg:"" help:"The name of the series, as serials list prints it."`
	JSON   bool   `name:"json" help:"Print a JSON array."`
}

// Help is the command's longer description.
func (serialsGapsCmd) Help() string {
	return `Reads the claims of the series once and prints what is not exactly one claim's: numbers
that are missing, that overlap, or that were voided. CLAIM is the claim behind missing
numbers, the later one of an overlap, the voided one.

The exit code is 1 when numbers are missing or overlap, and when there is no such series; voided
numbers are in order and leave it at 0. As long as all claims go through the
library only voided ranges are found.

Examples:

    cascade-worker serials gaps invoices-2026
    cascade-worker serials gaps invoices-2026 --json | jq '.[] | select(.kind != "voided")'`
}

// Run prints the findings.
func (c *serialsGapsCmd) Run(ctx context.Context, a *shell.App) (err error) {
	series, err := serial.New(c.Series)
	if err != nil {
		return usage.Errorf("a series has a name of 1 to 255 bytes; this one has %d", len(c.Series))
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	found, err := series.Gaps(ctx, db)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		// A misspelled name would otherwise look like a series in order.
		known, err := series.Exists(ctx, db)
		if err != nil {
			return err
		}
		if !known {
			return fmt.Errorf("there is no such series, nothing was ever claimed in it: see %s serials list", output.ProgramName)
		}
	}
	if err := c.print(a, found); err != nil || serial.Complete(found) {
		return err
	}
	return shell.ErrReported
}

func (c *serialsGapsCmd) print(a *shell.App, found []serial.Finding) error {
	switch {
	case c.JSON && found == nil:
		return shell.PrintJSON(a, []serial.Finding{})
	case c.JSON:
		return shell.PrintJSON(a, found)
	case len(found) == 0:
		_, err := fmt.Fprintln(a.Stdout, "ok: no number is missing, none was given twice")
		return err
	}
	numbers := map[serial.Kind]int64{}
	rows := make([][]string, len(found))
	for i, f := range found {
		claim := "-"
		if f.Key != "" {
			claim = ShellWord(f.Key)
		}
		numbers[f.Kind] += f.To - f.From + 1
		rows[i] = []string{string(f.Kind), strconv.FormatInt(f.From, 10), strconv.FormatInt(f.To, 10), output.Grouped(f.To - f.From + 1), claim}
	}
	if err := output.Table(a.Stdout, []string{"KIND", ">FROM", ">TO", ">NUMBERS", "CLAIM"}, rows); err != nil {
		return err
	}
	verdict := "ok"
	if !serial.Complete(found) {
		verdict = "not in order"
	}
	_, err := fmt.Fprintf(a.Stdout, "\n%s: %s missing, %s given twice, %s voided\n", verdict,
		output.Plural(numbers[serial.Missing], "number"), output.Grouped(numbers[serial.Overlap]), output.Grouped(numbers[serial.Voided]))
	return err
}
