package work

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
)

// leavesSQL deletes along the index of the edge; the LIMIT also keeps the optimizer from
// scanning the table. At REPEATABLE READ it holds the gaps there until the batch ends.
func leavesSQL(s *graph.Source, parents []rowkey.Key, limit int64) string {
	return "DELETE " + graph.Dive + "FROM " + s.From + " WHERE " + s.When + s.Columns.In("", parents) + " LIMIT " + strconv.FormatInt(limit, 10)
}

// detachSQL updates along the index of the edge. A row that it has updated is not below the parents any more.
func detachSQL(s *graph.Source, parents []rowkey.Key, limit int64) string {
	return "UPDATE " + graph.Dive + s.From + s.Index + " SET " + setNull(s) + " WHERE " + s.When + s.Columns.In("", parents) + " LIMIT " + strconv.FormatInt(limit, 10)
}

// nullSQL takes rows off what they refer to over an edge. It updates by the primary key.
func nullSQL(s *graph.Source, where string) string {
	return "UPDATE " + s.From + " FORCE INDEX (PRIMARY) SET " + setNull(s) + " WHERE " + where
}

// stillBelow is the condition that locked rows were not taken off their parents yet.
func stillBelow(s *graph.Source, keys []rowkey.Key) string { return s.Key.In("", keys) + s.Left }

// dropUnread detaches and deletes the rows below the parents that go unread, no more than are left of the
// batch's limit, and says whether that was reached. One statement per table and edge, 2 where rows are kept.
func (e *eraser) dropUnread(ctx context.Context, tx *onerow.Tx, n *graph.Node, parents []graph.Row, left *int64, t Tally) (full bool, err error) {
	for _, edge := range n.Edges {
		if !e.check.goUnread(edge) {
			continue
		}
		e.check.metNone[edge] = false
		for keys := range slices.Chunk(edge.Keys(parents), graph.EdgeList) {
			for _, s := range edge.Sources {
				rows, err := e.dropBelow(ctx, tx, s, keys, *left, t)
				if err != nil {
					return false, failed(err, edge, 0)
				}
				e.check.metNone[edge] = e.check.metNone[edge] || rows == 0
				if *left -= rows; *left <= 0 {
					return true, nil
				}
			}
		}
	}
	return false, nil
}

// dropBelow is dropUnread for the rows of one table below a list of parents. One statement, 2 where they are
// kept; see detachLocked where they may go themselves.
func (e *eraser) dropBelow(ctx context.Context, tx *onerow.Tx, s *graph.Source, parents []rowkey.Key, limit int64, t Tally) (rows int64, err error) {
	switch {
	case s.Edge.Detach && e.goes[s.Edge.Child]:
		return e.detachLocked(ctx, tx, s, parents, limit, t)
	case s.Edge.Detach:
		rows, err = onerow.Affected(ctx, tx, detachSQL(s, parents, limit))
		t.Detached[s.Name] += rows
		return rows, err
	case e.trash.Keeps(s.Table):
		rows, err = e.trash.Leaves(ctx, tx, s, parents, limit, e.isRowAboveGone(s.Edge))
	default:
		rows, err = onerow.Affected(ctx, tx, leavesSQL(s, parents, limit))
	}
	t.Deleted[s.Name] += rows
	return rows, err
}

// clearUnread deletes and detaches the rows below the parents that go unread, batch by batch, without locking
// the parents, until there is less than a batch.
func (r *run) clearUnread(ctx context.Context, n *graph.Node, parents []graph.Row) error {
	for {
		full := false
		err := r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, t Tally) (_ bool, err error) {
			left := int64(r.lease.Limit())
			full, err = r.dropUnread(ctx, tx, n, parents, &left, t)
			return false, err
		})
		if err != nil || !full {
			return err
		}
	}
}

// setNull is the assignments that take a row off its parent, or mark it. A row that is kept stays as it is
// otherwise.
func setNull(s *graph.Source) string {
	value := s.Now
	if value == "" {
		value = "NULL"
	}
	list := make([]string, len(s.Nulls))
	for i, column := range s.Nulls {
		list[i] = ident.Quote(column) + " = " + value
	}
	if s.Trash != nil {
		for _, column := range s.Trash.Moves {
			list = append(list, column+" = "+column)
		}
	}
	return strings.Join(list, ", ")
}
