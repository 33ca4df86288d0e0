package adopt_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/adopt"
)

// TestAgainst: what no file may see to is said, with what to do, and then there are no files; nor does the
// backfill begin.
func TestAgainst(t *testing.T) {
	t.Parallel()
	const plain = "(id BIGINT PRIMARY KEY AUTO_INCREMENT, owner BIGINT NOT NULL, name VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL) ENGINE=InnoDB"
	for _, c := range []struct {
		name string
		make []string
		says []string
	}{
		{"two columns in the key", []string{"CREATE TABLE t (id BIGINT, owner BIGINT NOT NULL, name VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL, PRIMARY KEY (owner, id)) ENGINE=InnoDB"},
			[]string{"2 columns (owner, id)", "a resource has one id", "cascade-worker discover"}},
		{"no id", []string{"CREATE TABLE t (no BIGINT PRIMARY KEY AUTO_INCREMENT, owner BIGINT NOT NULL, name VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL) ENGINE=InnoDB"}, []string{`column "id": it does not exist`}},
		{"no table", nil, []string{"it does not exist"}},
		{"a view", []string{"CREATE TABLE base " + plain, "CREATE VIEW t AS SELECT * FROM base"}, []string{"it is a view"}},
		{"MyISAM", []string{"CREATE TABLE t " + strings.ReplaceAll(plain, "InnoDB", "MyISAM")}, []string{"its engine is MyISAM", "ALTER TABLE `t` ENGINE=InnoDB"}},
		{"a trigger", []string{"CREATE TABLE t " + plain, "CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW SET NEW.owner = NEW.owner"}, []string{`trigger "tr" runs with the toolkit's writes`, "DROP TRIGGER"}},
		{"a generated name", []string{"CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, owner BIGINT NOT NULL, name VARCHAR(200) CHARACTER SET utf8mb4 AS (CONCAT('n', owner)) STORED) ENGINE=InnoDB"},
			[]string{"it is generated", "take it out of the plan"}},
		{"a column that the plan does not know", []string{"CREATE TABLE t " + plain, "ALTER TABLE t ADD COLUMN mood ENUM('good','bad') NULL"}, []string{"add it to the plan's columns, - {name: mood, type: \"enum('good','bad') NULL\"}"}},
		{"a unique index that the plan does not know", []string{"CREATE TABLE t " + plain, "ALTER TABLE t ADD UNIQUE KEY u (name)"}, []string{"the plan does not know this unique index on (name)"}},
		{"a name of other characters", []string{"CREATE TABLE t " + strings.ReplaceAll(plain, "utf8mb4", "latin1")}, []string{"it is varchar(200) latin1", "make it VARCHAR(200) CHARACTER SET utf8mb4"}},
		{"a version that is none", []string{"CREATE TABLE t " + plain, "ALTER TABLE t ADD COLUMN version VARCHAR(9) NOT NULL"}, []string{`column "version"`, "it is varchar(9)"}},
		{"an archive that numbers", []string{"CREATE TABLE t " + plain, "CREATE TABLE t_archive LIKE t"}, []string{"it is AUTO_INCREMENT, but rows come here with their id", "MODIFY COLUMN `id` bigint"}},
		{"a column without a value", []string{"CREATE TABLE t " + plain, "ALTER TABLE t DROP COLUMN owner, ADD COLUMN owner VARCHAR(3)"}, []string{`column "owner"`, "it is varchar(3)"}},
		{"a time whose default is a moment", []string{"CREATE TABLE t " + plain, "ALTER TABLE t ADD COLUMN created_at TIMESTAMP NOT NULL DEFAULT '2020-01-01 00:00:00'"}, []string{"its default is a constant"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t)
			if err := migrations.Up(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			for _, stmt := range c.make {
				dbtest.Exec(t, db, stmt)
			}
			plan := schema.Plan{Resources: []schema.Resource{{Name: "t", Archive: "t_archive", Owner: "owner", Label: schema.Label{Column: "name"}}}}
			a, err := adopt.Prepare(t.Context(), db, plan, "t")
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, d := range a.Against {
				text += d.String() + "\n"
			}
			for _, part := range c.says {
				if !strings.Contains(strings.ReplaceAll(text, "bigint(20)", "bigint"), part) {
					t.Errorf("it does not say %q:\n%s", part, text)
				}
			}
			if len(a.Steps) > 0 {
				t.Errorf("there are %d steps", len(a.Steps))
			}
			if _, err := adopt.New(t.Context(), db, plan, "t"); !errors.Is(err, adopt.ErrNotReady) {
				t.Errorf("the backfill: %v", err)
			}
		})
	}
}

// TestShapes: ids and owners of all kinds, above 2^63 too, below a tenant; times that nobody knows; columns
// that only the application can fill.
func TestShapes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ id, expr string }{
		"text":   {"CHAR(36) CHARACTER SET ascii NOT NULL", "CONCAT('id-', LPAD(%d, 6, '0'))"},
		"bytes":  {"BINARY(16) NOT NULL", "UNHEX(LPAD(HEX(%d), 32, '0'))"},
		"beyond": {"BIGINT UNSIGNED NOT NULL", "18446744073709000000 + %d"},
		"below":  {"BIGINT NOT NULL", "%d - 800"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t)
			if err := migrations.Up(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			plan := schema.Plan{Tenant: schema.Column{Name: "tenant"}, Resources: []schema.Resource{{Name: "room"}, {Name: "ticket", IDType: c.id, Owner: "desk", OwnerType: "VARCHAR(20) NOT NULL", Label: schema.Label{Column: "name"},
				Parent: schema.Parent{Resource: "room", Column: "room_id"}}}}
			dbtest.Exec(t, db, "CREATE TABLE ticket (id "+c.id+" PRIMARY KEY, tenant BIGINT NOT NULL, desk VARCHAR(20) CHARACTER SET utf8mb4 NULL, name TEXT CHARACTER SET utf8mb4 NULL, moved TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP) ENGINE=InnoDB")
			for i := range 1200 {
				dbtest.Exec(t, db, fmt.Sprintf("INSERT INTO ticket VALUES ("+c.expr+", %d, 'É%d', 'Name %d', '2020-02-02 02:02:02')", i, i%2, i%3, i/6))
			}
			dbtest.Exec(t, db, "UPDATE ticket SET desk = NULL, moved = moved ORDER BY id LIMIT 1")
			dbtest.Exec(t, db, plan.DDL()[0])
			before := shown(t, db)
			a := planned(t, db, plan)
			for _, d := range a.Against {
				t.Fatal(d)
			}
			p, err := migrations.New(db, files(adopt.Files(a, 1)), "goose_db_version")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Up(t.Context()); err == nil {
				t.Fatal("the last file went through")
			}
			f, err := adopt.New(t.Context(), db, plan, "ticket")
			if err != nil {
				t.Fatal(err)
			}
			report, err := f.Run(t.Context(), db, adopt.Options{})
			if err != nil || report.LeftRows != 1200 || !errors.Is(report.Left[0].Err, adopt.ErrLacks) || !strings.Contains(report.Left[0].Err.Error(), "desk, room_id") {
				t.Fatalf("%+v, %v", report, err)
			}
			dbtest.Exec(t, db, "UPDATE ticket SET room_id = 7, desk = COALESCE(desk, 'É0'), moved = moved")
			report, err = f.Run(t.Context(), db, adopt.Options{})
			if err != nil || !report.Whole || report.Rows != 1200 {
				t.Fatalf("%+v, %v", report, err)
			}
			if _, err := p.Up(t.Context()); err != nil {
				t.Fatal(err)
			}
			clean(t, db, plan)
			if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM ticket WHERE moved = '2020-02-02 02:02:02' AND created_at > UTC_TIMESTAMP(6) - INTERVAL 1 HOUR"); n != 1200 {
				t.Errorf("%d rows have not moved and have a time, want 1200", n)
			}
			if _, err := p.DownTo(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if d := differ(before, shown(t, db)); d != "" {
				t.Errorf("all the way down: %s", d)
			}
		})
	}
}
