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
	err = pages(ctx, db, func(page []queue.Deletion) error {
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
	return output.Plural(queued, "job") + " queued" + shell.Some(", %s open already", open)
}

// selection reads the keys of many rows of a node, of which somebody has typed a condition or a query.
type selection struct {
	target.Finder
	order rowkey.Codec // the key, as an index sorts it
	from  []string     // what stands behind FROM, one for each statement
}

// newSelection puts what was typed on lines of its own, so that a comment in it ends with it.
func newSelection(ctx context.Context, db onerow.DB, plan schema.Plan, node schema.Node, where, query string) (s selection, err error) {
	if s.Finder, err = target.NewFinder(ctx, db, plan, node); err != nil {
		return s, err
	}
	s.order = s.Key.Ordered()
	trim := func(text string) string { return strings.TrimRight(strings.TrimSpace(text), "; \t\r\n") }
	if query != "" {
		// The empty part before it gives its columns the key's names and types.
		s.from = []string{fmt.Sprintf("(SELECT %s FROM %s WHERE 1 = 0 UNION ALL (\n%s\n)) AS t", ident.Quotes(node.Key...), ident.Quote(node.Tables[0]), trim(query))}
		return s, nil
	}
	for _, table := range node.Tables {
		s.from = append(s.from, fmt.Sprintf("%s AS t WHERE (\n%s\n)", ident.Quote(table), trim(where)))
	}
	return s, nil
}

// list is what stands behind SELECT.
func (s selection) list() string { return s.Key.Select("t") + ", " + s.order.Select("t") }

// where calls fn with the rows of a condition, page by page along the primary key of each table. The
// condition is asked anew for each page, so that no statement or view of the tables is older than a page.
// Nothing is locked.
func (s selection) where(ctx context.Context, db onerow.DB, fn func([]queue.Deletion) error) error {
	for _, from := range s.from {
		for last := rowkey.Place(nil); ; {
			query := fmt.Sprintf("SELECT %s FROM %s", s.list(), from)
			if last != nil {
				query += " AND " + s.order.After("t", last)
			}
			query += fmt.Sprintf(" ORDER BY %s LIMIT %d", ident.Quotes(s.Node.Key...), rootsPerPage)
			var page []queue.Deletion
			before := last
			err := onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) (err error) {
				var d queue.Deletion
				d, last, err = s.scan(rows)
				page = append(page, d)
				return err
			})
			if err == nil && len(page) == rootsPerPage && slices.Equal(before, last) {
				// Each page is the first one then.
				return usage.Errorf("the condition of --where does not stand for itself, as in 1=1) OR (1=1: put it between parentheses, and balance those in it")
			}
			if err == nil && len(page) > 0 {
				err = fn(page)
			}
			if err != nil {
				return err
			}
			if len(page) < rootsPerPage {
				break
			}
		}
	}
	return nil
}

// query calls fn with the rows of a query, a page after the other. The query is asked once and read as it
// comes, so that every row is looked at once and none that appears meanwhile. Nothing is locked.
func (s selection) query(ctx context.Context, db onerow.DB, fn func([]queue.Deletion) error) error {
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
	err := onerow.Query(ctx, db, fmt.Sprintf("SELECT %s FROM %s", s.list(), s.from[0]), nil, func(rows *sql.Rows) error {
		d, _, err := s.scan(rows)
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

// scan reads a key, and its place in the index.
func (s selection) scan(rows *sql.Rows) (d queue.Deletion, at rowkey.Place, err error) {
	width := s.Key.Width()
	values, targets := make([]sql.NullString, 2*width), []any{}
	for i := range values {
		targets = append(targets, &values[i])
	}
	if err := rows.Scan(targets...); err != nil {
		return d, nil, err
	}
	key, ok := s.Key.Key(values[:width])
	if !ok {
		return d, nil, errNullKey
	}
	d = queue.Deletion{Resource: s.Node.Name}
	if !s.Node.Managed {
		d.From = target.FromTable
	}
	if d.ResourceID, err = s.Key.Encode(key); err != nil {
		return d, nil, err
	}
	_, err = s.Key.Decode(d.ResourceID) // what a query returned may not be of the column's type
	return d, s.order.Place(values[width:]), err
}

// count counts the rows.
func (s selection) count(ctx context.Context, db onerow.DB) (total int64, err error) {
	for _, from := range s.from {
		var n int64
		if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM "+from, nil, &n); err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
