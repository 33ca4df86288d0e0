package r12

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Solution locks the person, deletes what refers to it, and writes down what it has deleted.
func Solution(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	var id int64
	err = tx.QueryRowContext(ctx, "SELECT id FROM person WHERE id = 1 FOR UPDATE").Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return tx.Rollback() // erased before
	}
	if err == nil {
		err = erase(ctx, tx)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("erasing: %w", err), tx.Rollback())
	}
	return tx.Commit()
}

func erase(ctx context.Context, tx *sql.Tx) error {
	var gone []any
	for _, statement := range []string{"DELETE FROM visit WHERE person_id = 1", "DELETE FROM note WHERE author_id = 1", "DELETE FROM person WHERE id = 1"} {
		res, err := tx.ExecContext(ctx, statement)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return err
		}
		gone = append(gone, n)
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO erasure (person_id, visits, notes, erased_at) VALUES (1, ?, ?, UTC_TIMESTAMP(6))", gone[:2]...)
	return err
}

// Visit locks the person, shared, until the visit is there.
func Visit(ctx context.Context, db *sql.DB) error {
	return visit(ctx, db, "INSERT INTO visit (person_id) SELECT id FROM person WHERE id = 1 LOCK IN SHARE MODE")
}
