package verify

import (
	"database/sql"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/migrations/ddl"
	"github.com/onerow/onerow/schema/internal/dict"
)

// TestToolkitTables holds what Verify wants of the toolkit's tables against what the migrations make: neither
// more nor less.
func TestToolkitTables(t *testing.T) {
	db := dbtest.Open(t)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	found, err := dict.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	v := verifier{found: &seen{Database: found}, wrong: map[*dict.Column]bool{}}
	v.toolkit()
	for _, d := range v.findings {
		t.Errorf("%+v", d)
	}
	wanted := map[string]bool{}
	for _, want := range ddl.Tables() {
		for _, c := range want.Columns {
			wanted[want.Name+"."+c.Name] = true
		}
		wanted[want.Name] = true
		indexes := 0
		err := onerow.Query(t.Context(), db, "SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?",
			[]any{want.Name}, func(rows *sql.Rows) error { return rows.Scan(&indexes) })
		if err != nil {
			t.Fatal(err)
		}
		if indexes != len(want.Indexes) {
			t.Errorf("%s has %d indexes, Verify wants %d", want.Name, indexes, len(want.Indexes))
		}
	}
	for name, table := range found.Tables {
		if !wanted[name] && name != migrations.TableName {
			t.Errorf("Verify does not look for %s", name)
		}
		for _, c := range table.Columns {
			if wanted[name] && !wanted[name+"."+c.Name] {
				t.Errorf("Verify does not look for %s.%s", name, c.Name)
			}
		}
	}
}
