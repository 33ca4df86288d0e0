package deletion

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/target"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// rootsPerPage is how many rows are queued in a transaction.
const rootsPerPage = 500

// many queues the rows of a condition or a query.
func (c *Enqueue) many(ctx context.Context, a *shell.App, plan schema.Plan) error {
	node, err := target.Node(plan, c.Resource)
	if err != nil {
		return err
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return err
	}
	s, err := newSelection(ctx, db, plan, node)
	if err != nil {
		return err
	}
	flag, text, run := "--where", c.Where, s.where
	if c.Query != "" {
		flag, text, run = "--query", c.Query, s.query
	}
	text = strings.TrimRight(strings.TrimSpace(text), "; \t\r\n")
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
		n, err := c.countMany(ctx, db, s, flag, text, look)
		if err != nil {
			return err
		}
		return a.Say("%s of %s; nothing was queued", output.Plural(n, "row"), node.Name)
	}
	var done queue.EnqueuedMany
	show := shell.NewCounter(a)
	queue := func(page []queue.Deletion) error {
		if err := look(page); err != nil {
			return err
		}
		for i := range page {
			page[i].Grace, page[i].NoTrash = c.Grace, c.NoTrash
		}
		now, err := queue.EnqueueMany(ctx, db, page)
		done.Queued += now.Queued
		done.Open += now.Open
		show.Say(func() string { return manyTold(done) })
		return err
	}
	err = errors.Join(killable(ctx, db, func(conn *sql.Conn) error { return run(ctx, conn, text, queue) }), show.End())
	switch {
	case errors.Is(err, usage.Err):
		return fmt.Errorf("%s: %w", manyTold(done), err)
	case err != nil:
		return fmt.Errorf("%s; it is safe to run the same command again: %w", manyTold(done), err)
	}
	return a.Say("%s", manyTold(done))
}

// countMany is the dry run: it counts the rows, and with --must-exist looks for those that a query names.
func (c *Enqueue) countMany(ctx context.Context, db *sql.DB, s selection, flag, text string, look func([]queue.Deletion) error) (n int64, err error) {
	if c.MustExist && c.Query != "" {
		if err := killable(ctx, db, func(conn *sql.Conn) error { return s.query(ctx, conn, text, look) }); err != nil {
			return 0, err
		}
	}
	err = killable(ctx, db, func(conn *sql.Conn) (err error) {
		n, err = s.count(ctx, conn, text, c.Query != "")
		return err
	})
	if err != nil {
		err = fmt.Errorf("the SQL of %s: %w", flag, err)
	}
	return n, err
}

func manyTold(done queue.EnqueuedMany) string {
	line := output.Plural(done.Queued, "job") + " queued"
	if done.Open > 0 {
		line += fmt.Sprintf(", %s open already", output.Grouped(done.Open))
	}
	return line
}
