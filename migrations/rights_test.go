package migrations_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/security"
	"github.com/onerow/onerow/migrations"
)

// TestUpSaysWhereItFailed: without a right it names the file and the table.
func TestUpSaysWhereItFailed(t *testing.T) {
	admin := dbtest.Open(t)
	user := security.NewUser(t, admin, dbtest.Server(t).Config(dbtest.Scan[string](t, admin, "SELECT DATABASE()")))
	up := func(rights ...security.Right) string {
		user.Grant(rights...)
		if err := migrations.Up(t.Context(), dbtest.OpenDSN(t, user.Config().FormatDSN())); err != nil {
			return err.Error()
		}
		return ""
	}
	if got := up(security.Right{Verb: "SELECT"}); !strings.Contains(got, "create the version table `onerow_goose_version`: ") {
		t.Error(got)
	}
	got := up(security.Right{Verb: "INSERT"}, security.Right{Verb: "CREATE", Table: migrations.TableName})
	if !strings.HasPrefix(got, "migrations: up: 00001_onerow.sql: ") || !strings.Contains(got, "onerow_request") {
		t.Error(got)
	}
	user.Grant(security.Right{Verb: "CREATE", Table: "app_version"}, security.Right{Verb: "CREATE", Table: "first"})
	files := fstest.MapFS{}
	for i, table := range []string{"first", "second", "third"} {
		text := "-- +goose NO TRANSACTION\n-- +goose Up\nCREATE TABLE IF NOT EXISTS " + table + " (id INT PRIMARY KEY);\n"
		files[fmt.Sprintf("%05d_%s.sql", i+1, table)] = &fstest.MapFile{Data: []byte(text)}
	}
	err := migrations.Apply(t.Context(), dbtest.OpenDSN(t, user.Config().FormatDSN()), files, "app_version")
	if err == nil || !strings.HasPrefix(err.Error(), "migrations: up: 00002_second.sql: ") {
		t.Errorf("the second file of an application's: %v", err)
	}
	if got := up(security.Right{Verb: "CREATE"}); got != "" {
		t.Error(got)
	}
}
