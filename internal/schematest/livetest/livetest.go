// Package livetest makes databases for tests of what asks a live server, and says how they differ from a
// plan.
//
// Open this package when a test needs a database that differs from its plan in another way.
package livetest

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// FullPlan has every kind of resource: a root with names and a quota, file names that are unique below their
// parent, children without an archive, and names of tables and columns that need quoting.
func FullPlan() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{{
		Name: "project", Archive: "project_archive", Owner: "user_id",
		Label:   schema.Label{Column: "name"},
		Quota:   schema.Quota{Flag: "is_over_quota", By: "position"},
		Columns: []schema.Column{{Name: "position", Type: "INT NOT NULL DEFAULT 0"}, {Name: "note", Type: "VARCHAR(80) NOT NULL DEFAULT 'a, b'"}},
		Indexes: []schema.Index{{Columns: []string{"note"}, Unique: true}, {Columns: []string{"position", "note"}}},
	}, {
		Name: "screen", Archive: "screen_archive", Owner: "project_id",
		Label:  schema.Label{Column: "client_filename", Key: "client_filename_base", Kind: names.KindFilename},
		Parent: schema.Parent{Resource: "project", Column: "project_id"}, Asset: "blob",
		Columns: []schema.Column{{Name: "blob", Type: "VARCHAR(255) NULL"}},
	}, {
		Name: "comment", Active: "Comment `of` a \"screen\"", ID: "nummer №", Owner: "author",
		Parent: schema.Parent{Resource: "screen", Column: "screen id"},
		Quota:  schema.Quota{Flag: "over"}, Columns: []schema.Column{{Name: "body", Type: "TEXT NOT NULL"}},
	}}}
}

// Plain is [FullPlan] with names that are accepted (backticks are not).
func Plain() schema.Plan {
	plan := FullPlan()
	plan.Resources[2].Active = "Comment of a \"screen\""
	return plan
}

// Open makes a schema with the toolkit's tables and the plan's.
func Open(t testing.TB, plan schema.Plan) *sql.DB {
	t.Helper()
	db := dbtest.Open(t)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range plan.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	return db
}

// Migrated makes a database with the toolkit's tables and those of the statements.
func Migrated(t testing.TB, stmts ...string) *sql.DB {
	t.Helper()
	db := Bare(t, stmts...)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

// Bare makes a database with the tables of the statements only: the toolkit's take their time.
func Bare(t testing.TB, stmts ...string) *sql.DB {
	t.Helper()
	db := dbtest.Open(t)
	for _, stmt := range stmts {
		dbtest.Exec(t, db, stmt)
	}
	return db
}

// Differences returns what Verify says, and fails the test where its error does not.
func Differences(t testing.TB, db *sql.DB, plan schema.Plan) []live.Difference {
	t.Helper()
	err := live.Verify(t.Context(), db, plan)
	if err == nil {
		return nil
	}
	var detail *live.VerifyError
	if !errors.As(err, &detail) || len(detail.Differences) == 0 {
		t.Fatal(err)
	}
	for _, d := range detail.Differences {
		if !strings.Contains(err.Error(), "\n  "+d.String()) || d.Table == "" || d.Problem == "" || d.Fix == "" {
			t.Errorf("%+v is not in\n%v", d, err)
		}
	}
	return detail.Differences
}

// Own are the differences of the plan's tables, those of the toolkit left out.
func Own(t testing.TB, db *sql.DB, plan schema.Plan) []live.Difference {
	t.Helper()
	return slices.DeleteFunc(Differences(t, db, plan), func(d live.Difference) bool { return strings.HasPrefix(d.Table, "onerow_") })
}

// User makes a user of that name in the way of the statements (%u is the user, %d the database) and returns a
// pool of its connections, with the database's name.
func User(t testing.TB, db *sql.DB, suffix string, stmts ...string) (*sql.DB, string, string) {
	t.Helper()
	var database string
	if err := db.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&database); err != nil {
		t.Fatal(err)
	}
	name := suffix + strings.TrimPrefix(database, "onerow_t")
	cfg := dbtest.Server(t).Config(database)
	words := strings.NewReplacer("%u", "'"+name+"'@'%'", "%r", "'"+name+"_role'", "%d", "`"+database+"`")
	dbtest.Exec(t, db, words.Replace("CREATE USER %u IDENTIFIED BY 'only some'"))
	t.Cleanup(func() {
		root := dbtest.OpenDSN(t, cfg.FormatDSN())
		for _, stmt := range []string{"DROP USER %u", "DROP ROLE IF EXISTS %r"} {
			if _, err := root.ExecContext(context.Background(), words.Replace(stmt)); err != nil {
				t.Error(err)
			}
		}
	})
	for _, stmt := range stmts {
		dbtest.Exec(t, db, words.Replace(stmt))
	}
	return Reopen(t, name, database), name, database
}

// Reopen returns a pool of new connections of the user: rights on a database count from the next one.
func Reopen(t testing.TB, name, database string) *sql.DB {
	t.Helper()
	as := dbtest.Server(t).Config(database)
	as.User, as.Passwd, as.AllowNativePasswords = name, "only some", true
	return dbtest.OpenDSN(t, as.FormatDSN())
}

// Shop has a loop of staff and stores, a table that refers to itself, keys of two columns, of text and of
// bytes, a reference that is no primary key, and every rule.
func Shop() []string {
	return []string{
		"CREATE TABLE country (code CHAR(2) PRIMARY KEY)",
		"CREATE TABLE staff (staff_id INT UNSIGNED PRIMARY KEY, Store_ID INT UNSIGNED NOT NULL, boss_id INT UNSIGNED NULL, country CHAR(2), FOREIGN KEY (boss_id) REFERENCES staff (staff_id), FOREIGN KEY (country) REFERENCES country (code) ON DELETE CASCADE)",
		"CREATE TABLE store (store_id INT UNSIGNED PRIMARY KEY, manager_id INT UNSIGNED NULL, FOREIGN KEY (manager_id) REFERENCES staff (staff_id))",
		"ALTER TABLE staff ADD CONSTRAINT works_in FOREIGN KEY (Store_ID) REFERENCES store (store_id) ON DELETE CASCADE ON UPDATE CASCADE",
		"CREATE TABLE film (sku VARCHAR(20) PRIMARY KEY, store_id INT UNSIGNED NOT NULL, tag VARBINARY(16) NOT NULL UNIQUE, FOREIGN KEY (store_id) REFERENCES store (store_id))",
		"CREATE TABLE copy (sku VARCHAR(20), no INT, PRIMARY KEY (sku, no), FOREIGN KEY (sku) REFERENCES film (sku))",
		"CREATE TABLE rental (id BINARY(16) PRIMARY KEY, sku VARCHAR(20) NOT NULL, no INT NOT NULL, FOREIGN KEY (sku, no) REFERENCES copy (sku, no))",
		"CREATE TABLE scan (id BIGINT PRIMARY KEY, tag VARBINARY(16) NOT NULL, FOREIGN KEY (tag) REFERENCES film (tag))",
		"CREATE TABLE audit (id BIGINT PRIMARY KEY, rental BINARY(16) NULL, FOREIGN KEY (rental) REFERENCES rental (id) ON DELETE SET NULL)",
		"CREATE TABLE audit_line (id BIGINT PRIMARY KEY, audit_id BIGINT NOT NULL, FOREIGN KEY (audit_id) REFERENCES audit (id) ON DELETE CASCADE)",
		"CREATE TABLE soft (id INT PRIMARY KEY, staff_id INT UNSIGNED NOT NULL, KEY (staff_id))",
	}
}

// Tickets are listed by their status and when they are due, archived ones too.
func Tickets() schema.Plan {
	return schema.Plan{Tenant: schema.Column{Name: "tenant_id"}, Resources: []schema.Resource{{
		Name: "ticket", Archive: "ticket_archive", Owner: "user_id",
		Columns: []schema.Column{{Name: "status", Type: "VARCHAR(20) NOT NULL"}, {Name: "due_at", Type: "DATETIME(6) NULL"}},
		Indexes: []schema.Index{
			{Columns: []string{"user_id", "tenant_id", "status", "due_at", "id"}, Archived: true},
			{Columns: []string{"tenant_id", "user_id", "due_at"}},
			{Columns: []string{"tenant_id", "user_id", "due_at", "status"}, Unique: true},
		},
	}}}
}

// School is a plan that a person wrote: an archive, an edge with a condition, soft references, one that is
// kept.
func School() (schema.Plan, []string) {
	return schema.Plan{Tables: []schema.Table{
			{Name: "class", Key: []string{"school", "no"}},
			{Name: "pupil", Key: []string{"name"}, Archive: "old_pupil", Parents: []schema.Edge{
				{Table: "class", Columns: []string{"school", "class_no"}},
				{Table: "pupil", Columns: []string{"friend"}, OnDelete: schema.OnDeleteDetach}}},
			{Name: "grade", Key: []string{"id"}, Parents: []schema.Edge{{Table: "pupil", Columns: []string{"pupil"}}}},
			{Name: "note", Key: []string{"id"}, Asset: "file", Parents: []schema.Edge{
				{Table: "pupil", Columns: []string{"about"}, When: map[string]string{"kind": "pupil"}},
				{Table: "grade", Columns: []string{"grade_id"}, OnDelete: schema.OnDeleteKeep}}},
		}}, []string{
			"CREATE TABLE class (school INT UNSIGNED, no SMALLINT, title TEXT, PRIMARY KEY (school, no)) ENGINE=InnoDB",
			"CREATE TABLE pupil (name VARCHAR(40) COLLATE utf8mb4_unicode_ci PRIMARY KEY, school INT UNSIGNED NOT NULL, class_no SMALLINT NOT NULL, friend VARCHAR(40) COLLATE utf8mb4_unicode_ci NULL, KEY friend (friend), KEY class (class_no, school)) ENGINE=InnoDB",
			"CREATE TABLE old_pupil LIKE pupil",
			"ALTER TABLE old_pupil ADD COLUMN archived_at DATETIME(6)",
			"CREATE TABLE grade (id INT PRIMARY KEY, pupil VARCHAR(40) COLLATE utf8mb4_unicode_ci NOT NULL, KEY pupil (pupil)) ENGINE=InnoDB",
			"CREATE TABLE note (id BIGINT PRIMARY KEY, kind VARCHAR(20), about VARCHAR(40) COLLATE utf8mb4_unicode_ci, grade_id INT, file VARCHAR(255), KEY about (kind, about)) ENGINE=InnoDB",
		}
}
