package inspect

import (
	"slices"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// TestOrphansDespiteForeignKeys: the search does not rely on foreign keys by which MySQL 9.7 takes a row whose
// row above is not there. Here no key is checked, so that all servers have such rows.
func TestOrphansDespiteForeignKeys(t *testing.T) {
	db := dbtest.Open(t, dbtest.Param("foreign_key_checks", "0"))
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{
		// A key to the table itself that shares a column with what it refers to.
		"CREATE TABLE part (tenant INT NOT NULL, id INT NOT NULL, up INT NULL, PRIMARY KEY (tenant, id), KEY up (tenant, up), FOREIGN KEY (tenant, up) REFERENCES part (tenant, id))",
		"INSERT INTO part VALUES (1, 1, NULL), (1, 2, 1), (1, 3, 99), (2, 4, 1)",
		// Indexes of a key with a further column, which may be NULL: the first one decides.
		"CREATE TABLE top (id INT PRIMARY KEY)",
		"CREATE TABLE wide (id INT PRIMARY KEY, top_id INT, at DATETIME NULL, KEY a (top_id, at), KEY b (top_id), FOREIGN KEY (top_id) REFERENCES top (id))",
		"CREATE TABLE last (id INT PRIMARY KEY, top_id INT, x INT NOT NULL, at DATETIME NULL, KEY a (top_id, x, at), FOREIGN KEY (top_id) REFERENCES top (id))",
		"INSERT INTO top VALUES (1)", "INSERT INTO wide VALUES (1, 1, NULL), (2, 97, NULL)", "INSERT INTO last VALUES (1, 1, 1, NULL), (2, 98, 1, NULL)",
		// What every server holds is not read.
		"CREATE TABLE held (id INT PRIMARY KEY, top_id INT, x INT NOT NULL, KEY a (top_id, x), FOREIGN KEY (top_id) REFERENCES top (id))",
		"INSERT INTO held VALUES (1, 96, 1)",
	} {
		dbtest.Exec(t, db, stmt)
	}
	below := func(name string) schema.Table {
		return schema.Table{Name: name, Key: []string{"id"}, Parents: []schema.Edge{{Table: "top", Columns: []string{"top_id"}}}}
	}
	plan := schema.Plan{Tables: []schema.Table{
		{Name: "part", Key: []string{"tenant", "id"}, Parents: []schema.Edge{{Table: "part", Columns: []string{"tenant", "up"}}}},
		{Name: "top", Key: []string{"id"}}, below("wide"), below("last"), below("held"),
	}}
	want := []string{"part 1,99: 1 in part", "part 2,1: 1 in part", "top 97: 1 in wide", "top 98: 1 in last"}
	if lines, _ := orphansOf(t, db, plan, OrphanOptions{}); !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
}

// TestOrphansWhereKeysHoldNothing: whatever shape a foreign key and its index have, a row below nothing that
// the server takes is found.
func TestOrphansWhereKeysHoldNothing(t *testing.T) {
	db := openWith(t, "CREATE TABLE top (id INT PRIMARY KEY)", "INSERT INTO top VALUES (1)")
	id, two := []string{"id"}, []string{"a", "b"}
	for _, c := range []struct {
		name, ddl, row, above string
		key, columns          []string
	}{
		{"plain", "id INT PRIMARY KEY, up INT, x INT, KEY (up), FOREIGN KEY (up) REFERENCES top (id)", "1, 99, NULL", "top", id, []string{"up"}},
		{"wide", "id INT PRIMARY KEY, up INT, x INT, KEY (up, x), FOREIGN KEY (up) REFERENCES top (id)", "1, 99, NULL", "top", id, []string{"up"}},
		{"wide, not NULL", "id INT PRIMARY KEY, up INT, x INT NOT NULL, KEY (up, x), FOREIGN KEY (up) REFERENCES top (id)", "1, 99, 1", "top", id, []string{"up"}},
		{"wide, the first", "id INT PRIMARY KEY, up INT, x INT, KEY k (up, x), KEY l (up), FOREIGN KEY (up) REFERENCES top (id)", "1, 99, NULL", "top", id, []string{"up"}},
		{"descending", "id INT PRIMARY KEY, up INT, x INT, KEY (up, x DESC), FOREIGN KEY (up) REFERENCES top (id)", "1, 99, NULL", "top", id, []string{"up"}},
		{"own", "id INT PRIMARY KEY, up INT, KEY (up), FOREIGN KEY (up) REFERENCES below (id)", "1, 99", "below", id, []string{"up"}},
		{"own, wide", "id INT PRIMARY KEY, up INT, x INT, KEY (up, x), FOREIGN KEY (up) REFERENCES below (id)", "1, 99, NULL", "below", id, []string{"up"}},
		{"own, shared", "a INT, b INT, up INT, PRIMARY KEY (a, b), KEY (a, up), FOREIGN KEY (a, up) REFERENCES below (a, b)", "1, 1, 99", "below", two, []string{"a", "up"}},
		{"own, shared behind", "a INT, b INT, up INT, PRIMARY KEY (a, b), KEY (up, b), FOREIGN KEY (up, b) REFERENCES below (a, b)", "1, 1, 99", "below", two, []string{"up", "b"}},
		{"own, of two", "a INT, b INT, c INT, d INT, PRIMARY KEY (a, b), KEY (c, d), FOREIGN KEY (c, d) REFERENCES below (a, b)", "1, 1, 9, 9", "below", two, []string{"c", "d"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Exec(t, db, "CREATE TABLE below ("+c.ddl+")")
			_, refused := db.ExecContext(t.Context(), "INSERT INTO below VALUES ("+c.row+")")
			plan := schema.Plan{Tables: []schema.Table{{Name: "top", Key: id},
				{Name: "below", Key: c.key, Parents: []schema.Edge{{Table: c.above, Columns: c.columns}}}}}
			if lines, _ := orphansOf(t, db, plan, OrphanOptions{}); len(lines) != dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM below") {
				t.Errorf("the server says %v, the search finds %q", refused, lines)
			}
			dbtest.Exec(t, db, "DROP TABLE below")
		})
	}
}
