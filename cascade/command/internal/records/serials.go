package records

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/serial"
	"github.com/onerow/onerow/serial/gaps"
)

// Serials lists series of numbers and finds their gaps.
type Serials struct {
	List serialsListCmd `cmd:"" help:"List the series and their counters."`
	Gaps serialsGapsCmd `cmd:"" help:"Find missing, overlapping and voided numbers of a series."`
}

type serialsListCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

func (c *serialsListCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	all, err := shell.ReadPages(0, func(last serial.Counter, limit int) ([]serial.Counter, error) {
		return serial.List(ctx, db, last.Series, limit)
	})
	if err != nil {
		return err
	}
	return shell.PrintList(a, c.JSON, all, "no series", []string{"SERIES", ">FIRST", ">NEXT"}, func(s serial.Counter) []string {
		return []string{ShellWord(s.Series), strconv.FormatInt(s.First, 10), strconv.FormatInt(s.Next, 10)}
	})
}

type serialsGapsCmd struct {
	Series string `arg:"" help:"The name of the series, as serials list prints it."`
	JSON   bool   `name:"json" help:"Print a JSON array."`
}

// AfterApply refuses what cannot be a series.
func (c *serialsGapsCmd) AfterApply() error {
	if _, err := serial.New(c.Series); err != nil {
		return usage.Errorf("a series has a name of 1 to 255 bytes; this one has %d", len(c.Series))
	}
	return nil
}

func (c *serialsGapsCmd) Run(ctx context.Context, a *shell.App, db *sql.DB) error {
	series, err := serial.New(c.Series)
	if err != nil {
		return err
	}
	found, err := gaps.Find(ctx, db, series)
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
	if err := c.print(a, found); err != nil || gaps.Complete(found) {
		return err
	}
	return shell.ErrReported
}

// print writes the findings, and for a person the verdict.
func (c *serialsGapsCmd) print(a *shell.App, found []gaps.Finding) error {
	if len(found) == 0 && !c.JSON {
		return a.Say("ok: no number is missing, none was given twice")
	}
	numbers := map[gaps.Kind]int64{}
	err := shell.PrintList(a, c.JSON, found, "", []string{"KIND", ">FROM", ">TO", ">NUMBERS", "CLAIM"}, func(f gaps.Finding) []string {
		claim, n := "-", f.To-f.From+1
		if f.Key != "" {
			claim = ShellWord(f.Key)
		}
		numbers[f.Kind] += n
		return []string{string(f.Kind), strconv.FormatInt(f.From, 10), strconv.FormatInt(f.To, 10), output.Grouped(n), claim}
	})
	if err != nil || c.JSON {
		return err
	}
	verdict := "ok"
	if !gaps.Complete(found) {
		verdict = "not in order"
	}
	return a.Say("\n%s: %s missing, %s given twice, %s voided", verdict,
		output.Plural(numbers[gaps.Missing], "number"), output.Grouped(numbers[gaps.Overlap]), output.Grouped(numbers[gaps.Voided]))
}
