package live_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
	"github.com/onerow/onerow/schema/live"
)

// TestVerifyRetention: the column is one of times, and an index begins with it, which the DDL of a resource
// has. A change of the policy is none of the jobs that are under way.
func TestVerifyRetention(t *testing.T) {
	db := dbtest.Open(t)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	policy := &schema.Retention{Column: "seen_at", Keep: schema.Age(time.Hour)}
	plan := schema.Plan{Resources: []schema.Resource{{Name: "project", Archive: "project_archive", Retention: &schema.Retention{Column: "created_at", Keep: schema.Age(time.Hour)}}},
		Tables: []schema.Table{{Name: "visit", Key: []string{"id"}, Retention: policy}}}
	for _, stmt := range append(plan.DDL(), "CREATE TABLE visit (id BIGINT PRIMARY KEY, seen_at VARCHAR(20), tag VARCHAR(20), KEY (seen_at))") {
		dbtest.Exec(t, db, stmt)
	}
	says := func(want ...string) {
		t.Helper()
		err := live.Verify(t.Context(), db, plan)
		var e *live.VerifyError
		if len(want) == 0 && err == nil {
			return
		}
		if !errors.As(err, &e) || len(e.Differences) != len(want) {
			t.Fatalf("%v, want %q", err, want)
		}
		for i, d := range e.Differences {
			if !strings.Contains(d.String(), want[i]) {
				t.Errorf("%s, want %q", d, want[i])
			}
		}
	}
	says("it is varchar(20); the age of rows is taken from")
	dbtest.Exec(t, db, "ALTER TABLE visit DROP COLUMN seen_at")
	says("it does not exist; the plan's retention")
	for _, kind := range []string{"DATE", "DATETIME", "TIMESTAMP(3) NULL"} {
		dbtest.Exec(t, db, "ALTER TABLE visit ADD COLUMN seen_at "+kind+", ADD KEY (tag, seen_at)")
		says("no index begins with (seen_at), ascending and of whole columns, so each look for what is due reads the whole table; ALTER TABLE `visit` ADD KEY (`seen_at`)")
		dbtest.Exec(t, db, "ALTER TABLE visit ADD KEY one (seen_at, tag)")
		says()
		dbtest.Exec(t, db, "ALTER TABLE visit DROP KEY one, DROP KEY tag, DROP COLUMN seen_at")
	}
	dbtest.Exec(t, db, "ALTER TABLE visit ADD COLUMN seen_at DATETIME, ADD KEY seen (seen_at)")
	dbtest.Exec(t, db, "ALTER TABLE project_archive DROP KEY created_at")
	says("no index has the columns (created_at)")
	dbtest.Exec(t, db, "ALTER TABLE project_archive ADD KEY created_at (created_at)")
	cat, err := catalog.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	before := cat.Describe(plan)
	plan.Tables[0].Retention, plan.Resources[0].Retention = nil, nil
	if after := cat.Describe(plan); after != before {
		t.Error("a change of retention would end jobs")
	}
}
