package r32

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// Onerow runs the two statements again after a deadlock, and after a COMMIT without an answer: the primary
// key of the like makes that harmless.
func Onerow(ctx context.Context, db *sql.DB, user int64) error {
	err := onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE post SET likes = likes + 1 WHERE id = 1"); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO liked (post_id, user_id) VALUES (1, ?)", user)
		return err
	})
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return nil
	}
	return err
}
