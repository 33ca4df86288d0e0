package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// dry is a dry run under way.
type dry struct {
	db               onerow.DB
	o                DryRunOptions
	rootFound        bool
	tables, detached map[string]*dryTable
	assets           int64
}

// dryTable is what is known of a table: how many rows, and which, where they are read.
type dryTable struct {
	count  int64
	capped bool
	keys   map[rowkey.Key]bool
}

func (d *dry) table(of map[string]*dryTable, name string) *dryTable {
	if of[name] == nil {
		of[name] = &dryTable{keys: map[rowkey.Key]bool{}}
	}
	return of[name]
}

// add counts a row that was read; new says whether it was not known.
func (d *dry) add(t *dryTable, key rowkey.Key) (added bool) {
	switch {
	case t.keys[key]:
		return false
	case t.count >= int64(d.o.Limit):
		t.capped = true
		return false
	}
	t.keys[key] = true
	t.count++
	return true
}

// selectList reads a row of the node: its sets, and whether it names an asset.
func (n *dryNode) selectList(t dryNodeTable) string {
	list := make([]string, 0, len(t.refs)+1)
	for _, c := range t.refs {
		list = append(list, c.Select("t"))
	}
	asset := "0"
	if n.Asset != "" {
		asset = fmt.Sprintf("COALESCE(t.%s <> '', 0)", schema.Quote(n.Asset))
	}
	return strings.Join(append(list, asset), ", ")
}

// read runs a statement that selects what selectList says, and then the columns for
// more, and calls fn for each row.
func (n *dryNode) read(ctx context.Context, db onerow.DB, t dryNodeTable, query string, more []any, fn func(row dryRow, asset bool)) error {
	width := 0
	for _, c := range t.refs {
		width += c.Width()
	}
	return onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error {
		values, asset := make([]sql.NullString, width), int64(0)
		targets := make([]any, 0, width+1+len(more))
		for i := range values {
			targets = append(targets, &values[i])
		}
		if err := rows.Scan(append(append(targets, &asset), more...)...); err != nil {
			return err
		}
		row, at := dryRow{refs: make([]rowkey.Key, len(t.refs))}, 0
		for i, c := range t.refs {
			if key, ok := c.Key(values[at : at+c.Width()]); ok {
				row.refs[i] = key
			}
			at += c.Width()
		}
		fn(row, asset != 0)
		return nil
	})
}

// root reads the root's row, by its primary key from both tables in one statement.
func (d *dry) root(ctx context.Context, n *dryNode, encodedID string) error {
	key, err := n.tables[0].refs[0].Decode(encodedID)
	if err != nil {
		return err
	}
	parts := make([]string, len(n.tables))
	for i, t := range n.tables {
		parts[i] = fmt.Sprintf("SELECT %s, %d FROM %s AS t WHERE %s", n.selectList(t), i, schema.Quote(t.name), t.refs[0].In("t", []rowkey.Key{key}))
	}
	var where int
	err = n.read(ctx, d.db, n.tables[0], strings.Join(parts, " UNION ALL "), []any{&where}, func(row dryRow, asset bool) {
		if d.rootFound {
			return
		}
		d.rootFound, n.rows = true, []dryRow{row}
		d.add(d.table(d.tables, n.tables[where].name), row.refs[0])
		if asset {
			d.assets++
		}
	})
	if !d.rootFound {
		n.rows = []dryRow{n.gone(key)}
	}
	d.progress()
	return err
}

// gone is a row of which only the key is known. What refers to other columns of it is
// not found.
func (n *dryNode) gone(key rowkey.Key) dryRow {
	row := dryRow{refs: make([]rowkey.Key, len(n.refs))}
	row.refs[0] = key
	for i, set := range n.refs {
		if set.text && slices.EqualFunc(set.columns, n.Key, strings.EqualFold) {
			row.refs[i] = n.tables[0].refs[0].KeyAs(n.tables[0].refs[i], key)
		}
	}
	return row
}

// expand looks for all rows below the node's rows. These are complete but for the
// rows below rows of the node itself, which are found here and expanded in turn.
func (d *dry) expand(ctx context.Context, n *dryNode) error {
	for len(n.rows) > 0 {
		chunk := n.rows[:min(dryRunParents, len(n.rows))]
		n.rows = n.rows[len(chunk):]
		for _, b := range n.below {
			var parents []rowkey.Key
			for _, row := range chunk {
				if row.refs[b.ref] != "" {
					parents = append(parents, row.refs[b.ref])
				}
			}
			if len(parents) == 0 {
				continue
			}
			for i, f := range b.finds {
				if err := d.look(ctx, b, i, f.from(parents)); err != nil {
					return err
				}
				d.progress()
			}
		}
	}
	n.rows = nil
	return nil
}

// look counts the rows that one statement finds, reading one more than the limit at
// most: the rows of one statement are different ones, so that many prove the cap.
func (d *dry) look(ctx context.Context, b dryEdge, table int, from string) error {
	t := b.child.tables[table]
	of := d.tables
	if b.edge.OnDelete == schema.OnDeleteDetach {
		of = d.detached
	}
	known := d.table(of, t.name)
	unread := b.child.unread
	if b.edge.OnDelete == schema.OnDeleteDetach {
		unread = !b.keyed
	}
	switch {
	case known.capped:
		return nil
	case unread:
		return d.count(ctx, known, from)
	}
	query := fmt.Sprintf("SELECT %s%s LIMIT %d", b.child.selectList(t), from, d.o.Limit+1)
	return b.child.read(ctx, d.db, t, query, nil, func(row dryRow, asset bool) {
		if !d.add(known, row.refs[0]) || b.edge.OnDelete == schema.OnDeleteDetach {
			return
		}
		if asset {
			d.assets++
		}
		if len(b.child.below) > 0 {
			b.child.rows = append(b.child.rows, row)
		}
	})
}

// count counts entries of the index up to what is left of the limit.
func (d *dry) count(ctx context.Context, known *dryTable, from string) error {
	var n int64
	query := fmt.Sprintf("SELECT COUNT(*) FROM (SELECT 1%s LIMIT %d) AS some_rows", from, int64(d.o.Limit)+1-known.count)
	if err := onerow.QueryRow(ctx, d.db, query, nil, &n); err != nil {
		return err
	}
	known.count += n
	if known.count > int64(d.o.Limit) {
		known.count, known.capped = int64(d.o.Limit), true
	}
	return nil
}
