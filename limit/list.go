package limit

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
)

// sqlList: the primary key in its order, a page after an owner; the stripes of an owner stand together. Plain
// read.
const sqlList = `SELECT name, owner, CAST(SUM(room) AS SIGNED), CAST(SUM(maximum) AS SIGNED), MIN(version), SUM(stripe = 0 AND counted_at IS NULL) > 0 FROM onerow_limit FORCE INDEX (PRIMARY)
WHERE name > ? OR (name = ? AND owner > ?) GROUP BY name, owner ORDER BY name, owner LIMIT ?`

// Line is a line of [List].
type Line struct {
	Name string `json:"name"`
	// Owner is encoded, see [onerow.EncodeKey].
	Owner string `json:"owner"`
	State
	// Recount says that the owner is to be counted again, by the next sweep or create.
	Recount bool `json:"recount"`
}

// List returns up to limit owners of all limits that follow after, by the names of the limits and by owner,
// and what each has in use, as far as it has been counted. [ErrAmount] where limit is below 1. One statement,
// which reads a row or 64 for each.
func List(ctx context.Context, db onerow.DB, after Line, limit int) ([]Line, error) {
	if limit < 1 {
		return nil, fmt.Errorf("%w: a list of %d owners; give 1 or more", ErrAmount, limit)
	}
	var all []Line
	err := onerow.Query(ctx, db, sqlList, []any{after.Name, after.Name, []byte(after.Owner), limit}, func(rows *sql.Rows) error {
		var l Line
		var room, maximum, version int64
		err := rows.Scan(&l.Name, &l.Owner, &room, &maximum, &version, &l.Recount)
		l.State = stateOf(room, maximum, version)
		all = append(all, l)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("limit: list: %w", err)
	}
	return all, nil
}
