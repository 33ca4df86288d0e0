package r07

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// Onerow leaves it to InTx to run a refused transaction again, with a pause that grows.
func Onerow(ctx context.Context, db *sql.DB, who string) error {
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO seat (show_id, no, who) VALUES (1, 7, ?)", who)
		return err
	})
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return holder(ctx, db, who)
	}
	return err
}
