package work

import (
	"context"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

// cut is told of rows that were found below themselves. The first pass only remembers it, for mostly it is no
// loop: a comment is below its post and below the comment that it answers, and the rounds of a batch take
// them in the right order. A pass that comes after rows have stayed takes them off the rows that were read
// above them: in a loop one reference has to go before any row can. The row keeps the reference by which the
// walk came to it, so it stays below the root.
func (p *pass) cut(ctx context.Context, s *graph.Source, parents, keys []rowkey.Key) error {
	p.loop = &loopRow{s, keys[0]}
	p.loopsMet[s] = true
	if !p.patience.cutsLoops || len(s.Nulls) == 0 {
		return nil
	}
	var n int64
	where := s.When + s.Key.In("", keys) + " AND " + s.Columns.In("", parents)
	err := p.batch(ctx, func(ctx context.Context, tx *onerow.Tx, _ Tally) (_ bool, err error) {
		if err := p.keepCut(ctx, tx, s, where); err != nil {
			return false, err
		}
		n, err = onerow.Affected(ctx, tx, nullSQL(s, where))
		return false, err
	})
	if err == nil {
		p.changes += n
	}
	return err
}

// loopError says which row is in a loop that cannot be cut.
func (r *run) loopError(l *loopRow) error {
	name, err := l.src.Key.Encode(l.key)
	if err != nil {
		name = string(l.key)
	}
	return fmt.Errorf("%w: row %s of %s is below itself, and no column of that reference may be NULL; change a row of the loop by hand, then retry job %d",
		fault.ErrLoop, name, l.src.Name, r.JobID)
}

// cutSelf takes locked rows off themselves, which are about to be deleted: a foreign key
// refuses to let a row go that refers to itself. One statement per edge over which the
// walk met such a row, or one of a loop; else none.
func (e *eraser) cutSelf(ctx context.Context, tx *onerow.Tx, t *graph.Table, rows []graph.Row) error {
	if len(e.loopsMet) == 0 || len(rows) == 0 {
		return nil
	}
	for _, edge := range t.Node.Edges {
		for _, s := range edge.Sources {
			if s.Table != t || !e.loopsMet[s] || len(s.Nulls) == 0 {
				continue
			}
			for part := range slices.Chunk(graph.KeysOf(rows), listLength) {
				where := s.When + s.Key.In("", part) + " AND " + s.Columns.Equal("", s.Edge.Referred(s.Table), "")
				if err := e.keepCut(ctx, tx, s, where); err != nil {
					return err
				}
				if _, err := tx.ExecContext(ctx, nullSQL(s, where)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
