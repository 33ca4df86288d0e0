package schematest

import (
	"database/sql"
	"maps"
	"slices"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// planOf declares every foreign key; detach names further edges, "table.column", that
// are not followed.
func planOf(t *testing.T, db *sql.DB, s Snapshot, detach ...string) schema.Plan {
	t.Helper()
	keys, err := ForeignKeys(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	var plan schema.Plan
	for _, table := range slices.Sorted(maps.Keys(s)) {
		d := schema.Table{Name: table, Key: s[table].Key}
		for _, k := range keys {
			if k.Child != table {
				continue
			}
			e := schema.Edge{Table: k.Parent, Columns: k.Columns, References: k.References}
			if k.Rule == "SET NULL" || slices.Contains(detach, table+"."+k.Columns[0]) {
				e.OnDelete = schema.OnDeleteDetach
			}
			d.Parents = append(d.Parents, e)
		}
		plan.Tables = append(plan.Tables, d)
	}
	return plan
}

// TestFixtures: the three schemas load, and every reference that is not NULL is kept.
func TestFixtures(t *testing.T) {
	for _, f := range Fixtures() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t)
			if err := f.Load(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			s, err := Read(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			total := 0
			for table, c := range s {
				total += len(c.Rows)
				if len(c.Rows) == 0 || len(c.Key) == 0 {
					t.Errorf("%s has %d rows and the key %q", table, len(c.Rows), c.Key)
				}
			}
			if total < 500 {
				t.Errorf("only %d rows", total)
			}
			links, err := allLinks(t.Context(), db, planOf(t, db, s))
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range links {
				found, err := follow(t.Context(), db, s, l)
				if err != nil {
					t.Fatal(err)
				}
				refer, kept := 0, 0
				for _, r := range s[l.child].Rows {
					if !slices.ContainsFunc(l.columns, func(c string) bool { return !r[slices.Index(s[l.child].Columns, c)].Valid }) {
						refer++
					}
				}
				for _, children := range found {
					kept += len(children)
				}
				if refer != kept || kept == 0 {
					t.Errorf("%s %q: %d rows refer to %s, %d of them to a row that is there", l.child, l.columns, refer, l.parent, kept)
				}
			}
		})
	}
}

// TestChecker: what the checker expects of a small database, written down by hand.
func TestChecker(t *testing.T) {
	db := dbtest.Open(t)
	for _, s := range []string{
		"CREATE TABLE a (id INT PRIMARY KEY, up INT NULL, CONSTRAINT up FOREIGN KEY (up) REFERENCES a (id))",
		"CREATE TABLE b (x CHAR(2), y INT, boss INT NULL, old INT NULL, PRIMARY KEY (x, y), CONSTRAINT boss FOREIGN KEY (boss) REFERENCES a (id)," +
			" CONSTRAINT old FOREIGN KEY (old) REFERENCES a (id) ON DELETE SET NULL)",
		"CREATE TABLE note (id INT PRIMARY KEY, kind VARCHAR(9), about INT)",
		"INSERT INTO a VALUES (1, NULL), (2, 1), (3, 2), (4, NULL), (5, 5)",
		"INSERT INTO b VALUES ('p', 1, 3, NULL), ('p', 2, 4, 3), ('q', 1, NULL, 4), ('q', 2, 1, 1)",
		"INSERT INTO note VALUES (1, 'a', 3), (2, 'z', 3), (3, 'A', 2), (4, NULL, 2)",
	} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	before, err := Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	plan := planOf(t, db, before)
	plan.Tables[2].Parents = []schema.Edge{{Table: "a", Columns: []string{"about"}, When: map[string]string{"kind": "a"}}}
	e, err := Expect(t.Context(), db, before, plan, "a", "2")
	if err != nil {
		t.Fatal(err)
	}
	// notes 1 and 3: the column ignores case
	if want := map[string]int64{"a": 2, "b": 1, "note": 2}; !maps.Equal(e.Deleted, want) || !maps.Equal(e.Detached, map[string]int64{"b": 1}) {
		t.Fatalf("%v %v", e.Deleted, e.Detached)
	}
	if lines, err := e.Compare(t.Context(), db); err != nil || len(lines) != 7 {
		t.Errorf("%q, %v", lines, err)
	}
	for _, s := range []string{"DELETE FROM b WHERE boss = 3", "UPDATE b SET old = NULL WHERE old = 3", "DELETE FROM note WHERE id IN (1, 3)", "DELETE FROM a WHERE id = 3", "DELETE FROM a WHERE id = 2"} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if lines, err := e.Compare(t.Context(), db); err != nil || len(lines) != 0 {
		t.Errorf("%q, %v", lines, err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE note SET kind = 'Z' WHERE id = 2"); err != nil { // equal, but for its bytes
		t.Fatal(err)
	}
	if lines, err := e.Compare(t.Context(), db); err != nil || len(lines) != 2 {
		t.Errorf("%q, %v", lines, err)
	}
	plan.Tables[1].Parents = plan.Tables[1].Parents[:1]
	if _, err := Expect(t.Context(), db, before, plan, "a", "2"); err == nil {
		t.Error("a foreign key that the plan lacks is not found")
	}
}
