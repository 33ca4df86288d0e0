package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/mysqlerr"
)

// needs is said before anything is done.
const needs = `It needs, and works only with:
  all that a program does in databases named onerow_prove_…, which it makes and drops
  PROCESS, to see who waits for a lock; on MySQL SELECT on performance_schema too
Without the second line some checks are not tried. -grants prints the statements.

`

// grants are the statements, for a user of the DSN's.
func grants(user string) string {
	if user == "" {
		user = "prove"
	}
	who := "'" + strings.ReplaceAll(user, "'", "''") + "'@'%'" // as the server quotes, in each sql_mode
	return fmt.Sprintf(`-- Put the host that the user comes from in place of %%.
GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES ON `+"`onerow\\_prove\\_%%`"+`.* TO %[1]s;
GRANT PROCESS ON *.* TO %[1]s;
-- MySQL only:
GRANT SELECT ON performance_schema.* TO %[1]s;
`, who)
}

// lacksRight says whether the server refused because the user may not.
func lacksRight(err error) bool {
	switch mysqlerr.Number(err) {
	case 1044, 1142, 1143, 1227, 1370:
		return true
	}
	return false
}

// unreachable says in one sentence why there is no session on a server, without what a password could be in.
func unreachable(cfg *mysql.Config, err error) error {
	const erAccess, erSocket = 1045, 1698
	number := mysqlerr.Number(err)
	switch {
	case number == erAccess || number == erSocket:
		return fmt.Errorf("the server at %s refuses the user %q: the user, the password or the host is wrong", cfg.Addr, cfg.User)
	case lacksRight(err):
		return fmt.Errorf("the user %q lacks a right: %s; -grants prints what is needed", cfg.User, message(err))
	case number != 0 && mysqlerr.Classify(err) == mysqlerr.NotHere:
		return fmt.Errorf("the server at %s takes no writes or no sessions at present: %s", cfg.Addr, message(err))
	case number != 0:
		return fmt.Errorf("the server at %s refuses: %s", cfg.Addr, message(err))
	default:
		return fmt.Errorf("the server at %s cannot be reached: %w", cfg.Addr, err)
	}
}

// message is the server's own text.
func message(err error) string {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Error()
	}
	return err.Error()
}
