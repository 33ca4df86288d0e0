package target

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// FromTable is what the audit says of a row of a table that somebody else designed.
const FromTable = "table"

// Finder looks for rows of a node, whatever the type of its key: the database says which that is.
type Finder struct {
	Node  schema.Node
	Key   rowkey.Codec
	owner rowkey.Codec // of no column: rows have no owner that the plan knows
}

// NewFinder makes the finder of a node, by the catalog.
func NewFinder(ctx context.Context, db onerow.DB, plan schema.Plan, node schema.Node) (Finder, error) {
	f := Finder{Node: node}
	cat, err := catalog.Read(ctx, db)
	if err != nil {
		return f, err
	}
	if f.Key, err = rowkey.New(cat, node.Tables[0], node.Key); err == nil && node.Managed {
		var r schema.Resource
		if r, err = plan.Resource(node.Name); err == nil && len(r.Owners()) > 0 {
			f.owner, err = rowkey.New(cat, node.Tables[0], r.Owners())
		}
	}
	if errors.Is(err, rowkey.ErrType) {
		err = fmt.Errorf("the database does not fit the plan: %w; see %s verify", err, output.ProgramName)
	}
	return f, err
}

// Find looks for the rows of a page in the node's tables by their primary keys, in one statement: where each
// is, whose it is, and in ID which deletion hides it. A row that none hides goes on an operator's word, see
// [queue.FromOperator]: an active one may be archived before the job comes to it. From stays empty where no
// row is there. A row that the key's collation finds under another spelling gives the deletion its own: the
// worker and all others call it so. That is one more statement for each.
func (f Finder) Find(ctx context.Context, db onerow.DB, page []queue.Deletion) error {
	at, keys := map[string]*queue.Deletion{}, make([]rowkey.Key, len(page))
	for i := range page {
		var err error
		if keys[i], err = f.Key.Decode(page[i].ResourceID); err != nil {
			return err
		}
		at[page[i].ResourceID], page[i].From = &page[i], ""
	}
	others := false
	err := f.read(ctx, db, keys, func(row queue.Deletion) {
		d := at[row.ResourceID]
		if d == nil {
			others = true
			return
		}
		d.From, d.ID, d.Owner = row.From, row.ID, row.Owner
	})
	for i := range page {
		if d := &page[i]; err == nil && others && d.From == "" {
			err = f.read(ctx, db, keys[i:i+1], func(row queue.Deletion) {
				d.ResourceID, d.From, d.ID, d.Owner = row.ResourceID, row.From, row.ID, row.Owner
			})
		}
	}
	return err
}

// read reads by the primary key, and locks nothing.
func (f Finder) read(ctx context.Context, db onerow.DB, keys []rowkey.Key, row func(queue.Deletion)) error {
	if len(keys) == 0 {
		return nil
	}
	list := f.Key.Select("t")
	if f.owner.Width() > 0 {
		list += ", " + f.owner.Select("t")
	}
	parts := make([]string, len(f.Node.Tables))
	for i, table := range f.Node.Tables {
		from := "'" + FromTable + "', NULL"
		switch {
		case f.Node.Managed && i == 0:
			from = "'" + queue.FromOperator + "', NULL"
		case f.Node.Managed:
			from = fmt.Sprintf("IF(%s IS NULL, '"+queue.FromOperator+"', 'archive'), %[1]s", ident.Quote(ident.ColDeletionID))
		}
		parts[i] = fmt.Sprintf("SELECT %s, %s FROM %s AS t WHERE %s", list, from, ident.Quote(table), f.Key.In("t", keys))
	}
	return graph.ReadColumns(ctx, db, f.Key, strings.Join(parts, " UNION ALL "), nil, func(key rowkey.Key, values []sql.NullString) (err error) {
		owners, found := values[:f.owner.Width()], values[f.owner.Width():]
		d := queue.Deletion{From: found[0].String}
		if d.ResourceID, err = f.Key.Encode(key); err != nil {
			return err
		}
		if owner, ok := f.owner.Key(owners); ok && len(owners) > 0 {
			if d.Owner, err = f.owner.Encode(owner); err != nil {
				return err
			}
		}
		if found[1].Valid {
			d.ID, err = strconv.ParseInt(found[1].String, 10, 64)
		}
		row(d)
		return err
	})
}

// NotThere is an error that names the first row of a page that is not there; nil: all are.
func NotThere(page []queue.Deletion) error {
	for _, d := range page {
		if d.From == "" {
			return fmt.Errorf("%s is not there: it is gone already, or never was", output.RowName(queue.Job{Resource: d.Resource, ResourceID: d.ResourceID}))
		}
	}
	return nil
}
