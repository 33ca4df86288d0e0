package deletion

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/target"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// selection reads the keys of many rows of a node.
type selection struct {
	target.Finder
	order []rowkey.Codec // of its columns, as an index sorts them
}

func newSelection(ctx context.Context, db onerow.DB, plan schema.Plan, node schema.Node) (s selection, err error) {
	cat, err := catalog.Read(ctx, db)
	if err == nil {
		s.Finder, err = target.FinderOf(cat, plan, node)
	}
	if err != nil {
		return s, err
	}
	for _, column := range node.Key {
		c, err := rowkey.New(cat, node.Tables[0], []string{column})
		if err != nil {
			return s, err
		}
		s.order = append(s.order, c.Ordered())
	}
	return s, nil
}

// columns are the key's columns under the alias t.
func (s selection) columns() string {
	list := make([]string, len(s.Node.Key))
	for i, column := range s.Node.Key {
		list[i] = "t." + schema.Quote(column)
	}
	return strings.Join(list, ", ")
}

func (s selection) list() string {
	list := []string{s.Key.Select("t")}
	for _, c := range s.order {
		list = append(list, c.Select("t"))
	}
	return strings.Join(list, ", ")
}

// behind is the condition that holds for rows behind a key.
func (s selection) behind(last []string) string {
	var ways []string
	same := ""
	for i, column := range s.Node.Key {
		ways = append(ways, fmt.Sprintf("%st.%s > %s", same, schema.Quote(column), last[i]))
		same += fmt.Sprintf("t.%s = %s AND ", schema.Quote(column), last[i])
	}
	return "(" + strings.Join(ways, " OR ") + ")"
}

// where reads pages along the primary key of each table. The condition stands on lines
// of its own, so that a comment in it ends with it. Nothing is locked.
func (s selection) where(ctx context.Context, db onerow.DB, condition string, fn func([]queue.Deletion) error) error {
	for _, table := range s.Node.Tables {
		var last []string
		for {
			query := fmt.Sprintf("SELECT %s FROM %s AS t WHERE (\n%s\n)", s.list(), schema.Quote(table), condition)
			if last != nil {
				query += " AND " + s.behind(last)
			}
			query += fmt.Sprintf(" ORDER BY %s LIMIT %d", s.columns(), rootsPerPage)
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

// keysOf makes a query's columns the key's: the empty part before gives them their
// names and types.
func (s selection) keysOf(query string) string {
	return fmt.Sprintf("(SELECT %s FROM %s AS t WHERE 1 = 0 UNION ALL (\n%s\n)) AS t", s.columns(), schema.Quote(s.Node.Tables[0]), query)
}

// query reads the result of one query as it comes, so that each row is looked at once
// and none that appears meanwhile.
func (s selection) query(ctx context.Context, db onerow.DB, query string, fn func([]queue.Deletion) error) error {
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
	err := onerow.Query(ctx, db, fmt.Sprintf("SELECT %s FROM %s", s.list(), s.keysOf(query)), nil, func(rows *sql.Rows) error {
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

// scan reads a key, and its literals in the order of the index.
func (s selection) scan(rows *sql.Rows) (d queue.Deletion, last []string, err error) {
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
	for i, c := range s.order {
		part, _ := c.Key(values[width+i:][:1])
		last = append(last, string(part))
	}
	d = queue.Deletion{Resource: s.Node.Name}
	if !s.Node.Managed {
		d.From = target.FromTable
	}
	if d.ResourceID, err = s.Key.Encode(key); err != nil {
		return d, nil, err
	}
	_, err = s.Key.Decode(d.ResourceID) // what a query returned may not be of the column's type
	return d, last, err
}

// count counts the rows of a condition, or those that a query returns.
func (s selection) count(ctx context.Context, db onerow.DB, text string, isQuery bool) (total int64, err error) {
	from := []string{s.keysOf(text)}
	if !isQuery {
		from = nil
		for _, table := range s.Node.Tables {
			from = append(from, fmt.Sprintf("%s AS t WHERE (\n%s\n)", schema.Quote(table), text))
		}
	}
	for _, part := range from {
		var n int64
		if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM "+part, nil, &n); err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
