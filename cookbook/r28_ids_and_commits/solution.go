package r28

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution draws the number from a row that stays locked until COMMIT, so numbers are committed in their
// order.
func Solution(ctx context.Context, db *sql.DB, event string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning: %w", err)
	}
	res, err := tx.ExecContext(ctx, "UPDATE counter SET last_no = LAST_INSERT_ID(last_no + 1) WHERE name = 'message'")
	if err == nil {
		var n int64
		if n, err = res.RowsAffected(); err == nil && n != 1 {
			err = errors.New("there is no such counter") // LAST_INSERT_ID() would be an older one
		}
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO message (no, event) VALUES (LAST_INSERT_ID(), ?)", event)
	}
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return tx.Rollback() // the event has its message
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing %s: %w", event, err), tx.Rollback())
	}
	return tx.Commit()
}
