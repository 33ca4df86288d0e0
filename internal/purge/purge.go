// Package purge deletes old rows beside everything else: one statement reads their keys, oldest first, by an
// index of times and without a lock, and another deletes by the primary key what is still old. A range DELETE
// would lock the gaps in which others insert, and one with ORDER BY and LIMIT may lock the whole table, to
// sort it.
//
// Open this package when old rows of a table are to be removed.
package purge

import (
	"context"
	"database/sql"
	"strings"

	"github.com/onerow/onerow"
)

// Batch is how many rows one DELETE removes.
const Batch = 200

// Table is what is purged. Find and Delete begin with the same parameters.
type Table struct {
	Find   string // the keys, oldest first; its last parameter is how many at most
	Delete string // up to the list of keys: … WHERE … AND (
	Key    string // one of the list: a = ? AND b = ?
}

// Purge deletes up to limit rows, in batches that on a pool commit by themselves, and returns how many, with
// an error too: less than limit when nothing more is old. Two statements for each batch, 1 where nothing is
// old.
func (t Table) Purge(ctx context.Context, db onerow.DB, limit int, args ...any) (purged int64, err error) {
	for left := limit; left > 0; left -= Batch {
		want := min(Batch, left)
		found, n := 0, int64(0)
		err := onerow.Alone(ctx, db, func(ctx context.Context, db onerow.DB) (err error) {
			found, n, err = t.batch(ctx, db, want, args)
			return err
		})
		purged += n
		if err != nil || found < want || n == 0 { // none: another purge is at the same rows
			return purged, err
		}
	}
	return purged, nil
}

func (t Table) batch(ctx context.Context, db onerow.DB, want int, args []any) (found int, n int64, err error) {
	keys := append([]any{}, args...)
	err = onerow.Query(ctx, db, t.Find, append(append([]any{}, args...), want), func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		key, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range key {
			dest[i] = &key[i]
		}
		err = rows.Scan(dest...)
		keys = append(keys, key...)
		found++
		return err
	})
	if err != nil || found == 0 {
		return found, 0, err
	}
	list := strings.TrimPrefix(strings.Repeat(" OR "+t.Key, found), " OR ")
	n, err = onerow.Affected(ctx, db, t.Delete+list+")", keys...)
	return found, n, err
}

// Waiting is how many rows are old, limit at most: so many entries of the index are read. One statement.
func (t Table) Waiting(ctx context.Context, db onerow.DB, limit int, args ...any) (n int64, err error) {
	err = onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM ("+t.Find+") AS waiting", append(append([]any{}, args...), limit), &n)
	return n, err
}
