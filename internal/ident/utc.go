package ident

import "strings"

// InUTC has a statement run as in a session of UTC, so that no TIMESTAMP is two instants and each is written
// as the text of one: in a session's own zone an hour of the year says two, and another one none. MariaDB
// reads the first comment and MySQL the second one. The statement begins with its verb.
func InUTC(statement string) string {
	verb, rest, _ := strings.Cut(statement, " ")
	return "/*M! SET STATEMENT time_zone = '+00:00' FOR */ " + verb + " /*+ SET_VAR(time_zone = '+00:00') */ " + rest
}
