// Package r07 is recipe 7: a deadlock on an INSERT.
//
// Open this package when that recipe changes.
package r07

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"
)

// ErrTaken says that somebody else has the seat.
var ErrTaken = errors.New("the seat is taken")

// Naive locks the seat "so that nobody else can insert it", and then inserts it.
func Naive(ctx context.Context, db *sql.DB, who string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var holder string
	err = tx.QueryRowContext(ctx, "SELECT who FROM seat WHERE show_id = 1 AND no = 7 FOR UPDATE").Scan(&holder)
	if err == nil {
		return errors.Join(ErrTaken, tx.Rollback())
	}
	if errors.Is(err, sql.ErrNoRows) {
		_, err = tx.ExecContext(ctx, "INSERT INTO seat (show_id, no, who) VALUES (1, 7, ?)", who)
	}
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		err = ErrTaken
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
