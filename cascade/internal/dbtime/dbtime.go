// Package dbtime reads times as package cascade has them read: as microseconds since 1970, in UTC.
//
// Open this package when a time is read from one of the queue's tables.
package dbtime

import (
	"database/sql"
	"time"
)

// At returns the time that the database wrote as microseconds since 1970; the zero time for NULL.
func At(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64).UTC()
}
