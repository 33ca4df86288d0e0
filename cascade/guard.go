package cascade

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// guard is an index of columns that edges refer to, other than the primary key. A foreign
// key to these columns locks the parent's entry there and nothing else, so a lock on the
// parent's row, which is in the primary key, does not keep children away.
type guard struct {
	index   string // " FORCE INDEX (…)"
	outside string // as source.outside
}

// guard are the indexes of some columns. Which one a foreign key uses the catalog does not
// tell. Columns that are referred to as text have no foreign key.
func (t *table) guard(columns []string, asText bool, cat *schema.Catalog, all indexes) (list []guard) {
	if asText {
		return nil
	}
	for _, name := range cat.Indexes(t.name, columns) {
		if !strings.EqualFold(name, "PRIMARY") {
			list = append(list, guard{" FORCE INDEX (" + ident.Quote(name) + ")",
				all.outside(t, [2]string{strings.ToLower(t.name), strings.ToLower(name)})})
		}
	}
	return list
}

// guardSQL locks, by the index, the entries there of rows that are locked already.
func (t *table) guardSQL(ref int, g guard, keys []rowkey.Key) string {
	return "SELECT 1" + g.outside + " FROM " + t.from + g.index + " WHERE " + t.refs[ref].In("", keys) + " FOR UPDATE"
}

// lockGuards locks what foreign keys lock of rows that are about to be deleted. One
// statement per index and list of rows, none where all edges refer to the key.
func (r *run) lockGuards(ctx context.Context, tx *onerow.Tx, t *table, rows []row) error {
	for i, guards := range t.guards {
		var keys []rowkey.Key
		for _, v := range rows {
			if v.refs[i] != "" {
				keys = append(keys, v.refs[i])
			}
		}
		slices.Sort(keys) // all batches in one order
		for _, g := range guards {
			for part := range slices.Chunk(keys, listLength) {
				err := onerow.Query(ctx, tx, t.guardSQL(i, g, part), nil, func(*sql.Rows) error { return nil })
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
