package inspect

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// told is an orphan in a line.
func told(o Orphan) string {
	line := fmt.Sprintf("%s %s: %d in %s", o.Resource, o.ID, o.Rows, o.Table)
	if o.AtLeast {
		line += "+"
	}
	if o.ReportOnly != "" {
		line += " (" + o.ReportOnly + ")"
	}
	return line
}

func orphansOf(t *testing.T, db onerow.DB, plan schema.Plan, o OrphanOptions) (lines []string, all []Orphan) {
	t.Helper()
	err := Orphans(t.Context(), db, plan, o, func(found Orphan) error {
		lines, all = append(lines, told(found)), append(all, found)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, all
}

// TestOrphansOfResources: a parent may be in either table, hidden too, or be gone under
// an open job; what is queued for the others takes their rows away.
func TestOrphansOfResources(t *testing.T) {
	foresttest.Each(t, func(t *testing.T, db *sql.DB) {
		if lines, _ := orphansOf(t, db, forest, OrphanOptions{}); lines != nil {
			t.Errorf("in empty tables: %q", lines)
		}
		foresttest.Project(t, db, 1)
		foresttest.Insert(t, db, "project_archive", map[string]any{"id": 2, "user_id": 8})
		foresttest.Insert(t, db, "project_archive", map[string]any{"id": 3, "user_id": 8, "deletion_id": 1})
		for id := range int64(5) {
			foresttest.Grow(t, db, id+1, 2, 1, 1, 1) // 4 and 5 have no row
		}
		enqueue(t, db, "project", "4", time.Hour)
		foresttest.Insert(t, db, "reaction", map[string]any{"comment_id": 77})
		foresttest.Insert(t, db, "tag", map[string]any{"screen_id": 77})
		want := []string{"project 5: 1 in screen", "project 5: 1 in screen_archive", "comment 77: 1 in reaction", "screen 77: 1 in tag",
			"project 5: 1 in note", "project 5: 1 in widget"}
		for _, page := range []int{0, 1, 2} {
			lines, _ := orphansOf(t, db, forest, OrphanOptions{Page: page})
			for i := range lines {
				lines[i] = strings.TrimSuffix(lines[i], "+")
			}
			if !slices.Equal(lines, want) {
				t.Errorf("page %d: %q\nwant %q", page, lines, want)
			}
		}
		_, all := orphansOf(t, db, forest, OrphanOptions{})
		dbtest.Exec(t, db, "DELETE FROM onerow_job")
		foresttest.Project(t, db, 5) // it is there after all, by the time that it would be queued
		done, err := EnqueueOrphans(t.Context(), db, forest, all)
		if err != nil || done != (EnqueuedOrphans{Queued: 2, Returned: 1}) {
			t.Errorf("%+v, %v", done, err)
		}
		if done, err = EnqueueOrphans(t.Context(), db, forest, all); err != nil || done.Queued != 0 || done.Open != 2 {
			t.Errorf("again: %+v, %v", done, err)
		}
		dbtest.Exec(t, db, "DELETE FROM project WHERE id = 5")
		if _, err = EnqueueOrphans(t.Context(), db, forest, all); err != nil {
			t.Fatal(err)
		}
		drain(t, db, forest, cascade.Config{})
		lines, rest := orphansOf(t, db, forest, OrphanOptions{}) // the job of 4 is gone
		if len(lines) != 4 || rest[0].ID != "4" {
			t.Errorf("left: %q", lines)
		}
		if left := foresttest.Rows(t, db, 5); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		if left := foresttest.Rows(t, db, 1); len(left) == 0 {
			t.Error("rows below a row that is there went")
		}
	})
}

// designed is what somebody else designed: keys of all kinds, few foreign keys.
var designed = schema.Plan{Tables: []schema.Table{
	{Name: "region", Key: []string{"code", "since"}},
	{Name: "city", Key: []string{"id"}, Parents: []schema.Edge{{Table: "region", Columns: []string{"region_since", "region_code"}, References: []string{"since", "code"}}}},
	{Name: "street", Key: []string{"id"}, Parents: []schema.Edge{{Table: "city", Columns: []string{"city_name"}, References: []string{"name"}}}},
	{Name: "house", Key: []string{"id"}, Parents: []schema.Edge{{Table: "street", Columns: []string{"street_id"}}}},
	{Name: "note", Key: []string{"id"}, Parents: []schema.Edge{
		{Table: "city", Columns: []string{"about"}, When: map[string]string{"kind": "city"}},
		{Table: "street", Columns: []string{"about"}, When: map[string]string{"kind": "it's"}},
		{Table: "house", Columns: []string{"seen"}, OnDelete: schema.OnDeleteDetach},
	}},
}}

func openDesigned(t *testing.T) *sql.DB {
	t.Helper()
	db := dbtest.Open(t)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{
		"CREATE TABLE region (code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, since DATE, PRIMARY KEY (code, since))",
		"CREATE TABLE city (id INT UNSIGNED PRIMARY KEY, name VARCHAR(40), region_code VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, region_since DATE, UNIQUE KEY (name), KEY (region_code, region_since, name))",
		"CREATE TABLE street (id BINARY(4) PRIMARY KEY, city_name VARCHAR(40), KEY (city_name))",
		"CREATE TABLE house (id INT PRIMARY KEY, street_id BINARY(4), CONSTRAINT on_street FOREIGN KEY (street_id) REFERENCES street (id))",
		"CREATE TABLE note (id INT PRIMARY KEY, kind VARCHAR(9), about VARBINARY(20), seen INT NULL, KEY (kind, about), KEY (seen))",
	} {
		dbtest.Exec(t, db, stmt)
	}
	return db
}

// TestOrphansOfTables: composite keys in another order, spellings that a collation takes
// for one, references to other columns than the key, polymorphic rows, hostile values.
func TestOrphansOfTables(t *testing.T) {
	db := openDesigned(t)
	plan := designed
	plan.Tables = slices.Clone(plan.Tables)
	plan.Tables[4].Parents = []schema.Edge{{Table: "street", Columns: []string{"about"}, When: map[string]string{"kind": "it's"}}, plan.Tables[4].Parents[2]}
	for _, stmt := range []string{
		`INSERT INTO region VALUES ('North', '2020-01-01'), ('x'') OR (''1', '1999-12-31')`,
		`INSERT INTO city VALUES (1, 'A', 'NORTH', '2020-01-01'), (2, 'B', 'north', '2020-01-02'), (3, 'C', 'x'') OR (''1', '1999-12-31'),
 (4, 'D', 'x'') OR (''2', '1999-12-31'), (5, 'E', 'NORTH', '2020-01-02'), (6, 'F', NULL, '2020-01-02'), (7, 'G', 'north', NULL), (8, 'H', 'a,b%', '0001-01-01')`,
		`INSERT INTO street VALUES (x'00000001', 'a'), (x'00ff2700', 'Z'), (x'27272727', NULL)`,
		`INSERT INTO house VALUES (1, x'00000001')`,
		`INSERT INTO note VALUES (1, 'it''s', x'00000001', 1), (2, 'it''s', x'00ff27ff', 99), (3, 'city', x'ff', 99), (4, NULL, x'ff', NULL), (5, 'it''s', NULL, NULL)`,
	} {
		dbtest.Exec(t, db, stmt)
	}
	want := []string{
		"region 'a%2Cb%25,'0001-01-01: 1 in city", "region 'north,'2020-01-02: 2 in city", "region 'x%27) OR (%272,'1999-12-31: 1 in city",
		"city : 1 in street (its rows refer to name of city, which is not the key)",
		"street 0x00ff27ff: 1 in note",
	}
	for _, page := range []int{0, 1, 2, 3} {
		lines, _ := orphansOf(t, db, plan, OrphanOptions{Page: page})
		for i := range lines {
			lines[i] = strings.Replace(strings.Replace(lines[i], "+", "", 1), "'NORTH,", "'north,", 1)
			if page > 0 { // a value that fills more than a page
				lines[i] = strings.Replace(lines[i], "'2020-01-02: 1 in", "'2020-01-02: 2 in", 1)
			}
		}
		if !slices.Equal(lines, want) {
			t.Errorf("page %d: %q\nwant %q", page, lines, want)
		}
	}
	if lines, _ := orphansOf(t, db, plan, OrphanOptions{Table: "note"}); len(lines) != 1 {
		t.Errorf("of one table: %q", lines)
	}
	if lines, _ := orphansOf(t, db, plan, OrphanOptions{Limit: 2}); len(lines) != 2 {
		t.Errorf("with a limit: %q", lines)
	}
	if lines, _ := orphansOf(t, db, plan, OrphanOptions{Table: "house"}); len(lines) != 0 {
		t.Errorf("of a table with a foreign key: %q", lines)
	}
	_, all := orphansOf(t, db, plan, OrphanOptions{})
	dbtest.Exec(t, db, "INSERT INTO region VALUES ('NoRtH', '2020-01-02')") // another spelling
	done, err := EnqueueOrphans(t.Context(), db, plan, all)
	if err != nil || done != (EnqueuedOrphans{Queued: 3, Returned: 1, ReportOnly: 1}) {
		t.Errorf("%+v, %v", done, err)
	}
	if lines, _ := orphansOf(t, db, plan, OrphanOptions{}); len(lines) != 1 {
		t.Errorf("after that: %q", lines)
	}
}

// TestOrphansPolymorphicText: a column of text that holds keys of numbers.
func TestOrphansPolymorphicText(t *testing.T) {
	db := dbtest.Open(t)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{
		"CREATE TABLE city (id INT PRIMARY KEY)",
		"CREATE TABLE note (id INT PRIMARY KEY, kind VARCHAR(9), about VARCHAR(20), KEY (about, kind))",
		"INSERT INTO city VALUES (1), (2)",
		"INSERT INTO note VALUES (1, 'city', '1'), (2, 'city', '7'), (3, 'city', '01'), (4, 'city', 'x'), (5, 'person', '8'), (6, 'city', NULL), (7, 'person', '7')",
	} {
		dbtest.Exec(t, db, stmt)
	}
	plan := schema.Plan{Tables: []schema.Table{{Name: "city", Key: []string{"id"}}, {Name: "note", Key: []string{"id"},
		Parents: []schema.Edge{{Table: "city", Columns: []string{"about"}, When: map[string]string{"kind": "city"}}}}}}
	want := []string{"city : 1 in note (what its rows hold is no key of city)", "city 7: 1 in note", "city : 1 in note (what its rows hold is no key of city)"}
	for _, page := range []int{0, 1, 2} {
		lines, _ := orphansOf(t, db, plan, OrphanOptions{Page: page})
		for i := range lines {
			lines[i] = strings.Replace(lines[i], "+", "", 1)
		}
		if !slices.Equal(lines, want) {
			t.Errorf("page %d: %q\nwant %q", page, lines, want)
		}
	}
}

// TestOrphansPages: no page reads more than its size of the index, whatever is in the
// table, and a search that was ended anywhere goes on behind that page.
func TestOrphansPages(t *testing.T) {
	db := foresttest.Open(t)
	foresttest.Project(t, db, 1)
	foresttest.Project(t, db, 40)
	foresttest.Insert(t, db, "note", map[string]any{"project_id": 1})
	for range 12 {
		dbtest.Exec(t, db, "INSERT INTO note (project_id, created_at, updated_at) SELECT 1, created_at, updated_at FROM note")
	}
	dbtest.Exec(t, db, "INSERT INTO note (project_id, created_at, updated_at) SELECT 2 + id MOD 50, created_at, updated_at FROM note") // 2 … 51
	db.SetMaxOpenConns(1)
	const page = 100
	var lines []string
	for after, pages := "", 0; ; pages++ {
		stop, next := errors.New("stop"), ""
		before := handlerReads(t, db)
		begun := false
		err := Orphans(t.Context(), db, forest, OrphanOptions{Table: "note", Page: page, After: after, OnPage: func(_ string, _ int64, position string) {
			if read := handlerReads(t, db) - before; begun && read > 6*page {
				t.Errorf("page %d read %d rows", pages, read)
			}
			begun, before, next = true, handlerReads(t, db), position
		}}, func(o Orphan) error {
			if begun { // of the second page: the first one is over
				return stop
			}
			lines = append(lines, o.ID)
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			t.Fatal(err)
		}
		if err == nil {
			break
		}
		after = next
		if pages > 100 {
			t.Fatal("it does not end")
		}
	}
	if len(lines) != 49 || lines[0] != "2" || slices.Contains(lines, "40") || lines[48] != "51" {
		t.Errorf("%d: %q", len(lines), lines)
	}
	for _, wrong := range []string{"x", "eyJ0Ijoibm90ZSJ9", cursorText{"note", "project_id → project", rowkey.Place{"1 OR 1=1"}}.encode()} {
		if err := Orphans(t.Context(), db, forest, OrphanOptions{After: wrong}, func(Orphan) error { return nil }); !errors.Is(err, queue.ErrInvalid) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if err := Orphans(t.Context(), db, forest, OrphanOptions{Table: "nothing"}, nil); !errors.Is(err, schema.ErrUnknownResource) {
		t.Error(err)
	}
}
