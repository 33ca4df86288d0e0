package inspect

import (
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// foreignPlan declares every foreign key; detach names further edges, "table.column",
// that are not followed.
func foreignPlan(t *testing.T, db *sql.DB, s schematest.Snapshot, detach ...string) schema.Plan {
	t.Helper()
	keys, err := schematest.ForeignKeys(t.Context(), db)
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

func dryRunOf(t *testing.T, db onerow.DB, plan schema.Plan, resource, id string, limit int) Estimate {
	t.Helper()
	e, err := DryRun(t.Context(), db, plan, resource, id, limit, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestDryRunFixtures: on schemas of well-known shape a dry run of any row counts what a
// brute-force search over all foreign keys finds; with a limit it never says more, nor
// calls a count exact that is not.
func TestDryRunFixtures(t *testing.T) {
	loops := map[string][]string{"dvd": {"store.manager_staff_id"}, "hr": {"departments.manager_id"}}
	for _, f := range schematest.Fixtures() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t)
			if err := f.Load(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			s, err := schematest.Read(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			plan := foreignPlan(t, db, s, loops[f.Name]...)
			if err := plan.Check(); err != nil {
				t.Fatal(err)
			}
			cat, err := catalog.Read(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			several := 0
			for _, table := range slices.Sorted(maps.Keys(s)) {
				for _, row := range []int{0, len(s[table].Rows) / 2, len(s[table].Rows) - 1} {
					key := keyOf(t, cat, s, table, row)
					want, err := schematest.Expect(t.Context(), db, s, plan, table, keyText(s, table, row)...)
					if err != nil {
						t.Fatal(err)
					}
					got := dryRunOf(t, db, plan, table, key, 0)
					if !got.Root || !maps.Equal(got.Tables, want.Deleted) || !maps.Equal(got.Detached, want.Detached) || len(got.Capped)+len(got.CappedDetached) > 0 {
						t.Errorf("%s %s: %+v\nwant %v, detached %v", table, key, got, want.Deleted, want.Detached)
					}
					if len(want.Deleted) > 3 {
						several++
					}
					for _, limit := range []int{1, 7} {
						few := dryRunOf(t, db, plan, table, key, limit)
						for name, n := range want.Deleted {
							if few.Tables[name] > min(n, int64(limit)) || few.Tables[name] < n && !few.Capped[name] {
								t.Errorf("%s %s, limit %d: %+v\nwant %v", table, key, limit, few, want.Deleted)
							}
						}
						for name, n := range want.Detached {
							if few.Detached[name] > min(n, int64(limit)) || few.Detached[name] < n && !few.CappedDetached[name] {
								t.Errorf("%s %s, limit %d: %+v\nwant detached %v", table, key, limit, few, want.Detached)
							}
						}
					}
				}
			}
			if several == 0 {
				t.Error("no row had much below it")
			}
		})
	}
}

// keyText is a row's key as the snapshot has it.
func keyText(s schematest.Snapshot, table string, row int) []string {
	c := s[table]
	var key []string
	for _, column := range c.Key {
		key = append(key, c.Rows[row][slices.Index(c.Columns, column)].String)
	}
	return key
}

func keyOf(t *testing.T, cat *catalog.Catalog, s schematest.Snapshot, table string, row int) string {
	t.Helper()
	codec, err := rowkey.New(cat, table, s[table].Key)
	if err != nil {
		t.Fatal(err)
	}
	parts := keyText(s, table, row)
	for i, column := range s[table].Key {
		if info, ok := cat.Column(table, column); ok && strings.Contains(info.Type, "binary") {
			parts[i] = fmt.Sprintf("0x%x", parts[i])
		}
	}
	key, err := codec.Parse(strings.Join(parts, ","))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := codec.Encode(key)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// TestDryRunOfResources: pairs of tables, assets, and the same counts as the worker's.
func TestDryRunOfResources(t *testing.T) {
	foresttest.Each(t, func(t *testing.T, db *sql.DB) {
		want := foresttest.Grow(t, db, 1, 4, 3, 5, 6)
		foresttest.Grow(t, db, 2, 1, 1, 1, 1)
		gone := dryRunOf(t, db, forest, "project", "1", 0)
		if gone.Root || !maps.Equal(gone.Tables, want) || gone.Assets != 4 {
			t.Errorf("of a row that is not there: %+v\nwant %v", gone, want)
		}
		foresttest.Project(t, db, 1)
		want["project"] = 1
		var last Estimate
		got, err := DryRun(t.Context(), db, forest, "project", "1", 10_000, func(e Estimate) { last = e })
		if err != nil || !got.Root || !maps.Equal(got.Tables, want) || got.Assets != 4 || got.Batches != 1 || len(got.Detached) > 0 {
			t.Errorf("%+v, %v\nwant %v", got, err, want)
		}
		if !maps.Equal(last.Tables, want) {
			t.Errorf("progress ended with %+v", last)
		}
		few := dryRunOf(t, db, forest, "project", "1", 2)
		if few.Tables["screen"] != 2 || few.Capped["screen"] || few.Tables["note"] != 2 || !few.Capped["note"] || few.Capped["project"] {
			t.Errorf("%+v", few)
		}
		if none := dryRunOf(t, db, forest, "project", "4711", 0); none.Root || len(none.Tables) > 0 || none.Batches != 1 {
			t.Errorf("%+v", none)
		}
	})
}

// TestDryRunShapes: a tree of one table with a loop in it, a row that is reached over two
// edges, polymorphic children, rows that are detached or would be if they did not go.
func TestDryRunShapes(t *testing.T) {
	db := dbtest.Open(t)
	for _, stmt := range []string{
		"CREATE TABLE folder (id INT PRIMARY KEY, up INT NULL, KEY (up))",
		"CREATE TABLE file (code VARCHAR(20), no INT, folder INT NULL, twin INT NULL, icon VARCHAR(20), PRIMARY KEY (code, no), KEY (folder), KEY (twin))",
		"CREATE TABLE note (id INT PRIMARY KEY, kind VARCHAR(9), about BIGINT, code VARCHAR(20), no INT, KEY (kind, about), KEY (code, no))",
		"CREATE TABLE log (id INT PRIMARY KEY, folder INT NULL, old INT NULL, KEY (folder), KEY (old))",
		"CREATE TABLE label (id INT PRIMARY KEY, kind VARCHAR(9), about VARCHAR(40), KEY (kind, about))",
		"INSERT INTO label VALUES (1, 'folder', '1'), (2, 'folder', '01'), (3, 'file', '1'), (4, 'folder', '4')",
		"INSERT INTO folder VALUES (1, 3), (2, 1), (3, 2), (4, 4), (5, 1)", // 1 → 2 → 3 → 1, and 4 in itself
		"INSERT INTO file VALUES (CONCAT('it''s, ', CHAR(92)), 1, 1, 2, 'a.png'), ('b', 1, 2, NULL, ''), ('c', 1, 4, 5, NULL), ('d', 2, 4, 4, 'x')",
		"INSERT INTO note VALUES (1, 'folder', 1, 'b', 1), (2, 'user', 1, NULL, NULL), (3, 'folder', 4, CONCAT('it''s, ', CHAR(92)), 1), (4, NULL, 1, 'd', 2)",
		"INSERT INTO log VALUES (1, 1, 2), (2, 4, 3), (3, 4, 4), (4, NULL, NULL)",
	} {
		dbtest.Exec(t, db, stmt)
	}
	plan := schema.Plan{Tables: []schema.Table{
		{Name: "folder", Key: []string{"id"}, Parents: []schema.Edge{{Table: "folder", Columns: []string{"up"}}}},
		{Name: "file", Key: []string{"code", "no"}, Asset: "icon", Parents: []schema.Edge{
			{Table: "folder", Columns: []string{"folder"}}, {Table: "folder", Columns: []string{"twin"}}}},
		{Name: "note", Key: []string{"id"}, Parents: []schema.Edge{
			{Table: "folder", Columns: []string{"about"}, When: map[string]string{"kind": "folder"}},
			{Table: "file", Columns: []string{"code", "no"}, OnDelete: schema.OnDeleteDetach}}},
		{Name: "label", Key: []string{"id"}, Parents: []schema.Edge{
			{Table: "folder", Columns: []string{"about"}, When: map[string]string{"kind": "folder"}}}},
		{Name: "log", Key: []string{"id"}, Parents: []schema.Edge{
			{Table: "folder", Columns: []string{"folder"}, OnDelete: schema.OnDeleteDetach},
			{Table: "folder", Columns: []string{"old"}, OnDelete: schema.OnDeleteDetach}}},
	}}
	got := dryRunOf(t, db, plan, "folder", "2", 0)
	want := map[string]int64{"folder": 4, "file": 3, "note": 1, "label": 1}
	if !maps.Equal(got.Tables, want) || !maps.Equal(got.Detached, map[string]int64{"log": 2, "note": 1}) || got.Assets != 1 {
		t.Errorf("%+v", got)
	}
	dbtest.Exec(t, db, "DELETE FROM folder WHERE id = 4")
	if got = dryRunOf(t, db, plan, "folder", "4", 0); got.Root || !maps.Equal(got.Tables, map[string]int64{"file": 2, "note": 1, "label": 1}) {
		t.Errorf("%+v", got)
	}
	if got = dryRunOf(t, db, plan, "file", "'it%27s%2C \\\\,1", 0); got.Root { // two backslashes: another row
		t.Errorf("%+v", got)
	}
	if got = dryRunOf(t, db, plan, "file", "'it%27s%2C \\,1", 0); !got.Root || got.Tables["file"] != 1 || got.Detached["note"] != 1 {
		t.Errorf("%+v", got)
	}
	for id, want := range map[string]error{"'x": onerow.ErrInvalidKey, "1,2": onerow.ErrInvalidKey, "": onerow.ErrInvalidKey, "1 OR 1=1": onerow.ErrInvalidKey} {
		if _, err := DryRun(t.Context(), db, plan, "folder", id, 10_000, nil); !errors.Is(err, want) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if _, err := DryRun(t.Context(), db, plan, "nothing", "1", 10_000, nil); !errors.Is(err, schema.ErrUnknownResource) {
		t.Error(err)
	}
	dbtest.Exec(t, db, "ALTER TABLE log DROP KEY old")
	if _, err := DryRun(t.Context(), db, plan, "folder", "1", 10_000, nil); err == nil || !strings.Contains(err.Error(), "an index is missing") || !strings.Contains(err.Error(), `"log"`) {
		t.Error(err)
	}
}

// TestDryRunCost: whatever is below a row, a dry run reads as many rows as its limit allows.
func TestDryRunCost(t *testing.T) {
	db := foresttest.Open(t)
	foresttest.Insert(t, db, "project", map[string]any{"id": 1, "user_id": 7})
	foresttest.Insert(t, db, "screen", map[string]any{"id": 1, "project_id": 1})
	for range 12 { // 4096
		dbtest.Exec(t, db, "INSERT INTO screen (project_id, created_at, updated_at) SELECT 1, created_at, updated_at FROM screen")
	}
	dbtest.Exec(t, db, "INSERT INTO comment (screen_id, created_at, updated_at) SELECT id, created_at, updated_at FROM screen")
	dbtest.Exec(t, db, "INSERT INTO note (project_id, created_at, updated_at) SELECT 1, created_at, updated_at FROM screen")
	db.SetMaxOpenConns(1)
	before := handlerReads(t, db)
	e := dryRunOf(t, db, forest, "project", "1", 100)
	read := handlerReads(t, db) - before
	if e.Tables["screen"] != 100 || e.Tables["note"] != 100 || !e.Capped["screen"] || !e.Capped["note"] || !e.Capped["comment"] {
		t.Errorf("%+v", e)
	}
	if read > 6000 { // information_schema's tables among them
		t.Errorf("%d rows were read", read)
	}
}

// handlerReads is how many rows and index entries this session has read.
func handlerReads(t *testing.T, db onerow.DB) (n int64) {
	t.Helper()
	err := onerow.Query(t.Context(), db, "SHOW SESSION STATUS LIKE 'Handler_read%'", nil, func(rows *sql.Rows) error {
		var name string
		var v int64
		err := rows.Scan(&name, &v)
		if name != "Handler_read_rnd_next" && name != "Handler_read_rnd" { // SHOW's own
			n += v
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDryRunLoop: rows that are below themselves by a column that may not be NULL are named, as the job that
// then fails names them; others are not, and their jobs end.
func TestDryRunLoop(t *testing.T) {
	db := foresttest.Open(t)
	for _, stmt := range []string{
		"CREATE TABLE shelf (id INT PRIMARY KEY)",
		"CREATE TABLE topic (id INT PRIMARY KEY, up INT NOT NULL, shelf INT NULL, KEY (up), KEY (shelf))",
		"INSERT INTO shelf VALUES (1), (2), (3)",
		"INSERT INTO topic VALUES (1, 3, 1), (2, 1, 1), (3, 2, 1), (4, 1, 1), (5, 4, NULL)", // 1 → 2 → 3 → 1
		"INSERT INTO topic VALUES (10, 0, 2), (11, 10, 2), (12, 12, 2), (13, 12, NULL)",     // no loop but a row below itself alone
		"INSERT INTO topic VALUES (20, 0, 3), (21, 20, NULL), (22, 24, NULL), (23, 22, NULL), (24, 23, NULL)",
	} {
		dbtest.Exec(t, db, stmt)
	}
	plan := schema.Plan{Tables: []schema.Table{
		{Name: "shelf", Key: []string{"id"}},
		{Name: "topic", Key: []string{"id"}, Parents: []schema.Edge{{Table: "topic", Columns: []string{"up"}}, {Table: "shelf", Columns: []string{"shelf"}}}},
	}}
	for _, tt := range []struct {
		resource, id, loop string
		state              queue.State
	}{
		{"topic", "24", "row 2[234] of topic ", queue.Dead},
		{"topic", "20", "", queue.Done},
		{"shelf", "2", "", queue.Done},
		{"shelf", "1", "row [123] of topic ", queue.Dead},
	} {
		e := dryRunOf(t, db, plan, tt.resource, tt.id, 0)
		job := enqueue(t, db, tt.resource, tt.id, 0)
		drain(t, db, plan, cascade.Config{MaxFailures: 1})
		job = get(t, db, job.ID)
		if job.State != tt.state || (len(e.Loops) == 0) != (tt.loop == "") {
			t.Errorf("%s %s: %+v, the job is %s: %s", tt.resource, tt.id, e.Loops, job.State, job.LastError)
		}
		for _, said := range e.Loops {
			if !regexp.MustCompile(tt.loop).MatchString(said.Why) || !regexp.MustCompile(tt.loop).MatchString(job.LastError) {
				t.Errorf("%s %s: %s\n%s", tt.resource, tt.id, said.Why, job.LastError)
			}
		}
	}
}

// TestDryRunMark: rows that a job would mark count as detached; those that are marked already do not.
func TestDryRunMark(t *testing.T) {
	db := openWith(t, "CREATE TABLE host (id BIGINT PRIMARY KEY)",
		"CREATE TABLE event (id BIGINT PRIMARY KEY, host_id BIGINT NOT NULL, `gone at` DATETIME NULL, KEY host (host_id, `gone at`))",
		"CREATE TABLE alarm (id BIGINT PRIMARY KEY, host_id BIGINT NOT NULL, host_deleted_at TIMESTAMP(6) NULL, KEY host (host_deleted_at, host_id))",
		"CREATE TABLE note (id BIGINT PRIMARY KEY, kind VARCHAR(9) NOT NULL, about BIGINT NOT NULL, gone DATETIME(3) NULL, KEY about (kind, about, gone))",
		"INSERT INTO host VALUES (1), (2)",
		"INSERT INTO event VALUES (1, 1, NULL), (2, 1, '2001-02-03 04:05:06'), (3, 2, NULL)",
		"INSERT INTO alarm VALUES (1, 1, NULL), (2, 1, NULL), (3, 2, NULL)",
		"INSERT INTO note VALUES (1, 'host', 1, NULL), (2, 'user', 1, NULL), (3, 'host', 2, NULL)")
	plan := schema.Plan{Tables: []schema.Table{
		{Name: "host", Key: []string{"id"}},
		{Name: "event", Key: []string{"id"}, Stays: true, Parents: []schema.Edge{{Table: "host", Columns: []string{"host_id"}, OnDelete: schema.OnDeleteMark("gone at")}}},
		{Name: "alarm", Key: []string{"id"}, Parents: []schema.Edge{{Table: "host", Columns: []string{"host_id"}, OnDelete: schema.OnDeleteMark("host_deleted_at")}}},
		{Name: "note", Key: []string{"id"}, Parents: []schema.Edge{{Table: "host", Columns: []string{"about"}, When: map[string]string{"kind": "host"}, OnDelete: schema.OnDeleteMark("gone")}}},
	}}
	if e := dryRunOf(t, db, plan, "host", "1", 0); !maps.Equal(e.Detached, map[string]int64{"event": 1, "alarm": 2, "note": 1}) {
		t.Errorf("%+v", e)
	}
}
