package cascade

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/rowkey"
)

// cutSQL takes rows that are on the path off the rows that were read above them: where
// rows refer to each other in a loop, one reference has to go before any of them can. It
// updates by the primary key. The row keeps the reference by which the walk came to it,
// so it stays below the root.
func (s *source) cutSQL(parents, keys []rowkey.Key) string {
	return "UPDATE " + s.from + " FORCE INDEX (PRIMARY) SET " + strings.Join(s.nulls, ", ") +
		" WHERE " + s.when + s.key.In("", keys) + " AND " + s.columns.In("", parents)
}

// cut is told of rows that are on the path and were found below it. The first pass only
// remembers it, for mostly it is no loop: a comment is below its post and below the comment
// that it answers, and the rounds of a batch take them in the right order. A pass that
// comes after rows have stayed cuts.
func (r *run) cut(ctx context.Context, s *source, parents, keys []rowkey.Key) error {
	r.loop = &found{s, keys[0]}
	r.looped[s] = true
	if !r.cutting || len(s.nulls) == 0 {
		return nil
	}
	return r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, _ tally) (bool, error) {
		n, err := onerow.Affected(ctx, tx, s.cutSQL(parents, keys))
		r.changes += n
		return false, err
	})
}

// loopError says which row is in a loop that cannot be cut.
func (r *run) loopError() error {
	name, err := r.loop.src.key.Encode(r.loop.key)
	if err != nil {
		name = string(r.loop.key)
	}
	return fmt.Errorf("%w: row %s of %s is below itself, and no column of that reference may be NULL; change a row of the loop by hand, then retry job %d",
		ErrLoop, name, r.loop.src.name, r.job.ID)
}

// ownSQL takes rows off themselves. It updates by the primary key.
func (s *source) ownSQL(keys []rowkey.Key) string {
	return "UPDATE " + s.from + " FORCE INDEX (PRIMARY) SET " + strings.Join(s.nulls, ", ") +
		" WHERE " + s.when + s.key.In("", keys) + " AND " + s.columns.Equal("", s.edge.referred(s.table), "")
}

// cutOwn takes locked rows off themselves, which are about to be deleted: a foreign key
// refuses to let a row go that refers to itself. One statement per edge over which the
// walk met such a row, or one of a loop; else none.
func (r *run) cutOwn(ctx context.Context, tx *onerow.Tx, t *table, rows []row) error {
	if len(r.looped) == 0 || len(rows) == 0 {
		return nil
	}
	for _, e := range t.node.edges {
		for _, s := range e.sources {
			if s.table != t || !r.looped[s] || len(s.nulls) == 0 {
				continue
			}
			for part := range slices.Chunk(keysOf(rows), listLength) {
				if _, err := tx.ExecContext(ctx, s.ownSQL(part)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
