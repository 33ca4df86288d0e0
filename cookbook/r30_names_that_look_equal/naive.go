// Package r30 is recipe 30: two names that look equal.
//
// Open this package when that recipe changes.
package r30

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// ErrTaken says that the site has a page of that name.
var ErrTaken = errors.New("the name is taken")

// Naive compares the name with those of the site's pages as a person would, and makes the page.
func Naive(ctx context.Context, db *sql.DB, _, name string) error {
	var same int
	err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM page WHERE site_id = 1 AND LOWER(name) = ?", strings.ToLower(strings.TrimSpace(name))).Scan(&same)
	if err != nil {
		return err
	}
	if same > 0 {
		return ErrTaken
	}
	_, err = db.ExecContext(ctx, "INSERT INTO page (site_id, name) VALUES (1, ?)", strings.TrimSpace(name))
	return err
}
