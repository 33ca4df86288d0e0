package migrations

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

var counter = regexp.MustCompile(` AUTO_INCREMENT=\d+`)

// made is the text of every table, as the server shows it.
func made(t *testing.T, db *sql.DB) (text string) {
	t.Helper()
	names := dbtest.Scan[string](t, db, "SELECT COALESCE(GROUP_CONCAT(table_name ORDER BY table_name), '') FROM information_schema.tables WHERE table_schema = DATABASE()")
	for name := range strings.SplitSeq(names, ",") {
		if name == "" {
			continue
		}
		var create string
		if err := db.QueryRowContext(t.Context(), "SHOW CREATE TABLE "+name).Scan(&name, &create); err != nil {
			t.Fatal(err)
		}
		text += counter.ReplaceAllString(create, "") + "\n"
	}
	return text
}

// TestSQL: a tool that knows no more than semicolons makes what Up makes, also twice, and removes it.
func TestSQL(t *testing.T) {
	up, down, err := SQL()
	if err != nil {
		t.Fatal(err)
	}
	db, other := dbtest.Open(t, dbtest.Param("group_concat_max_len", "100000")), dbtest.Open(t, dbtest.Param("group_concat_max_len", "100000"))
	if err := Up(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	run := func(text string) {
		t.Helper()
		for range 2 {
			for statement := range strings.SplitSeq(strings.TrimSuffix(text, ";\n"), ";\n") {
				if strings.Contains(statement, ";") {
					t.Errorf("a semicolon within a statement: %s", statement)
				}
				dbtest.Exec(t, db, statement)
			}
		}
	}
	run(up)
	if got, want := made(t, db), made(t, other); got != want {
		t.Errorf("made %s, want %s", got, want)
	}
	all, err := Status(t.Context(), db)
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, m := range all {
		if !m.Applied {
			t.Errorf("%s is not applied", m.Name)
		}
	}
	if err := Up(t.Context(), db); err != nil {
		t.Error(err)
	}
	run(down)
	if left := made(t, db); left != "" {
		t.Errorf("left: %s", left)
	}
}
