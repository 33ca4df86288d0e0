package serial

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
)

// sqlList: the primary key in its order, a page after a name.
const sqlList = `SELECT series, first_no, next_no FROM onerow_serial WHERE series > ? ORDER BY series LIMIT ?`

// Counter is a line of [List].
type Counter struct {
	Series string `json:"series"`
	// First is the first number of the series, Next the first that nobody has.
	First int64 `json:"first"`
	Next  int64 `json:"next"`
}

// List returns up to limit series that follow the name after, in the order of their names. One statement.
func List(ctx context.Context, db onerow.DB, after string, limit int) ([]Counter, error) {
	if limit < 1 {
		return nil, fmt.Errorf("%w: a list of %d series; give 1 or more", ErrInvalidArgument, limit)
	}
	var all []Counter
	err := onerow.Query(ctx, db, sqlList, []any{after, limit}, func(rows *sql.Rows) error {
		var c Counter
		err := rows.Scan(&c.Series, &c.First, &c.Next)
		all = append(all, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("serial: list: %w", err)
	}
	return all, nil
}

// sqlExists reads by the primary key, without a lock.
const sqlExists = `SELECT COUNT(*) FROM onerow_serial WHERE series = ?`

// Exists says whether anything was ever claimed in the series. One statement.
func (s *Series) Exists(ctx context.Context, db onerow.DB) (bool, error) {
	var n int
	if err := onerow.QueryRow(ctx, db, sqlExists, []any{s.name}, &n); err != nil {
		return false, fmt.Errorf("serial: look for series %q: %w", s.name, err)
	}
	return n > 0, nil
}
