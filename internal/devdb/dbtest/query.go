package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"testing"
)

// Exec runs a statement, which must succeed, and returns how many rows it has affected. db is a pool or a
// transaction.
func Exec(t testing.TB, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, query string, args ...any,
) int64 {
	t.Helper()
	res, err := db.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// Scan returns the one value of the one row that a query must give.
func Scan[T any](t testing.TB, db interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, query string, args ...any,
) T {
	t.Helper()
	v, err := scan[T](t.Context(), db, query, args)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func scan[T any](ctx context.Context, db interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, query string, args []any,
) (v T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if !rows.Next() {
		return v, errors.Join(errors.New("no row"), rows.Err())
	}
	if err := rows.Scan(&v); err != nil {
		return v, err
	}
	return v, rows.Err()
}
