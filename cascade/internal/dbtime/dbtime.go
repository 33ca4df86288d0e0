// Package dbtime reads times as package cascade has them read: as microseconds since 1970, in UTC.
//
// Open this package when a time is read from one of the queue's tables, or the database's clock.
package dbtime

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
)

// At returns the time that the database wrote as microseconds since 1970; the zero time for NULL.
func At(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64).UTC()
}

// sqlNow reads no table.
const sqlNow = `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`

// Now reads the database's clock. One statement.
func Now(ctx context.Context, db onerow.DB) (time.Time, error) {
	var micros int64
	if err := onerow.QueryRow(ctx, db, sqlNow, nil, &micros); err != nil {
		return time.Time{}, fmt.Errorf("ask the database's clock: %w", err)
	}
	return time.UnixMicro(micros).UTC(), nil
}
