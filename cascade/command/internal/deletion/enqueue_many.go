package deletion

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/target"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// rootsPerPage is how many rows are queued in a transaction.
const rootsPerPage = 500

// many queues the rows of a condition or a query.
func (c *Enqueue) many(ctx context.Context, a *shell.App, plan schema.Plan, node schema.Node, db *sql.DB) error {
	s, err := newSelection(ctx, db, plan, node, c.Where, c.Query)
	if err != nil {
		return err
	}
	pages := s.where
	if c.Query != "" {
		pages = s.query
	}
	// A resource's rows are looked for, to know whose they are; a query may name rows that are gone.
	look := func(page []queue.Deletion) error {
		if !node.Managed && c.Query == "" {
			return nil
		}
		err := s.Find(ctx, db, page)
		if err == nil && c.MustExist {
			err = target.NotThere(page)
		}
		return err
	}
	if c.DryRun {
		return c.countMany(ctx, a, db, s, look)
	}
	var queued, open int
	show := shell.NewCounter(a)
	err = killable(ctx, db, func(conn *sql.Conn) error {
		return pages(ctx, conn, func(page []queue.Deletion) error {
			if err := look(page); err != nil {
				return err
			}
			for i := range page {
				page[i].Grace, page[i].NoTrash = c.Grace, c.NoTrash
			}
			made, there, err := queue.EnqueueMany(ctx, db, page)
			queued, open = queued+made, open+there
			show.Say(func() string { return enqueuedSummary(queued, open) })
			return err
		}
		for i := range page {
			page[i].Grace, page[i].NoTrash = c.Grace, c.NoTrash
		}
		now, err := queue.EnqueueMany(ctx, db, page)
		done.Queued += now.Queued
		done.Open += now.Open
		show.Say(func() string { return enqueuedSummary(done) })
		return err
	})
	switch {
	case errors.Is(err, usage.Err):
		return fmt.Errorf("%s: %w", enqueuedSummary(queued, open), err)
	case err != nil:
		return fmt.Errorf("%s; it is safe to run the same command again: %w", enqueuedSummary(queued, open), err)
	}
	return a.Say("%s", enqueuedSummary(queued, open))
}

// countMany is the dry run: it counts the rows, and with --must-exist looks for those that a query names.
func (c *Enqueue) countMany(ctx context.Context, a *shell.App, db *sql.DB, s selection, look func([]queue.Deletion) error) error {
	var n int64
	var err error
	if c.MustExist && c.Query != "" {
		err = s.query(ctx, db, look)
	}
	if err == nil {
		n, err = s.count(ctx, db)
	}
	if err != nil {
		return fmt.Errorf("the SQL of --where or --query: %w", err)
	}
	return a.Say("%s of %s; nothing was queued", output.Plural(n, "row"), s.Node.Name)
}

func enqueuedSummary(queued, open int) string {
	line := output.Plural(queued, "job") + " queued"
	if open > 0 {
		line += fmt.Sprintf(", %s open already", output.Grouped(open))
	}
	return line
}
