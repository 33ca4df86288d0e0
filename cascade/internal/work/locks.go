package work

import (
	"context"
	"database/sql"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

// guardSQL locks, by the index, the entries there of rows that are locked already.
func guardSQL(t *graph.Table, ref int, g graph.Guard, keys []rowkey.Key) string {
	return "SELECT " + graph.Dive + "1" + g.Outside + " FROM " + t.From + g.Index + " WHERE " + t.Refs[ref].In("", keys) + " FOR UPDATE"
}

// lockGuards locks what foreign keys lock of rows that are about to be deleted. One
// statement per index and list of rows, none where all edges refer to the key.
func lockGuards(ctx context.Context, tx *onerow.Tx, t *graph.Table, rows []graph.Row) error {
	for i, guards := range t.Guards {
		var keys []rowkey.Key
		for _, v := range rows {
			if v.Refs[i] != "" {
				keys = append(keys, v.Refs[i])
			}
		}
		slices.Sort(keys) // all batches in one order
		for _, g := range guards {
			for part := range slices.Chunk(keys, listLength) {
				err := onerow.Query(ctx, tx, guardSQL(t, i, g, part), nil, func(*sql.Rows) error { return nil })
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
