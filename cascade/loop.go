package cascade

import (
	"context"
	"fmt"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/internal/rowkey"
)

// cutSQL takes rows that are on the path off the rows that were read above them: where
// rows refer to each other in a loop, one reference has to go before any of them can. It
// updates by the primary key. The row keeps the reference by which the walk came to it,
// so it stays below the root.
func cutSQL(s *source, parents, keys []rowkey.Key) string {
	return "UPDATE " + s.from + " FORCE INDEX (PRIMARY) SET " + setNull(s) +
		" WHERE " + s.when + s.key.In("", keys) + " AND " + s.columns.In("", parents)
}

// loops is what a run knows of rows that are below themselves.
type loops struct {
	cut bool             // they are cut
	met map[*source]bool // over which rows were met that are on the path
}

// cut is told of rows that are on the path and were found below it. The first pass only
// remembers it, for mostly it is no loop: a comment is below its post and below the comment
// that it answers, and the rounds of a batch take them in the right order. A pass that
// comes after rows have stayed cuts.
func (p *pass) cut(ctx context.Context, s *source, parents, keys []rowkey.Key) error {
	p.loop = &found{s, keys[0]}
	p.loops.met[s] = true
	if !p.loops.cut || len(s.nulls) == 0 {
		return nil
	}
	return p.batch(ctx, func(ctx context.Context, tx *onerow.Tx, _ work.Tally) (bool, error) {
		n, err := onerow.Affected(ctx, tx, cutSQL(s, parents, keys))
		p.changes += n
		return false, err
	})
}

// loopError says which row is in a loop that cannot be cut.
func (r *run) loopError(l *found) error {
	name, err := l.src.key.Encode(l.key)
	if err != nil {
		name = string(l.key)
	}
	return fmt.Errorf("%w: row %s of %s is below itself, and no column of that reference may be NULL; change a row of the loop by hand, then retry job %d",
		ErrLoop, name, l.src.name, r.JobID)
}

// selfSQL takes rows off themselves. It updates by the primary key.
func selfSQL(s *source, keys []rowkey.Key) string {
	return "UPDATE " + s.from + " FORCE INDEX (PRIMARY) SET " + setNull(s) +
		" WHERE " + s.when + s.key.In("", keys) + " AND " + s.columns.Equal("", s.edge.referred(s.table), "")
}

// cutOwn takes locked rows off themselves, which are about to be deleted: a foreign key
// refuses to let a row go that refers to itself. One statement per edge over which the
// walk met such a row, or one of a loop; else none.
func (r *run) cutOwn(ctx context.Context, tx *onerow.Tx, t *table, rows []row) error {
	if len(r.loops.met) == 0 || len(rows) == 0 {
		return nil
	}
	for _, e := range t.node.edges {
		for _, s := range e.sources {
			if s.table != t || !r.loops.met[s] || len(s.nulls) == 0 {
				continue
			}
			for part := range slices.Chunk(keysOf(rows), listLength) {
				if _, err := tx.ExecContext(ctx, selfSQL(s, part)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
