package discover_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
	"github.com/onerow/onerow/schema/live"
)

func TestDiscover(t *testing.T) {
	db := livetest.Migrated(t, livetest.Shop()...)
	plan, notes, _, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{"store"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(plan.Tables, func(a, b schema.Table) int { return strings.Compare(a.Name, b.Name) })
	want := schema.Plan{Tables: []schema.Table{
		{Name: "audit", Key: []string{"id"}, Stays: true, Parents: []schema.Edge{{Table: "rental", Columns: []string{"rental"}, OnDelete: schema.OnDeleteDetach}}},
		{Name: "copy", Key: []string{"sku", "no"}, Parents: []schema.Edge{{Table: "film", Columns: []string{"sku"}}}},
		{Name: "film", Key: []string{"sku"}, Parents: []schema.Edge{{Table: "store", Columns: []string{"store_id"}}}},
		{Name: "rental", Key: []string{"id"}, Parents: []schema.Edge{{Table: "copy", Columns: []string{"sku", "no"}}}},
		{Name: "scan", Key: []string{"id"}, Parents: []schema.Edge{{Table: "film", Columns: []string{"tag"}, References: []string{"tag"}}}},
		{Name: "staff", Key: []string{"staff_id"}, Parents: []schema.Edge{{Table: "staff", Columns: []string{"boss_id"}}, {Table: "store", Columns: []string{"Store_ID"}}}},
		{Name: "store", Key: []string{"store_id"}, Parents: []schema.Edge{{Table: "staff", Columns: []string{"manager_id"}, OnDelete: schema.OnDeleteDetach}}},
	}}
	for i := range plan.Tables {
		slices.SortFunc(plan.Tables[i].Parents, func(a, b schema.Edge) int { return strings.Compare(a.Table, b.Table) })
	}
	if diff := cmp.Diff(want, plan); diff != "" {
		t.Error(diff)
	}
	if err := live.Verify(t.Context(), db, plan); err != nil {
		t.Error(err)
	}
	for _, n := range []struct{ table, says string }{
		{"store", "its loop is broken here (store (manager_id) → staff (Store_ID) → store): its columns may be NULL and are neither in the key nor in another edge that deletes, and it leads back towards a root"},
		{"", "staff (boss_id) → staff"}, {"staff", "refers to the table itself"}, {"audit", "ON DELETE SET NULL"}, {"audit", "Only detached"},
	} {
		if !slices.ContainsFunc(notes, func(note live.Note) bool { return note.Table == n.table && strings.Contains(note.Text, n.says) }) {
			t.Errorf("no note on %s says %q:\n%+v", n.table, n.says, notes)
		}
	}
	// A root of its own is more than a table that stays; a case that the server ignores is no other root.
	plan, _, _, err = discover.Plan(t.Context(), db, schema.Plan{}, []string{"audit", "store", "audit"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := plan.Tables[0]; a.Name != "audit" || a.Stays || len(plan.Tables) != 8 {
		t.Errorf("%+v", plan)
	}
	if err := live.Verify(t.Context(), db, plan); err != nil {
		t.Error(err)
	}
}

// TestDiscoverLoops: at which edge a loop is broken, and that nothing else is.
func TestDiscoverLoops(t *testing.T) {
	for _, c := range []struct {
		name   string
		tables []string
		root   string
		broken string // table and columns of the edges that detach
		refuse string // or what the error says
	}{
		{"no column may be null", []string{
			"CREATE TABLE a (id INT PRIMARY KEY, b_id INT NOT NULL, KEY (b_id))", "CREATE TABLE b (id INT PRIMARY KEY, a_id INT NOT NULL, FOREIGN KEY (a_id) REFERENCES a (id))",
			"ALTER TABLE a ADD FOREIGN KEY (b_id) REFERENCES b (id)"}, "a", "", "a (b_id) → b (a_id) → a; no row of it can go first (a: b_id is NOT NULL; b: a_id is NOT NULL)"},
		{"a column of the key", []string{
			"CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE b (id INT PRIMARY KEY, a_id INT NOT NULL, FOREIGN KEY (a_id) REFERENCES a (id))",
			"ALTER TABLE a ADD FOREIGN KEY (id) REFERENCES b (id)"}, "a", "", "a: id is in the key"},
		{"both may be null: back to the root", []string{
			"CREATE TABLE b (id INT PRIMARY KEY, a_id INT NULL)", "CREATE TABLE a (id INT PRIMARY KEY, b_id INT NULL, FOREIGN KEY (b_id) REFERENCES b (id))",
			"ALTER TABLE b ADD FOREIGN KEY (a_id) REFERENCES a (id)"}, "b", "b.a_id", ""},
		{"the other way round", []string{
			"CREATE TABLE b (id INT PRIMARY KEY, a_id INT NULL)", "CREATE TABLE a (id INT PRIMARY KEY, b_id INT NULL, FOREIGN KEY (b_id) REFERENCES b (id))",
			"ALTER TABLE b ADD FOREIGN KEY (a_id) REFERENCES a (id)"}, "a", "a.b_id", ""},
		{"not where the database deletes", []string{
			"CREATE TABLE b (id INT PRIMARY KEY, a_id INT NULL)", "CREATE TABLE a (id INT PRIMARY KEY, b_id INT NULL, FOREIGN KEY (b_id) REFERENCES b (id))",
			"ALTER TABLE b ADD FOREIGN KEY (a_id) REFERENCES a (id) ON DELETE CASCADE"}, "b", "a.b_id", ""},
		{"set null breaks it already", []string{
			"CREATE TABLE b (id INT PRIMARY KEY, a_id INT NULL)", "CREATE TABLE a (id INT PRIMARY KEY, b_id INT NULL, FOREIGN KEY (b_id) REFERENCES b (id))",
			"ALTER TABLE b ADD FOREIGN KEY (a_id) REFERENCES a (id) ON DELETE SET NULL"}, "b", "b.a_id", ""},
		{"three, and a part of a key", []string{
			"CREATE TABLE a (t INT, id INT, c_id INT NULL, PRIMARY KEY (t, id))",
			"CREATE TABLE b (t INT, id INT, a_id INT NOT NULL, PRIMARY KEY (t, id), FOREIGN KEY (t, a_id) REFERENCES a (t, id))",
			"CREATE TABLE c (t INT, id INT, b_id INT NOT NULL, PRIMARY KEY (t, id), FOREIGN KEY (t, b_id) REFERENCES b (t, id))",
			"ALTER TABLE a ADD FOREIGN KEY (t, c_id) REFERENCES c (t, id)"}, "a", "a.t,c_id", ""},
		{"two loops through one edge", []string{
			"CREATE TABLE a (id INT PRIMARY KEY, b_id INT NULL)",
			"CREATE TABLE b (id INT PRIMARY KEY, c_id INT NULL, d_id INT NULL)",
			"CREATE TABLE c (id INT PRIMARY KEY, a_id INT NULL, FOREIGN KEY (a_id) REFERENCES a (id))",
			"CREATE TABLE d (id INT PRIMARY KEY, a_id INT NULL, FOREIGN KEY (a_id) REFERENCES a (id))",
			"ALTER TABLE b ADD FOREIGN KEY (c_id) REFERENCES c (id), ADD FOREIGN KEY (d_id) REFERENCES d (id)",
			"ALTER TABLE a ADD FOREIGN KEY (b_id) REFERENCES b (id)"}, "a", "a.b_id", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := livetest.Bare(t, c.tables...)
			plan, _, _, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{c.root}, nil)
			if c.refuse != "" {
				if !errors.Is(err, discover.ErrNoPlan) || !strings.Contains(err.Error(), c.refuse) {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var broken []string
			for _, table := range plan.Tables {
				for _, e := range table.Parents {
					if e.OnDelete == schema.OnDeleteDetach {
						broken = append(broken, table.Name+"."+strings.Join(e.Columns, ","))
					}
				}
			}
			if strings.Join(broken, " ") != c.broken {
				t.Errorf("broken at %q: %+v", broken, plan)
			}
			if found := livetest.Own(t, db, plan); len(found) > 0 {
				t.Error(found)
			}
		})
	}
}

// TestDiscoverObstacles: no plan is made halfway, and each obstacle has its remedy.
func TestDiscoverObstacles(t *testing.T) {
	db := livetest.Bare(t,
		"CREATE TABLE a (id INT PRIMARY KEY, UNIQUE KEY (id))",
		"CREATE TABLE nokey (a_id INT NOT NULL, code INT NOT NULL UNIQUE, FOREIGN KEY (a_id) REFERENCES a (id))",
		"CREATE TABLE nothing (a_id INT NOT NULL, id INT NULL, FOREIGN KEY (a_id) REFERENCES a (id))",
		"CREATE TABLE zone (at TIMESTAMP NOT NULL PRIMARY KEY, a_id INT NOT NULL, FOREIGN KEY (a_id) REFERENCES a (id))",
		"CREATE TABLE cut (name TEXT NOT NULL, a_id INT NOT NULL, PRIMARY KEY (name(20)), FOREIGN KEY (a_id) REFERENCES a (id))",
		"CREATE TABLE `line\nbreak` (id INT PRIMARY KEY, a_id INT NOT NULL, FOREIGN KEY (a_id) REFERENCES a (id))",
		"CREATE VIEW seen AS SELECT * FROM a", "CREATE TABLE isam (id INT PRIMARY KEY) ENGINE=MyISAM")
	_, _, _, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{"a", "seen", "isam"}, nil)
	if !errors.Is(err, discover.ErrNoPlan) {
		t.Fatal(err)
	}
	for _, says := range []string{
		"table \"nokey\": it has no primary key, so no row can be named; ALTER TABLE `nokey` ADD PRIMARY KEY (`code`)",
		"ALTER TABLE `nothing` ADD COLUMN `id_2` BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY",
		`table "zone": its primary key has the column "at": the exact value of a timestamp cannot be held`,
		`table "cut": its primary key has`, "not an SQL identifier", `table "seen": it is a view`, "ALTER TABLE `isam` ENGINE=InnoDB",
	} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("no line says %q:\n%v", says, err)
		}
	}
	for _, c := range []struct {
		roots []string
		is    error
		says  string
	}{
		{nil, discover.ErrNoPlan, "at least one table"},
		{[]string{"nokeys"}, discover.ErrUnknownTable, `"nokeys"; the database`},
		{[]string{"a", "`; DROP TABLE a; --"}, discover.ErrUnknownTable, "has none that this user may see"},
	} {
		if _, _, _, err := discover.Plan(t.Context(), db, schema.Plan{}, c.roots, nil); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v", c.roots, err)
		}
	}
}

// TestOtherDatabases: a plan does not reach into another database, and says so.
func TestOtherDatabases(t *testing.T) {
	db := livetest.Bare(t, "CREATE TABLE a (id INT PRIMARY KEY)")
	var name string
	if err := db.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	other := dbtest.Open(t)
	dbtest.Exec(t, other, "CREATE TABLE below (id INT PRIMARY KEY, a_id INT, CONSTRAINT far FOREIGN KEY (a_id) REFERENCES `"+name+"`.a (id) ON DELETE CASCADE)")
	plan, notes, _, err := discover.Plan(t.Context(), db, schema.Plan{}, []string{"a"}, nil)
	if err != nil || len(plan.Tables) != 1 || len(notes) != 1 || !strings.Contains(notes[0].Text, `"far"`) || !strings.Contains(notes[0].Text, "from another database") {
		t.Errorf("%+v, %+v, %v", plan, notes, err)
	}
	found := livetest.Own(t, db, plan)
	if len(found) != 1 || found[0].Table != "a" || found[0].Index != "far" || !strings.Contains(found[0].Fix, "DROP FOREIGN KEY `far`") {
		t.Fatalf("%+v", found)
	}
	dbtest.Exec(t, db, found[0].SQL)
	if found := livetest.Own(t, db, plan); len(found) > 0 {
		t.Error(found)
	}
}

// TestDiscoverAsAReader: a user who sees a part of the tables is told that it is a part.
func TestDiscoverAsAReader(t *testing.T) {
	db := livetest.Bare(t, "CREATE TABLE a (id INT PRIMARY KEY)", "CREATE TABLE below (id INT PRIMARY KEY, a_id INT, FOREIGN KEY (a_id) REFERENCES a (id))")
	as, _, _ := livetest.User(t, db, "d", "GRANT SELECT ON %d.a TO %u")
	plan, notes, _, err := discover.Plan(t.Context(), as, schema.Plan{}, []string{"a"}, nil)
	if err != nil || len(plan.Tables) != 1 || !slices.ContainsFunc(notes, func(n live.Note) bool {
		return n.Table == "" && strings.Contains(n.Text, "rights on single tables only")
	}) {
		t.Errorf("%+v, %+v, %v", plan, notes, err)
	}
}
