package dict

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
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
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		switch {
		case isDenial(my.Number):
			return true, nil
		case my.Number == erNoSuchTable, my.Number == erBadField:
			return false, nil
		case my.Number == erNoDefault: // of an INSERT's other columns, which are looked at after the rights
			return false, nil
		}
	}
	return false, err
}

func isDenial(number uint16) bool {
	return number == erTableAccessDenied || number == erColumnAccessDenied || number == erDBAccessDenied
}

// Denied says whether the server refused a statement for want of a right.
func Denied(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && isDenial(my.Number)
}
