package store

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/planfile"
)

var update = flag.Bool("update", false, "write plan.yaml and the migration anew from the plan")

const planHead = "# The plan of the example, for cascade-worker --plan. Generated from internal/store/plan.go:\n" +
	"#   go test -C examples ./projects/internal/store -run TestGenerated -update\n"

// plan.yaml and the migration are other spellings of the plan.
func TestGenerated(t *testing.T) {
	text, err := planfile.Format(Plan())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"../../plan.yaml":                planHead + string(text),
		"migrations/00002_resources.sql": migrationText(),
	} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(have)); diff != "" {
			t.Errorf("%s is not what the plan says; run the test with -update:\n%s", path, diff)
		}
	}
}

func TestYAMLIsThePlan(t *testing.T) {
	text, err := os.ReadFile("../../plan.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := planfile.Parse("plan.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Plan(), plan); diff != "" {
		t.Error(diff)
	}
}

// Twice in a row, two at once, and after goose was cut off at its worst moment.
func TestMigrateTwice(t *testing.T) {
	db := dbtest.Open(t)
	ctx := t.Context()
	if _, err := db.ExecContext(ctx, "CREATE TABLE "+VersionTable+" (id SERIAL, version_id BIGINT NOT NULL, is_applied BOOLEAN NOT NULL, tstamp TIMESTAMP NULL DEFAULT NOW())"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 2)
	for range cap(done) {
		go func() { done <- Migrate(ctx, db) }()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := Migrate(ctx, db); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, "ALTER TABLE project DROP INDEX one_name"); err != nil {
		t.Fatal(err)
	}
	if err := Migrate(ctx, db); err == nil {
		t.Error("a database without the unique index was accepted")
	} else {
		t.Log(err)
	}
}

// migrationText is migrations/00002_resources.sql: the plan's tables. DDL commits
// by itself, so each statement must be able to run twice.
func migrationText() string {
	var up, down strings.Builder
	for _, stmt := range Plan().DDL() {
		up.WriteString(strings.Replace(stmt, "CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", 1) + ";\n\n")
	}
	for _, r := range Plan().Resources {
		for _, table := range r.Tables() {
			down.WriteString("DROP TABLE IF EXISTS " + ident.Quote(table) + ";\n")
		}
	}
	return "-- +goose NO TRANSACTION\n-- +goose Up\n-- Generated from the plan in plan.go: go test -C examples ./projects/internal/store -run TestGenerated -update\n" +
		up.String() + "-- +goose Down\n" + down.String()
}
