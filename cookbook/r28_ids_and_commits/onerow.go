package r28

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/serial"
)

// Onerow claims the next number for the event, and writes the message in the same commit.
func Onerow(ctx context.Context, db *sql.DB, event string) error {
	messages, err := serial.New("message")
	if err != nil {
		return err
	}
	_, err = messages.ClaimWith(ctx, db, event, 1, onerow.Stmt{
		Query: "INSERT INTO message (no, event) VALUES (LAST_INSERT_ID(), ?)", Args: []any{event},
	})
	return err
}
