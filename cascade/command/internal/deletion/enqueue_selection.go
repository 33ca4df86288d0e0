package deletion

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/target"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// selection reads the keys of many rows of a node, of which somebody has typed a condition or a query.
type selection struct {
	target.Finder
	from []string // what stands behind FROM, one for each statement
}

// newSelection puts what was typed on lines of its own, so that a comment in it ends with it.
func newSelection(ctx context.Context, db onerow.DB, plan schema.Plan, node schema.Node, where, query string) (s selection, err error) {
	if s.Finder, err = target.NewFinder(ctx, db, plan, node); err != nil {
		return s, err
	}
	trim := func(text string) string { return strings.TrimRight(strings.TrimSpace(text), "; \t\r\n") }
	if query != "" {
		// The empty part before it gives its columns the key's names and types.
		s.from = []string{fmt.Sprintf("(SELECT %s FROM %s WHERE 1 = 0 UNION ALL (\n%s\n)) AS t", ident.Quotes(node.Key...), schema.Quote(node.Tables[0]), trim(query))}
		return s, nil
	}
	for _, table := range node.Tables {
		s.from = append(s.from, fmt.Sprintf("%s AS t WHERE (\n%s\n)", schema.Quote(table), trim(where)))
	}
	return s, nil
}

// pages calls fn with the rows, a page after the other. Each statement is read as it comes, so that every row
// is looked at once and none that appears meanwhile. Nothing is locked.
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
	for _, from := range s.from {
		err := onerow.Query(ctx, db, fmt.Sprintf("SELECT %s FROM %s", s.Key.Select("t"), from), nil, func(rows *sql.Rows) error {
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
		if err == nil {
			err = flush()
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	if d.ResourceID, err = s.Key.Encode(key); err != nil {
		return d, err
	}
	_, err = s.Key.Decode(d.ResourceID) // what a query returned may not be of the column's type
	return d, err
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
