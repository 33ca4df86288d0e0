package onerow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow/internal/wire"
)

// QueryRow runs a query of which at most one row is wanted and scans it into dest. Without a row the error is
// sql.ErrNoRows. One statement. Unlike sql.DB.QueryRowContext it works on every [DB].
func QueryRow(ctx context.Context, db DB, query string, args []any, dest ...any) error {
	found := false
	err := Query(ctx, db, query, args, func(rows *sql.Rows) error {
		if found {
			return nil
		}
		found = true
		return rows.Scan(dest...)
	})
	if err == nil && !found {
		return sql.ErrNoRows
	}
	return err
}

// Query runs a query and calls scan for each row. Rows are closed and their error is looked at before it
// returns, so that a refusal that arrives with the rows poisons a [Tx] as well. One statement.
func Query(ctx context.Context, db DB, query string, args []any, scan func(*sql.Rows) error) (err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	note := func(err error) error { return err }
	if g, ok := db.(interface {
		note(err error, query string, args ...any) error
	}); ok {
		note = func(err error) error { return g.note(err, query, args...) } // but not what scan says
	}
	defer func() {
		if cerr := rows.Close(); cerr != nil {
			err = errors.Join(err, note(cerr))
		}
	}()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return note(rows.Err())
}

// Stmt is a statement that a verb sends beside its own, with its Args. One says that it affects exactly one
// row: else nothing behind it is run, and the error is [ErrNotOneRow]. Rows, if not nil, is set to the number
// of rows that were affected, and ID to what LastInsertId says of its result: the id that was generated, or
// what LAST_INSERT_ID(expression) was given.
type Stmt = wire.Stmt

// AffectOne runs a statement that changes a row which this transaction has locked. That it
// affects no row is an error: MariaDB answers a DELETE of one table, and 11.8 an UPDATE, that
// KILL QUERY or max_statement_time ends before its first row with OK and none.
func AffectOne(ctx context.Context, tx *Tx, query string, args ...any) error {
	n, err := Affected(ctx, tx, query, args...)
	if err == nil && n == 0 {
		return errors.New("onerow: the server wrote nothing to a row that this transaction has locked; the statement was killed, run the transaction again")
	}
	return err
}

// Affected runs a statement and returns the number of rows that it affected.
// Whether an UPDATE that leaves a row as it was counts depends on the driver's
// settings, so a conditional update must always change something.
func Affected(ctx context.Context, db DB, query string, args ...any) (int64, error) {
	res, err := db.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("onerow: rows affected: %w", err)
	}
	return n, nil
}
