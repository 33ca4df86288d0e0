package repo_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestDatesThatAreNone: a row moves with dates that no strict session would write today.
func TestDatesThatAreNone(t *testing.T) {
	type event struct {
		ID int64 `db:"id"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{Name: "event", Archive: "event_archive", Columns: []schema.Column{
		{Name: "day", Type: "DATE NULL"}, {Name: "at", Type: "DATETIME NULL"}, {Name: "seen", Type: "TIMESTAMP NULL"},
	}}}}
	for i, columns := range [][]schema.Column{plan.Resources[0].Columns, plan.Resources[0].Columns, plan.Resources[0].Columns[:1], plan.Resources[0].Columns[1:2], plan.Resources[0].Columns[2:]} {
		plan.Resources[0].Columns = columns
		mode := []string{"STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE", ""}[i%2] // a loose session writes 0000-00-00 in their place
		db, ctx := must(pool.Open(dbtest.DSN(t, dbtest.Param("sql_mode", url.QueryEscape("'"+mode+"'"))))), t.Context()
		t.Cleanup(func() { _ = db.Close() })
		if err := migrations.Up(ctx, db); err != nil {
			t.Fatal(err)
		}
		for _, statement := range plan.DDL() {
			dbtest.Exec(t, db, statement)
		}
		events := must(repo.New[event](plan, "event"))
		id := must(events.Create(ctx, db, event{})).Row.ID
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, conn, "SET sql_mode = 'ALLOW_INVALID_DATES'")
		for n, value := range []string{"0000-00-00", "2026-02-31", "2026-00-07"} {
			list := ""
			for _, c := range columns {
				if c.Name == "seen" {
					value = "0000-00-00"
				}
				dbtest.Exec(t, conn, "UPDATE event SET "+c.Name+" = '"+value+"'")
				list += ", '|', " + c.Name
			}
			read := func(table string) string { return dbtest.Scan[string](t, db, "SELECT CONCAT(id"+list+") FROM "+table) }
			before := read("event")
			must(events.Archive(ctx, db, id))
			if got := read("event_archive"); got != before {
				t.Errorf("%d: archived is %s, not %s", n, got, before)
			}
			must(events.Activate(ctx, db, id))
			must(events.Delete(ctx, db, id, repo.Grace(time.Hour)))
			must(events.CancelDelete(ctx, db, id))
			if got := read("event"); got != before {
				t.Errorf("%d: back is %s, not %s", n, got, before)
			}
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}
