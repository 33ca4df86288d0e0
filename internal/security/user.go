package security

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/internal/ident"
)

// User is a user of the database with no right but those that it was given.
type User struct {
	t        testing.TB
	admin    *sql.DB
	database string
	grantee  string
	mariadb  bool
	config   *mysql.Config
}

// password of users that live as long as a test, on a server of tests.
const password = "least/of:all@rights?#" //nolint:gosec // see there

// cleanupTime bounds the removal of a user after its test.
const cleanupTime = 30 * time.Second

// NewUser makes a user and removes it when the test ends. admin may do everything and is
// open for as long; config is how admin reaches the database.
func NewUser(t testing.TB, admin *sql.DB, config *mysql.Config) *User {
	t.Helper()
	u := &User{t: t, admin: admin, database: config.DBName, config: config.Clone()}
	u.config.User, u.config.Passwd, u.config.AllowNativePasswords = "least"+strings.TrimPrefix(config.DBName, "onerow_t"), password, true
	u.grantee = fmt.Sprintf("'%s'@'%%'", u.config.User)
	var version string
	if err := admin.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	u.mariadb = strings.Contains(version, "MariaDB")
	u.exec(fmt.Sprintf("CREATE USER %s IDENTIFIED BY '%s'", u.grantee, password))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupTime)
		defer cancel()
		if _, err := admin.ExecContext(ctx, "DROP USER "+u.grantee); err != nil {
			t.Error(err)
		}
	})
	return u
}

// Config is how the user reaches the database.
func (u *User) Config() *mysql.Config { return u.config.Clone() }

// Grantee is the user as GRANT names it.
func (u *User) Grantee() string { return u.grantee }

func (u *User) exec(statement string) {
	u.t.Helper()
	if _, err := u.admin.ExecContext(u.t.Context(), statement); err != nil {
		u.t.Fatalf("%s: %v", statement, err)
	}
}

// Grant gives rights.
func (u *User) Grant(rights ...Right) {
	u.t.Helper()
	for _, r := range rights {
		u.exec("GRANT " + u.on(r) + " TO " + u.grantee)
	}
}

// Revoke takes rights away.
func (u *User) Revoke(rights ...Right) {
	u.t.Helper()
	for _, r := range rights {
		u.exec("REVOKE " + u.on(r) + " FROM " + u.grantee)
	}
}

func (u *User) on(r Right) string {
	if r.Table == "" {
		return r.Verb + " ON " + ident.Quote(u.database) + ".*"
	}
	return r.Verb + " ON " + ident.Quote(u.database) + "." + ident.Quote(r.Table)
}

// Least proves that the rights are enough for the work and that each of them is needed.
// The user has none of them yet, and has all of them afterwards. work makes its own rows
// anew, as somebody who may, then does as the user what there is to do, and returns what
// went wrong; it is called once for each right, and once before. Without a right that this
// engine asks for it must fail, with the server's refusal and the table in the text.
func (u *User) Least(rights []Right, work func() error) {
	u.t.Helper()
	u.Grant(rights...)
	if err := work(); err != nil {
		u.t.Errorf("with %s: %v", rights, err)
		return
	}
	for _, r := range rights {
		if r.Only != "" && (r.Only == "MariaDB") != u.mariadb {
			continue
		}
		u.Revoke(r)
		err := work()
		switch {
		case err == nil:
			u.t.Errorf("%s is given and not needed", r)
		case !u.refused(err, r):
			u.t.Errorf("without %s the message should name the refusal: %v", r, err)
		}
		u.Grant(r)
	}
}

// refused says whether an error tells what the user may not do, and where. A table on which
// a user has no right at all is not there for the user, in information_schema: what
// looks there says that it, or a part of it, is missing.
func (u *User) refused(err error, r Right) bool {
	text := err.Error()
	where := r.Table
	switch {
	case where == "": // the server names the table of the statement
		return strings.Contains(text, r.Verb+" command denied") || strings.Contains(text, u.database)
	case strings.Contains(text, "may not use the database"): // it was the only right in it
		where = u.database
	case where == migrationTable && strings.Contains(text, "lacks the toolkit's tables"):
		return true
	}
	return strings.Contains(text, where) && slices.ContainsFunc([]string{"denied", "may not use", "an index is missing", "has no " + r.Verb, "the user has no right on it"},
		func(s string) bool { return strings.Contains(text, s) })
}

// migrationTable tells which of the toolkit's tables there are.
const migrationTable = "onerow_goose_version"
