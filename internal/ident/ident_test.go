package ident_test

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
)

var names = []struct {
	name string
	ok   bool
}{
	{"id", true}, {"select", true}, {"user name", true}, {" leading space", true}, {"0", true}, {"1e5", true}, {"a.b", true}, {"a-b", true},
	{"ä№漢", true}, {"'; DROP TABLE t; --", true}, {`a"b`, true}, {`back\slash`, true}, {"%s?:x@y", true}, {"$", true}, {"/*", true},
	{"\u00a0", true}, {"\u200b", true}, {"\uffff", true}, {"\u0301", true}, {"\ufeff", true}, {strings.Repeat("ж", 64), true},
	{"", false}, {strings.Repeat("x", 65), false}, {"a`b", false}, {"`", false}, {"nul\x00", false}, {"line\nbreak", false}, {"tab\t", false},
	{"del\x7f", false}, {"trailing ", false}, {" ", false}, {"😀", false}, {"\xff", false}, {"a\xc3", false},
	{"a\u202eb", false}, {"a\u2066b", false}, {"\u200eid", false}, {"می\u200cخواهم", true},
}

func TestCheck(t *testing.T) {
	for _, n := range names {
		if err := ident.Check(n.name); (err == nil) != n.ok || err != nil && !errors.Is(err, ident.Err) {
			t.Errorf("%q: %v", n.name, err)
		}
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"id": "`id`", "a`b": "`a``b`", "``": "``````", "": "``"} {
		if got := ident.Quote(in); got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
	if got := ident.Quotes("a", "b"); got != "`a`, `b`" {
		t.Error(got)
	}
	if got := ident.Quotes() + ident.Params(0) + ident.Params(1) + ident.Params(3); got != "??, ?, ?" {
		t.Error(got)
	}
}

// database is one for all names of a test: opening one takes much longer than asking it.
func database(t testing.TB) *sql.DB { return dbtest.Open(t) }

// accepted makes a table with a column of that name, and a value comes back out of it under it.
func accepted(db *sql.DB, name string) error {
	quoted := ident.Quote(name)
	for _, stmt := range []string{
		"DROP TABLE IF EXISTS `of a name`",
		"CREATE TABLE `of a name` (" + quoted + " INT, KEY " + quoted + " (" + quoted + "))",
		"INSERT INTO `of a name` (" + quoted + ") VALUES (1)",
		"UPDATE `of a name` AS t SET t." + quoted + " = 2 WHERE " + quoted + " = 1",
	} {
		if _, err := db.Exec(stmt); err != nil {
			return err
		}
	}
	rows, err := db.Query("SELECT t." + quoted + " FROM `of a name` AS t")
	if err != nil {
		return err
	}
	columns, err := rows.Columns()
	if err == nil && columns[0] != name {
		err = errors.New("it comes back as " + columns[0])
	}
	return errors.Join(err, rows.Close())
}

// TestServersAccept what Check accepts, on this engine.
func TestServersAccept(t *testing.T) {
	db := database(t)
	for _, n := range names {
		if n.ok && !strings.EqualFold(n.name, "primary") {
			if err := accepted(db, n.name); err != nil {
				t.Errorf("%q: %v", n.name, err)
			}
		}
	}
}

// FuzzCheck: whatever Check accepts the server accepts as a column's name.
func FuzzCheck(f *testing.F) {
	for _, n := range names {
		f.Add(n.name)
	}
	db := database(f)
	var one sync.Mutex
	f.Fuzz(func(t *testing.T, name string) {
		if ident.Check(name) != nil || strings.EqualFold(name, "primary") { // an index, which accepted makes too, cannot be called that
			return
		}
		one.Lock()
		defer one.Unlock()
		if err := accepted(db, name); err != nil {
			t.Errorf("%q (%+q): %v", name, name, err)
		}
	})
}
