package age

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow/cascade/command/internal/ownrows"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
)

// Purge removes what the toolkit keeps for a while only.
type Purge struct {
	ownrows.Keep
	Load   shell.Load `default:"0.5" placeholder:"SHARE" help:"The share of the time that batches may take, from 0.01 to 1 (0.5)."`
	DryRun bool       `help:"Only count what would be removed."`
	JSON   bool       `name:"json" help:"Print a JSON array."`
}

// Purged is what became of a kind.
type Purged struct {
	What    string `json:"what"`
	Tables  string `json:"tables"`
	Keep    string `json:"keep,omitempty"`
	Removed int64  `json:"removed"`
	Waiting int64  `json:"waiting,omitempty"` // of a dry run
	Note    string `json:"note,omitempty"`
	Error   string `json:"error,omitempty"`
}

// mostCounted is how many rows of a kind a dry run counts.
const mostCounted = 100_000

// Run purges kind after kind. What one is refused, a right or a lock, keeps the others from nothing.
func (c *Purge) Run(ctx context.Context, a *shell.App) error {
	kinds, err := c.Kinds()
	if err != nil {
		return err
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return shell.Stopped(ctx, err)
	}
	all := make([]Purged, len(kinds))
	show := shell.NewCounter(a)
	var errs []error
	pace := shell.NewPacer(a, db, c.Load, nil, show)
	for i, kind := range kinds {
		p := &all[i]
		p.What, p.Tables = kind.Name, kind.Tables
		if kind.Age > 0 {
			p.Keep = kind.Age.String()
		}
		err := c.one(ctx, db, kind, p, show, pace)
		switch {
		case ctx.Err() != nil:
			p.Note = "interrupted: the next call goes on"
		case ownrows.NoTable(err):
			p.Note = "there is no such table"
		case err != nil:
			p.Error = output.OneLine(err.Error())
			errs = append(errs, fmt.Errorf("%s: %w", kind.Name, err))
		}
	}
	return errors.Join(c.print(a, all), errors.Join(errs...))
}

func (c *Purge) one(ctx context.Context, db *sql.DB, kind ownrows.Kind, p *Purged, show *shell.Counter, pace *shell.Pacer) (err error) {
	if c.DryRun {
		p.Waiting, err = kind.Waiting(ctx, db, mostCounted)
		return err
	}
	for {
		n, err := kind.Purge(ctx, db, ownrows.Batch)
		p.Removed += n
		if err != nil || n < ownrows.Batch {
			return err
		}
		show.Say(func() string { return fmt.Sprintf("%s: %s removed", kind.Name, output.Grouped(p.Removed)) })
		if err := pace.Wait(ctx); err != nil {
			return err
		}
	}
}

func (c *Purge) print(a *shell.App, all []Purged) error {
	title := ">REMOVED"
	if c.DryRun {
		title = ">TO REMOVE"
	}
	return shell.PrintList(a, c.JSON, all, "", []string{"WHAT", title, "TABLES", "NOTE"}, func(p Purged) []string {
		note := p.Note
		if p.Error != "" {
			note = "failed, see the error"
		}
		return []string{p.What, output.Grouped(p.Removed + p.Waiting), p.Tables, note} // one of them is 0
	})
}
