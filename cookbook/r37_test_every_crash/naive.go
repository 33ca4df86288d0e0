// Package r37 is recipe 37: a test that crashes at every statement.
//
// Open this package when that recipe changes.
package r37

import (
	"context"
	"database/sql"
)

// Naive makes a purchase and its lines. Its tests are green, with a coverage of 100 %.
func Naive(ctx context.Context, db *sql.DB, _ string) error {
	made, err := db.ExecContext(ctx, "INSERT INTO purchase (customer_id) VALUES (7)")
	if err != nil {
		return err
	}
	id, err := made.LastInsertId()
	if err != nil {
		return err
	}
	for _, item := range []string{"pencil", "paper"} {
		if _, err := db.ExecContext(ctx, "INSERT INTO line (purchase_id, item) VALUES (?, ?)", id, item); err != nil {
			return err
		}
	}
	return nil
}
