package crashtest

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// family are two tables: screens, and comments that refer to them.
var family = []*table{
	{name: "screen", columns: []column{{"id", generated, "screen.id"}, {"name", plain, ""}, {"created_at", moment, ""}}},
	{name: "comment", columns: []column{{"id", generated, "comment.id"}, {"screen_id", generated, "screen.id"}, {"body", plain, ""}}},
}

// rowsOf reads "1,home,1": fields between commas, - for NULL.
func rowsOf(lines ...string) []row {
	var rows []row
	for _, line := range lines {
		var r row
		for field := range strings.SplitSeq(line, ",") {
			r = append(r, sql.NullString{Valid: field != "-", String: strings.TrimPrefix(field, "-")})
		}
		rows = append(rows, r)
	}
	return rows
}

func TestTablesAreComparedUpToGeneratedIds(t *testing.T) {
	noStart := snapshot{nil, nil}
	tests := []struct {
		name           string
		startA, startB snapshot
		a, b           snapshot
		same           bool
	}{
		{
			"other numbers, other order", noStart, noStart,
			snapshot{rowsOf("1,home,1", "2,help,1"), rowsOf("1,1,good", "2,2,bad")},
			snapshot{rowsOf("70,help,1", "9,home,1"), rowsOf("5,70,bad", "6,9,good")}, true,
		},
		{
			"a comment under the other screen", noStart, noStart,
			snapshot{rowsOf("1,home,1", "2,help,1"), rowsOf("1,1,good", "2,2,bad")},
			snapshot{rowsOf("1,home,1", "2,help,1"), rowsOf("1,2,good", "2,1,bad")}, false,
		},
		{
			"twins, each with a comment", noStart, noStart,
			snapshot{rowsOf("1,home,1", "2,home,1"), rowsOf("1,1,good", "2,2,good")},
			snapshot{rowsOf("1,home,1", "2,home,1"), rowsOf("1,2,good", "2,1,good")}, true,
		},
		{
			"twins, one with both comments", noStart, noStart,
			snapshot{rowsOf("1,home,1", "2,home,1"), rowsOf("1,1,good", "2,2,good")},
			snapshot{rowsOf("1,home,1", "2,home,1"), rowsOf("1,1,good", "2,1,good")}, false,
		},
		{
			"a row twice", noStart, noStart,
			snapshot{rowsOf("1,home,1"), nil},
			snapshot{rowsOf("1,home,1", "2,home,1"), nil}, false,
		},
		{
			"no time", noStart, noStart,
			snapshot{rowsOf("1,home,1"), nil},
			snapshot{rowsOf("1,home,0"), nil}, false,
		},
		{
			"NULL is not empty", noStart, noStart,
			snapshot{rowsOf("1,-,1"), nil},
			snapshot{rowsOf("1,,1"), nil}, false,
		},
		{
			"NULL reference", noStart, noStart,
			snapshot{rowsOf("1,home,1"), rowsOf("1,1,good")},
			snapshot{rowsOf("1,home,1"), rowsOf("1,-,good")}, false,
		},
		{
			"a reference to nothing", noStart, noStart,
			snapshot{rowsOf("1,home,1"), rowsOf("1,1,good")},
			snapshot{rowsOf("1,home,1"), rowsOf("1,99,good")}, false,
		},
		{
			"the row of the start is kept", snapshot{rowsOf("1,home,1"), nil}, snapshot{rowsOf("8,home,1"), nil},
			snapshot{rowsOf("1,home,1"), nil},
			snapshot{rowsOf("8,home,1"), nil}, true,
		},
		{
			"the row of the start is made anew", snapshot{rowsOf("1,home,1"), nil}, snapshot{rowsOf("8,home,1"), nil},
			snapshot{rowsOf("1,home,1"), nil},
			snapshot{rowsOf("9,home,1"), nil}, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := identify(family, tt.startA, tt.a)
			b := identify(family, tt.startB, tt.b)
			if d := diff(a, b, faultSides); (d == "") != tt.same {
				t.Errorf("same: %v\n%s", d == "", d)
			}
			if d := diff(b, a, faultSides); (d == "") != tt.same {
				t.Errorf("the other way round, same: %v\n%s", d == "", d)
			}
		})
	}
}

func TestDiffReadsWell(t *testing.T) {
	a := identify(family, snapshot{rowsOf("7,home,1"), nil}, snapshot{rowsOf("7,home,1", "9,help,0"), rowsOf("1,9,good", "2,7,bad")})
	b := identify(family, snapshot{rowsOf("7,home,1"), nil}, snapshot{rowsOf("7,home,1", "12,help,1"), rowsOf("4,7,bad")})
	want := `table screen: 2 rows without the fault, 2 rows with it
     id  name  created_at
  -  #2  help  NULL
  +  #2  help  a time
table comment: 2 rows without the fault, 1 row with it
     id  screen_id  body
  -  #2  #2         good
`
	if d := cmp.Diff(want, diff(a, b, faultSides)); d != "" {
		t.Error(d)
	}

	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("%d,name %02d,1", i+1, i))
	}
	a = identify(family, snapshot{nil, nil}, snapshot{rowsOf(many...), nil})
	b = identify(family, snapshot{nil, nil}, snapshot{nil, nil})
	if d := diff(a, b, faultSides); !strings.Contains(d, "… and 8 more") || strings.Count(d, "\n") != 2+maxDiffRows+1 {
		t.Errorf("a long difference is not cut:\n%s", d)
	}
}

func TestCellsAreReadable(t *testing.T) {
	tests := map[string]string{
		"":                      `""`,
		"home":                  "home",
		"\x00\xff":              "0x00ff",
		strings.Repeat("ö", 50): strings.Repeat("ö", 39) + "…",
	}
	for text, want := range tests {
		if got := shown(sql.NullString{Valid: true, String: text}); got != want {
			t.Errorf("%q is shown as %s", text, got)
		}
	}
}

func TestCatalog(t *testing.T) {
	columns := []found{
		{"audit", "id", "bigint", true},
		{"audit", "what", "varchar", false},
		{"comment", "id", "bigint", true},
		{"comment", "screen_id", "bigint", false},
		{"mark", "at", "datetime", false},
		{"screen", "id", "bigint", true},
		{"screen", "token", "varbinary", false},
		{"screen", "version", "bigint", false},
		{"screen_archive", "id", "bigint", false},
		{"screen_archive", "gone_at", "timestamp", false},
		{"view", "comment_screen", "bigint", false},
	}
	w := Workflow{
		Ignore:    []string{"mark", "screen.version"},
		Generated: []string{"screen.token"},
		Refs:      map[string]string{"screen_archive.id": "screen.id", "view.comment_screen": "comment.screen_id"},
		Sets:      []string{"audit"},
	}
	got, err := buildCatalog(columns, map[string]string{"comment.screen_id": "screen.id"}, w)
	if err != nil {
		t.Fatal(err)
	}
	want := []*table{
		{name: "audit", set: true, columns: []column{{"what", plain, ""}}},
		{name: "comment", columns: []column{{"id", generated, "comment.id"}, {"screen_id", generated, "screen.id"}}},
		{name: "screen", columns: []column{{"id", generated, "screen.id"}, {"token", generated, "screen.token"}}},
		{name: "screen_archive", columns: []column{{"id", generated, "screen.id"}, {"gone_at", moment, ""}}},
		{name: "view", columns: []column{{"comment_screen", generated, "screen.id"}}},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(table{}, column{})); d != "" {
		t.Error(d)
	}
	w.Tables = []string{"screen"}
	if got, err = buildCatalog(columns, nil, w); err != nil || len(got) != 1 || got[0].name != "screen" {
		t.Errorf("%v %v", got, err)
	}
}

// What the server holds: foreign keys are found, sets have each row once, odd names and values do no harm.
func TestSnapshotOfRealTables(t *testing.T) {
	dsn := dbtest.DSN(t)
	db := dbtest.OpenDSN(t, dsn)
	mustExec(t, db,
		"CREATE TABLE `par``ent` (id INT AUTO_INCREMENT PRIMARY KEY, `select` BLOB, made DATETIME NOT NULL) ENGINE=InnoDB",
		"CREATE TABLE child (parent INT NULL, FOREIGN KEY (parent) REFERENCES `par``ent` (id)) ENGINE=InnoDB",
		"CREATE TABLE audit (id INT AUTO_INCREMENT PRIMARY KEY, what TEXT) ENGINE=InnoDB",
		"CREATE VIEW seen AS SELECT what FROM audit",
		"INSERT INTO `par``ent` (id, `select`, made) VALUES (7, X'00FF', '2024-01-01')",
		"INSERT INTO child VALUES (7), (NULL)",
		"INSERT INTO audit (what) VALUES ('a'), ('b'), ('a')",
	)
	x := explorerOf(t, Workflow{DSN: dsn, Setup: emptyShop, Call: buy, Sets: []string{"audit"}})
	snap, err := takeSnapshot(t.Context(), x.observer, x.tables)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, tab := range x.tables {
		names = append(names, tab.name)
	}
	if d := cmp.Diff([]string{"audit", "child", "par`ent"}, names); d != "" {
		t.Error(d)
	}
	want := snapshot{rowsOf("a", "b"), rowsOf("-", "7"), {{{String: "7", Valid: true}, {String: "\x00\xff", Valid: true}, {String: "1", Valid: true}}}}
	if d := cmp.Diff(want, snap); d != "" {
		t.Error(d)
	}
	if c := x.tables[1].columns[0]; c.class != generated || c.domain != "par`ent.id" {
		t.Errorf("the foreign key was not found: %+v", c)
	}
}
