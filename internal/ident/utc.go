package ident

import "strings"

// ExactMode and UTC are what rows are copied under from table to table, whatever the session has: zero dates
// and an id of 0 are values like any other, what does not fit is an error, and no hour comes twice, for MySQL
// copies a TIMESTAMP by way of the session's time zone.
const (
	ExactMode = `sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'`
	UTC       = `time_zone = '+00:00'`
)

// Exactly has an INSERT or UPDATE copy rows as they are: under [ExactMode] and in [UTC]. MariaDB reads the
// first comment and MySQL the second one. The statement begins with its verb.
func Exactly(statement string) string {
	verb, rest, _ := strings.Cut(statement, " ")
	return "/*M! SET STATEMENT " + ExactMode + ", " + UTC + " FOR */ " + verb + " /*+ SET_VAR(" + ExactMode + ") SET_VAR(" + UTC + ") */ " + rest
}

// InUTC has a statement run as in a session of UTC, so that no TIMESTAMP is two instants and each is written
// as the text of one: in a session's own zone an hour of the year says two, and another one none. The
// statement begins with its verb.
func InUTC(statement string) string {
	verb, rest, _ := strings.Cut(statement, " ")
	return "/*M! SET STATEMENT " + UTC + " FOR */ " + verb + " /*+ SET_VAR(" + UTC + ") */ " + rest
}
