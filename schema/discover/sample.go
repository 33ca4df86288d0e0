package discover

import (
	"context"
	"fmt"
	"time"

	"github.com/onerow/onerow"
)

// sampled is how many rows of a table are looked at.
const sampled = 1000

// sampleTime is how long one look may take: a column without an index above is read again for each row.
const sampleTime = 5 * time.Second

// sqlSample reads so many rows from the beginning of one table or of an index of it, and looks each value up
// in the other table by its primary key.
const sqlSample = `SELECT COUNT(*), COUNT(s.v), COUNT(IF(EXISTS (SELECT 1 FROM %s AS p WHERE p.%s = s.v), 1, NULL))
FROM (SELECT %s AS v FROM %s LIMIT %d) AS s`

// count is how many of the first rows there are, have a value, and have one that is there above.
func (p *Proposal) count(ctx context.Context, db onerow.DB) (rows, values, there int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	err = onerow.QueryRow(ctx, db, p.sample, nil, &rows, &values, &there)
	return rows, values, there, err
}

// look says how many of the first values are there above.
func (p *Proposal) look(ctx context.Context, db onerow.DB) (string, error) {
	rows, values, there, err := p.count(ctx, db)
	switch {
	case err != nil:
		return "", err
	case rows == 0:
		return "the table is empty", nil
	case values == 0:
		return fmt.Sprintf("NULL in all of %d rows", rows), nil
	}
	return fmt.Sprintf("%d of %d values are there", there, values), nil
}
