package r21

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
)

// Onerow claims the account's export. flow.Finish ends it.
func Onerow(ctx context.Context, db *sql.DB, request string, _ time.Duration) error {
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		got, err := flow.Claim(ctx, tx, flow.Run{Flow: "export/7", RequestID: request})
		if err != nil || got.Outcome != flow.Admitted {
			return err // this request has its export
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO export (account_id) VALUES (7)")
		return err
	})
	if errors.Is(err, flow.ErrOwned) {
		return ErrRunning
	}
	return err
}
