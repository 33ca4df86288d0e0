package r32

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution adds one, then writes the row that is counted, in one commit. A second like by the same
// user rolls both back.
func Solution(ctx context.Context, db *sql.DB, user int64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	_, err = tx.ExecContext(ctx, "UPDATE post SET likes = likes + 1 WHERE id = 1")
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO liked (post_id, user_id) VALUES (1, ?)", user)
	}
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return tx.Rollback() // this user likes it already
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the like of user %d: %w", user, err), tx.Rollback())
	}
	return tx.Commit()
}
