package live_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
	"github.com/onerow/onerow/schema/live"
)

// TestVerifyTrash: a trash table that is missing or cannot hold each value is a difference; the column that is
// printed for it mends it. An INSERT trigger has to be accepted.
func TestVerifyTrash(t *testing.T) {
	db, ctx := dbtest.Open(t), t.Context()
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "CREATE TABLE a (id INT UNSIGNED NOT NULL PRIMARY KEY, b VARCHAR(9) CHARACTER SET latin1 NOT NULL) ENGINE=InnoDB")
	plan := schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{{Name: "a", Key: []string{"id"}}}}
	says := func(texts ...string) []live.Difference {
		t.Helper()
		var e *live.VerifyError
		err := live.Verify(ctx, db, plan)
		if len(texts) == 0 && err == nil {
			return nil
		}
		if !errors.As(err, &e) || len(e.Differences) != len(texts) {
			t.Fatalf("%v, want %d differences", err, len(texts))
		}
		for i, text := range texts {
			if !strings.Contains(e.Differences[i].String(), text) {
				t.Errorf("%s, want %s", e.Differences[i], text)
			}
		}
		return e.Differences
	}
	says("ddl --trash")
	cat, err := catalog.Read(ctx, db)
	if err != nil {
		t.Fatal(err)
	}
	ddl, err := cat.TrashDDL(plan)
	if err != nil || len(ddl) != 1 {
		t.Fatal(ddl, err)
	}
	dbtest.Exec(t, db, ddl[0])
	says()
	dbtest.Exec(t, db, "ALTER TABLE a ADD COLUMN c DECIMAL(9,2) NOT NULL DEFAULT 1, MODIFY b VARCHAR(10) CHARACTER SET latin1 NULL")
	found := says(`column "b"`, `no column "c"`)
	if found[0].SQL != "" || found[1].SQL == "" {
		t.Fatalf("%+v", found)
	}
	dbtest.Exec(t, db, found[1].SQL)
	dbtest.Exec(t, db, "ALTER TABLE onerow_trash_a MODIFY b VARCHAR(10) CHARACTER SET latin1 NULL")
	says()
	dbtest.Exec(t, db, "CREATE TRIGGER t1 BEFORE INSERT ON a FOR EACH ROW SET NEW.b = 'x'")
	says(`"t1" runs with each row that comes back`)
	plan.Tables[0].Triggers = []string{"t1"}
	says()
	plan.Tables[0].Trash = schema.NoTrash
	dbtest.Exec(t, db, "DROP TABLE onerow_trash_a")
	says()
}

// TestTrashTooMuch: a table of which no server takes a trash table is named with its reason and the way out,
// by ddl, by Verify and to the worker; what is printed for others, at the very limits, the server takes.
func TestTrashTooMuch(t *testing.T) {
	db, ctx := dbtest.Open(t), t.Context()
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	numbered := func(n int, format, between string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(parts, between)
	}
	for name, tt := range map[string]struct{ columns, key, why string }{
		"step":    {"id INT, Onerow_Step INT", "id", "it has a column \"Onerow_Step\""},
		"steps":   {"id INT, onerow_steps INT, onerow_job INT AS (id)", "id", ""},
		"widest":  {"id INT, " + numbered(1013, "c%d INT", ", "), "id", ""},
		"wider":   {"id INT, " + numbered(1014, "c%d INT", ", "), "id", "it has 1015 columns"},
		"keyed":   {numbered(14, "k%d INT", ", "), numbered(14, "k%d", ", "), ""},
		"morekey": {numbered(15, "k%d INT", ", "), numbered(15, "k%d", ", "), "its primary key has 15 columns"},
		"fits":    {"id VARCHAR(764) CHARACTER SET utf8mb4", "id", ""},
		"toolong": {"id VARCHAR(765) CHARACTER SET utf8mb4", "id", "its primary key is as wide as 3060 bytes"},
	} {
		dbtest.Exec(t, db, fmt.Sprintf("CREATE TABLE %s (%s, PRIMARY KEY (%s)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC", name, tt.columns, tt.key))
		plan := schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{{Name: name, Key: strings.Split(tt.key, ", ")}}}
		cat, err := catalog.Read(ctx, db)
		if err != nil {
			t.Fatal(err)
		}
		ddl, err := cat.TrashDDL(plan)
		if tt.why == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			dbtest.Exec(t, db, ddl[0])
			if _, err := cat.TrashDDL(plan); err != nil {
				t.Error(err)
			}
			continue
		}
		_, _, again := cat.TrashColumns(plan.Nodes(), plan.Nodes()[0], name)
		for _, err := range []error{err, again, live.Verify(ctx, db, plan)} {
			if err == nil || !strings.Contains(err.Error(), tt.why) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "trash: none") || strings.Contains(err.Error(), "ddl --trash") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
