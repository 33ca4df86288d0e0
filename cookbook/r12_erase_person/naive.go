// Package r12 is recipe 12: a person is erased, and one can prove it.
//
// Open this package when that recipe changes.
package r12

import (
	"context"
	"database/sql"
	"errors"
)

// ErrErased says that the person is not there.
var ErrErased = errors.New("there is no such person")

// Naive deletes what refers to the person, and then the person.
func Naive(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"DELETE FROM visit WHERE person_id = 1",
		"DELETE FROM note WHERE author_id = 1",
		"DELETE FROM person WHERE id = 1",
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// NaiveVisit is what the shop does when the person comes.
func NaiveVisit(ctx context.Context, db *sql.DB) error {
	return visit(ctx, db, "INSERT INTO visit (person_id) SELECT id FROM person WHERE id = 1")
}

func visit(ctx context.Context, db *sql.DB, insert string) error {
	res, err := db.ExecContext(ctx, insert)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(ErrErased, err)
	}
	return nil
}
