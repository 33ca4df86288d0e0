package catalog_test

import (
	"database/sql"
	"encoding/json"
	"slices"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
	"github.com/onerow/onerow/schema/discover"
)

func fingerprint(t testing.TB, db *sql.DB, plan schema.Plan) string {
	t.Helper()
	cat, err := catalog.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return cat.Describe(plan)
}

// TestFingerprint: it changes with what a cascade relies on, and with nothing else.
func TestFingerprint(t *testing.T) {
	db := livetest.Bare(t, livetest.Shop()...)
	plan, _, _, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{"store"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := fingerprint(t, db, plan)
	if !json.Valid([]byte(last)) {
		t.Fatal(last)
	}
	turned := schema.Plan{Tables: slices.Clone(plan.Tables)}
	slices.Reverse(turned.Tables)
	for i, table := range turned.Tables {
		turned.Tables[i].Parents = slices.Clone(table.Parents)
		slices.Reverse(turned.Tables[i].Parents)
		for j := range turned.Tables[i].Parents {
			if e := &turned.Tables[i].Parents[j]; e.OnDelete == "" {
				e.OnDelete = schema.OnDeleteDelete
			}
		}
	}
	if fingerprint(t, db, turned) != last {
		t.Error("it depends on the order of the plan, or on defaults that are written out")
	}
	for _, c := range []struct {
		stmt    string
		changes bool
	}{
		{"ALTER TABLE film ADD COLUMN title VARCHAR(80) NULL", false},
		{"ALTER TABLE film ADD KEY (title), ADD UNIQUE KEY (title, sku)", false},
		{"ALTER TABLE film COMMENT 'x'", false},
		{"CREATE TABLE other (id INT PRIMARY KEY)", false},
		{"CREATE TRIGGER elsewhere BEFORE DELETE ON other FOR EACH ROW SET @x = 1", false},
		{"ALTER TABLE audit_line ADD COLUMN x INT", false}, // below a table that stays
		{"INSERT INTO country VALUES ('fr')", false},
		{"CREATE TRIGGER here BEFORE DELETE ON film FOR EACH ROW SET @x = 1", true},
		{"DROP TRIGGER here", true},
		{"ALTER TABLE scan MODIFY tag VARBINARY(16) NULL", true},
		{"ALTER TABLE rental ADD COLUMN up BINARY(16) NULL, ADD CONSTRAINT up FOREIGN KEY (up) REFERENCES rental (id)", true},
		{"ALTER TABLE rental DROP FOREIGN KEY up", true},
		{"ALTER TABLE rental ADD CONSTRAINT other_name FOREIGN KEY (up) REFERENCES rental (id) ON DELETE CASCADE", true},
		{"CREATE TABLE new (id INT PRIMARY KEY, sku VARCHAR(20), FOREIGN KEY (sku) REFERENCES film (sku))", true},
		{"DROP TABLE new", true},
		{"ALTER TABLE staff DROP PRIMARY KEY, ADD PRIMARY KEY (staff_id, Store_ID), ADD UNIQUE KEY (staff_id)", true},
		{"ALTER TABLE staff DROP FOREIGN KEY works_in", true},
		{"DROP TABLE scan", true},
	} {
		dbtest.Exec(t, db, c.stmt)
		now := fingerprint(t, db, plan)
		if (now != last) != c.changes {
			t.Errorf("%s: changes: %v", c.stmt, now != last)
		}
		last = now
	}
	plan.Tables[0].Asset = "file"
	if fingerprint(t, db, plan) == last {
		t.Error("it does not depend on the plan")
	}
}

// TestInspectTables: what is left out is what belongs to other tables only.
func TestInspectTables(t *testing.T) {
	plan, tables := livetest.School()
	db := livetest.Open(t, schema.Plan{})
	for _, stmt := range append(tables, "CREATE TABLE other (id INT PRIMARY KEY, grade INT, FOREIGN KEY (grade) REFERENCES grade (id))") {
		dbtest.Exec(t, db, stmt)
	}
	whole, err := catalog.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range plan.Nodes() {
		names = append(names, n.Tables...)
	}
	some, err := catalog.Read(t.Context(), db, names...)
	if err != nil {
		t.Fatal(err)
	}
	if some.Describe(plan) != whole.Describe(plan) {
		t.Error("another fingerprint")
	}
	if _, ok := some.Column("grade", "pupil"); !ok {
		t.Error("no column of a table that was named")
	}
	if names := some.Indexes("grade", schema.Edge{Table: "pupil", Columns: []string{"pupil"}}); len(names) == 0 {
		t.Error("no index of a table that was named")
	}
	if _, ok := some.Column("other", "id"); ok {
		t.Error("a column of another table")
	}
}
