package dict

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// Server error numbers that a look meets here.
const (
	erNoSuchTable        = 1146
	erNoDefault          = 1364
	erBadField           = 1054
	erTableAccessDenied  = 1142
	erColumnAccessDenied = 1143
	erDBAccessDenied     = 1044
)

// IsDenied says whether the server denies an EXPLAIN. What does not exist is not denied,
// unless the user has no right that would show it.
func IsDenied(ctx context.Context, db onerow.DB, explain string) (bool, error) {
	err := onerow.Query(ctx, db, explain, nil, func(*sql.Rows) error { return nil })
	switch mysqlerr.Number(err) {
	case erNoSuchTable, erBadField, erNoDefault: // an INSERT's other columns, without a default, are looked at after the rights
		return false, nil
	}
	if Denied(err) {
		return true, nil
	}
	return false, err
}

// Denied says whether the server refused a statement for want of a right.
func Denied(err error) bool {
	switch mysqlerr.Number(err) {
	case erTableAccessDenied, erColumnAccessDenied, erDBAccessDenied:
		return true
	}
	return false
}
