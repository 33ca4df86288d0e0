package work

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

// detachLocked is detachSQL for rows that may go themselves: they are locked and read first.
func (e *eraser) detachLocked(ctx context.Context, tx *onerow.Tx, s *graph.Source, parents []rowkey.Key, limit int64, t Tally) (rows int64, err error) {
	keys, err := s.ReadKeys(ctx, tx, belowSQL(s, parents, limit), nil)
	for part := range slices.Chunk(keys, listLength) {
		n, err := e.detachKeys(ctx, tx, s, part, t)
		if rows += n; err != nil {
			return rows, err
		}
	}
	return rows, err
}

// belowSQL locks rows below parents along the index of the edge.
func belowSQL(s *graph.Source, parents []rowkey.Key, limit int64) string {
	return "SELECT " + graph.Dive + s.Key.Select("") + s.Outside + " FROM " + s.From + s.Wide() + " WHERE " + s.When + s.Columns.In("", parents) + " LIMIT " + strconv.FormatInt(limit, 10) + " FOR UPDATE"
}

// detachKeys keeps and detaches locked rows, and counts apart those that are to go themselves.
func (e *eraser) detachKeys(ctx context.Context, tx *onerow.Tx, s *graph.Source, keys []rowkey.Key, t Tally) (rows int64, err error) {
	if err := e.keepCut(ctx, tx, s, stillBelow(s, keys)); err != nil {
		return 0, err
	}
	goes, err := e.going(ctx, tx, s.Table, keys)
	if err != nil {
		return 0, err
	}
	var cut, detached []rowkey.Key
	for _, k := range keys {
		if goes[k] {
			cut = append(cut, k)
		} else {
			detached = append(detached, k)
		}
	}
	for _, some := range []struct {
		keys  []rowkey.Key
		count map[string]int64
	}{{cut, t.Cut}, {detached, t.Detached}} {
		if len(some.keys) == 0 {
			continue
		}
		n, err := onerow.Affected(ctx, tx, nullSQL(s, stillBelow(s, some.keys)))
		if err != nil {
			return rows, err
		}
		some.count[s.Name] += n
		rows += n
	}
	return rows, nil
}

type tableRow struct {
	table *graph.Table
	key   rowkey.Key
}

// maxClimb is how many levels are climbed at most from a row that is detached. Rows that the walk knows end
// the climb, so it takes long chains beside the walk's path to come there; a row of these may count twice.
const maxClimb = 100

// going says which rows of a table are below the root over edges that delete. No row goes before those below
// it, so what leads from a row up to the root is still there, whoever began the job: it is climbed, level by
// level, up to the root or what the walk has met. 1 statement for each table and edge of a level, 2 below the
// root's own table; none for rows that the walk knows or whose table nothing can delete.
func (e *eraser) going(ctx context.Context, tx *onerow.Tx, t *graph.Table, keys []rowkey.Key) (map[rowkey.Key]bool, error) {
	root := e.roots[0].expected.row
	goes := map[tableRow]bool{}
	below := map[tableRow][]tableRow{}
	var mark func(v tableRow)
	mark = func(v tableRow) {
		if goes[v] {
			return
		}
		goes[v] = true
		for _, child := range below[v] {
			mark(child)
		}
	}
	level := map[*graph.Table][]rowkey.Key{}
	met := map[tableRow]bool{}
	meet := func(v tableRow) {
		switch {
		case e.seen[rowRef{v.table.Node, v.key}] != 0 || v.table.Node == e.node && v.key == root.Key:
			mark(v)
		case !met[v] && e.goes[v.table.Node]:
			level[v.table] = append(level[v.table], v.key)
		}
		met[v] = true
	}
	for _, k := range keys {
		meet(tableRow{t, k})
	}
	for range maxClimb {
		if len(level) == 0 {
			break
		}
		from := level
		level = map[*graph.Table][]rowkey.Key{}
		for _, edge := range e.graph.Edges {
			if edge.Detach || !e.goes[edge.Parent] {
				continue
			}
			for _, s := range edge.Sources {
				for part := range slices.Chunk(from[s.Table], listLength) {
					if err := e.climb(ctx, tx, s, part, func(child, parent tableRow) {
						below[parent] = append(below[parent], child)
						if meet(parent); goes[parent] {
							mark(child)
						}
					}); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	going := make(map[rowkey.Key]bool, len(keys))
	for _, k := range keys {
		going[k] = goes[tableRow{t, k}]
	}
	return going, nil
}

// climb tells what is above rows over an edge. Where it holds ids of other types as text only the root is
// asked for: no index finds the others.
func (e *eraser) climb(ctx context.Context, tx *onerow.Tx, s *graph.Source, rows []rowkey.Key, tell func(child, parent tableRow)) error {
	root := e.roots[0].expected.row
	if keys := s.Edge.Keys([]graph.Row{root}); s.Edge.Parent == e.node && len(keys) > 0 {
		query := "SELECT " + s.Key.Select("") + " FROM " + s.From + " FORCE INDEX (PRIMARY) WHERE " + s.When + s.Key.In("", rows) + " AND " + s.Columns.In("", keys)
		below, err := s.ReadKeys(ctx, tx, query, nil)
		if err != nil {
			return err
		}
		for _, k := range below {
			tell(tableRow{s.Table, k}, tableRow{e.node.Tables[0], root.Key})
		}
	}
	if s.AsText {
		return nil
	}
	for _, t := range s.Edge.Parent.Tables {
		_, err := s.ReadKeys(ctx, tx, climbSQL(s, t, rows), func(child rowkey.Key, rest []sql.NullString) {
			if parent, ok := t.Key.Key(rest); ok {
				tell(tableRow{s.Table, child}, tableRow{t, parent})
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// climbSQL reads rows and those above them over an edge, by primary keys, or by the index of what the edge
// refers to.
func climbSQL(s *graph.Source, t *graph.Table, rows []rowkey.Key) string {
	referred, index := s.Edge.Referred(t), ""
	if slices.EqualFunc(referred.Names(), t.Key.Names(), strings.EqualFold) {
		index = " FORCE INDEX (PRIMARY)"
	}
	return "SELECT " + s.Key.Select("c") + ", " + t.Key.Select("p") + " FROM " + s.From + " AS c FORCE INDEX (PRIMARY) STRAIGHT_JOIN " + t.From + " AS p" + index +
		" ON " + referred.Equal("p", s.Columns, "c") + " WHERE " + s.Key.In("c", rows) + s.WhenC
}
