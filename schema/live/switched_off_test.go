package live_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// switchOff makes an index INVISIBLE, as MySQL calls it, or IGNORED, as MariaDB does.
func switchOff(t *testing.T, db *sql.DB, table, index string) (on string) {
	t.Helper()
	off, on := "INVISIBLE", "VISIBLE"
	if dbtest.Server(t).Engine() == devdb.MariaDB {
		off, on = "IGNORED", "NOT IGNORED"
	}
	dbtest.Exec(t, db, "ALTER TABLE "+ident.Quote(table)+" ALTER INDEX "+ident.Quote(index)+" "+off)
	return on
}

// TestSwitchedOffIndexes: an index that reads may not use is not chosen, since no statement
// may name it, and is no help to anybody; what it refuses, it refuses still.
func TestSwitchedOffIndexes(t *testing.T) {
	plan, tables := livetest.School()
	db := livetest.Open(t, schema.Plan{})
	for _, stmt := range tables {
		dbtest.Exec(t, db, stmt)
	}
	dbtest.Exec(t, db, "ALTER TABLE grade ADD COLUMN x INT, ADD KEY z_new (pupil, x)")
	if got := livetest.Differences(t, db, plan); len(got) > 0 {
		t.Fatalf("%+v", got)
	}
	edge := schema.Edge{Table: "pupil", Columns: []string{"pupil"}}
	chosen := func() string {
		t.Helper()
		cat, err := catalog.Read(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		return append(cat.Indexes("grade", edge), "")[0]
	}
	if got := chosen(); got != "pupil" {
		t.Errorf("%q", got)
	}
	switchOff(t, db, "grade", "pupil")
	if got := chosen(); got != "z_new" {
		t.Errorf("with another one: %q", got)
	}
	if got := livetest.Differences(t, db, plan); len(got) > 0 {
		t.Errorf("with another one: %+v", got)
	}
	on := switchOff(t, db, "grade", "z_new")
	if got := chosen(); got != "" {
		t.Errorf("with none: %q", got)
	}
	got := livetest.Differences(t, db, plan)
	if len(got) != 1 || got[0].Index != "pupil" || !strings.HasSuffix(got[0].Fix, on) || !strings.Contains(got[0].Problem, "switched off") {
		t.Fatalf("with none: %+v", got)
	}
	dbtest.Exec(t, db, got[0].SQL)
	if got := livetest.Differences(t, db, plan); len(got) > 0 {
		t.Errorf("put right: %+v", got)
	}
}
