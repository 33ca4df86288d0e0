package fuzz

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"time"
)

// brokenLeft is the kind of what is found by Left.
const brokenLeft = "something is left at the end"

// Goroutines counts those that run when the admin's sessions rest.
func Goroutines(admin *sql.DB) int {
	admin.SetMaxIdleConns(-1)
	defer admin.SetMaxIdleConns(8)
	time.Sleep(20 * time.Millisecond) // those of closed sessions end
	return runtime.NumGoroutine()
}

// Left finds what a run whose pools are closed has left: sessions of the database, transactions in the
// server, goroutines beyond those that there were before.
func Left(ctx context.Context, admin *sql.DB, database string, goroutines int, found *Findings) error {
	var errs []error
	for _, left := range []struct {
		what, query string
		args        []any
	}{
		{"sessions", "SELECT COUNT(*) FROM information_schema.processlist WHERE db = ? AND id <> CONNECTION_ID()", []any{database}},
		{"open transactions", "SELECT COUNT(*) FROM information_schema.innodb_trx", nil},
	} {
		var n int
		none, err := Within(ctx, 15*time.Second, func() (bool, error) {
			err := admin.QueryRowContext(ctx, left.query, left.args...).Scan(&n)
			return n == 0, err //nolint:wrapcheck // it says all
		})
		if errs = append(errs, err); err == nil && !none {
			found.Add(brokenLeft, "%d %s in the server", n, left.what)
		}
	}
	n := 0
	ended, err := Within(ctx, 10*time.Second, func() (bool, error) { n = Goroutines(admin); return n <= goroutines, nil })
	if !ended {
		found.Add(brokenLeft, "%d goroutines, and there were %d before", n, goroutines)
	}
	return errors.Join(append(errs, err)...)
}
