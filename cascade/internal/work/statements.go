package work

import (
	"context"
	"database/sql"
	"slices"
	"strconv"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/trash"
	"github.com/onerow/onerow/internal/rowkey"
)

// Statement is one that a job sends for the rows of a table, with keys of rows that are there as a sample; ?
// where there are none.
type Statement struct{ Table, Parent, What, SQL string }

// sampleSize is how many keys are in a sample, and sampleLimit is how many rows a batch of the sample has.
const (
	sampleSize  = 2
	sampleLimit = 500
)

// Statements lists what jobs of the graph send, but for what is about the root and the queue: edge by edge,
// in the order in which a batch sends it. One statement, which reads two rows, for each table and edge.
func Statements(ctx context.Context, db onerow.DB, g *graph.Graph) ([]Statement, error) {
	var all []Statement
	for _, e := range g.Edges {
		for _, s := range e.Sources {
			keys, err := sample(ctx, db, s.Table, s.Key)
			if err != nil {
				return nil, err
			}
			parents, err := sample(ctx, db, s.Table, s.Columns)
			if err != nil {
				return nil, err
			}
			say := func(what string, statements ...string) {
				for _, text := range statements {
					if text != "" {
						all = append(all, Statement{s.Name, e.Parent.Name, what, text})
					}
				}
			}
			kept := s.Trash != nil
			switch {
			case e.Detach && !kept:
				say("detach, unread", detachSQL(s, parents, sampleLimit))
				for _, root := range g.Nodes {
					if goes := root.Reach(); goes[e.Parent] && goes[e.Child] {
						say("lock what may go itself", belowSQL(s, parents, sampleLimit))
						say("detach", nullSQL(s, stillBelow(s, keys)))
						break
					}
				}
			case e.Leaf && !kept:
				say("delete, unread", leavesSQL(s, parents, sampleLimit))
			case e.Leaf:
				say("keep, then delete what was kept", trash.LeavesSQL(s, parents, sampleLimit)...)
			default:
				say("read", s.ReadSQL(parents, nil, sampleLimit))
				say("lock", lockSQL(s, keys))
				for i, guards := range s.Guards {
					for _, guard := range guards {
						refs, err := sample(ctx, db, s.Table, s.Refs[i])
						if err != nil {
							return nil, err
						}
						say("lock in an index that something refers to", guardSQL(s.Table, i, guard, refs))
					}
				}
				if kept {
					say("keep", trash.RowsSQL(s.Table, s.Key.In("", keys)))
				}
				if e.Detach {
					say("detach", nullSQL(s, stillBelow(s, keys)))
					break
				}
				say("look for what is left below", newCheck().hasChildrenSQL(s.Table, keys, nil))
				say("delete", deleteSQL(s.Table, keys))
			}
		}
	}
	return all, nil
}

// sample are keys of rows that are there.
func sample(ctx context.Context, db onerow.DB, t *graph.Table, c rowkey.Codec) (keys []rowkey.Key, err error) {
	query := "SELECT " + c.Select("") + " FROM " + t.From + " LIMIT " + strconv.Itoa(sampleSize)
	err = graph.ReadColumns(ctx, db, c, query, nil, func(key rowkey.Key, _ []sql.NullString) error {
		if key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		return nil
	})
	if len(keys) == 0 {
		keys = append(keys, c.Unknown())
	}
	return keys, err
}
