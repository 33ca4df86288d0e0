package deletion

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/target"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/ident"
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
	err = s.pages(ctx, db, func(page []queue.Deletion) error {
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
	})
	if err != nil {
		return fmt.Errorf("%s; it is safe to run the same command again: %w", enqueuedSummary(queued, open), err)
	}
	return a.Say("%s", enqueuedSummary(queued, open))
}

// countMany is the dry run: it counts the rows, and with --must-exist looks for those that a query names.
func (c *Enqueue) countMany(ctx context.Context, a *shell.App, db *sql.DB, s selection, look func([]queue.Deletion) error) error {
	n, err := s.count(ctx, db)
	if err == nil && c.MustExist && c.Query != "" {
		err = s.pages(ctx, db, look)
	}
	if err != nil {
		return fmt.Errorf("the SQL of --where or --query: %w", err)
	}
	return a.Say("%s of %s; nothing was queued", output.Plural(n, "row"), s.Node.Name)
}

func enqueuedSummary(queued, open int) string {
	return output.Plural(queued, "job") + " queued" + shell.Some(", %s open already", open)
}

// selection reads the keys of many rows of a node, of which somebody has typed a condition or a query.
type selection struct {
	target.Finder
	from string // what stands behind FROM
}

// newSelection puts what was typed on lines of its own, so that a comment in it ends with it.
func newSelection(ctx context.Context, db onerow.DB, plan schema.Plan, node schema.Node, where, query string) (s selection, err error) {
	if s.Finder, err = target.NewFinder(ctx, db, plan, node); err != nil {
		return s, err
	}
	trim := func(text string) string { return strings.TrimRight(strings.TrimSpace(text), "; \t\r\n") }
	// The empty part before it gives the query's columns the key's names and types.
	parts := []string{fmt.Sprintf("SELECT %s FROM %s WHERE 1 = 0", ident.Quotes(node.Key...), ident.Quote(node.Tables[0]))}
	if query != "" {
		parts = append(parts, "(\n"+trim(query)+"\n)")
	} else {
		for _, table := range node.Tables {
			parts = append(parts, fmt.Sprintf("SELECT %s FROM %s AS t WHERE (\n%s\n)", ident.Quotes(node.Key...), ident.Quote(table), trim(where)))
		}
	}
	s.from = "(" + strings.Join(parts, " UNION ALL ") + ") AS t"
	return s, nil
}

// pages calls fn with the rows, a page after the other. The statement is sent once, so that every row is
// looked at once and none that appears meanwhile; the server may put the keys into a temporary table first.
// Nothing is locked.
func (s selection) pages(ctx context.Context, db onerow.DB, fn func([]queue.Deletion) error) error {
	var page []queue.Deletion
	seen := map[string]bool{} // in the page
	flush := func() error {
		if len(page) == 0 {
			return nil
		}
		full := page
		page, seen = nil, map[string]bool{}
		return fn(full)
	}
	err := onerow.Query(ctx, db, fmt.Sprintf("SELECT %s FROM %s", s.Key.Select("t"), s.from), nil, func(rows *sql.Rows) error {
		d, err := s.scan(rows)
		if errors.Is(err, errNullKey) {
			return nil // no row has such a key
		}
		if err != nil || seen[d.ResourceID] {
			return err
		}
		seen[d.ResourceID] = true
		if page = append(page, d); len(page) < rootsPerPage {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

var errNullKey = errors.New("a part of the key is NULL")

// scan reads a key.
func (s selection) scan(rows *sql.Rows) (d queue.Deletion, err error) {
	values, targets := make([]sql.NullString, s.Key.Width()), []any{}
	for i := range values {
		targets = append(targets, &values[i])
	}
	if err := rows.Scan(targets...); err != nil {
		return d, err
	}
	key, ok := s.Key.Key(values)
	if !ok {
		return d, errNullKey
	}
	d = queue.Deletion{Resource: s.Node.Name}
	if !s.Node.Managed {
		d.From = target.FromTable
	}
	if d.ResourceID, err = s.Key.Encode(key); err == nil {
		_, err = s.Key.Decode(d.ResourceID) // what a query returned may not be of the column's type
	}
	return d, err
}

// count counts the rows.
func (s selection) count(ctx context.Context, db onerow.DB) (n int64, err error) {
	err = onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM "+s.from, nil, &n)
	return n, err
}
