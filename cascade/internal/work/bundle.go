package work

import (
	"context"
	"database/sql"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/graph"
)

// Small says whether jobs of the node may go together: what is special about one of them, an asset, a
// trash, a row that is below itself or may be detached before it goes, is not for a batch of many.
func Small(n *graph.Node) bool {
	kept := func(t *graph.Table) bool { return t.Trash != nil }
	goes := n.Reach()
	return n.Asset == "" && !n.Self && !n.Stays && !slices.ContainsFunc(n.Tables, kept) && !slices.ContainsFunc(n.Edges, func(e *graph.Edge) bool {
		return e.Detach && goes[e.Child] || slices.ContainsFunc(e.Sources, func(s *graph.Source) bool { return s.Trash != nil })
	})
}

// Bundle is the roots of several jobs of one resource, for a batch that ends all of them. What is special
// about a root is left to a batch of its own: one that has moved, that another deletion hides, or that none
// hides although it should.
type Bundle struct{ *eraser }

// NewBundle looks where the roots are, in one statement.
func NewBundle(ctx context.Context, db *sql.DB, g *graph.Graph, targets []Target) (*Bundle, error) {
	b := &Bundle{newEraser(g, targets)}
	b.bundled = true
	return b, backoff.Read(ctx, func() error { return b.findRoots(ctx, db) })
}

// Drop deletes each root below which there is nothing, or nothing but rows that go unread, with these rows,
// up to limit of them. It returns what it has deleted of each root, which are at their end, and whether it
// was the limit that kept others. It may be called again, in another transaction.
//
// Statements: one that locks roots, one that asks for their children and one that deletes them for each of
// the node's tables. Where there are children: another check, and for each edge 2, 3 where there is more than
// the limit, or 1 for each root where rows are detached.
func (b *Bundle) Drop(ctx context.Context, tx *onerow.Tx, limit int) (tallies []Tally, ended []bool, full bool, err error) {
	tallies, ended = make([]Tally, len(b.roots)), make([]bool, len(b.roots))
	for i := range tallies {
		tallies[i] = NewTally()
	}
	out, err := b.dropBatch(ctx, tx, load{roots: true}, limit, tallies)
	for i, r := range b.roots {
		ended[i] = err == nil && !r.keepForLater
	}
	return tallies, ended, out.full, err
}
