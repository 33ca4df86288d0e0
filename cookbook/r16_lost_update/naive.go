// Package r16 is recipe 16: a lost update, and the retry that never ends.
//
// Open this package when that recipe changes.
package r16

import (
	"context"
	"database/sql"
	"errors"
)

// ErrGaveUp is the end of a loop that would not end.
var ErrGaveUp = errors.New("the row changed each time")

// Naive reads, decides, and writes if the version is the one that it read; else it tries again.
func Naive(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for range 3 {
		var n, version int
		if err := tx.QueryRowContext(ctx, "SELECT n, version FROM stock WHERE id = 1").Scan(&n, &version); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		res, err := tx.ExecContext(ctx, "UPDATE stock SET n = ?, version = version + 1 WHERE id = 1 AND version = ?", n-1, version)
		if err != nil {
			return errors.Join(err, tx.Rollback())
		}
		if changed, err := res.RowsAffected(); err != nil || changed == 1 {
			return errors.Join(err, tx.Commit())
		}
	}
	return errors.Join(ErrGaveUp, tx.Rollback())
}
