package recover_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// TestComputedReference: a reference, its condition and what is referred to may be generated columns. Rows come
// back by them, below rows that are stuck, too, and the server computes them anew.
func TestComputedReference(t *testing.T) {
	plan := schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{
		{Name: "root", Key: []string{"id"}},
		{Name: "doc", Key: []string{"id"}, Parents: []schema.Edge{{Table: "root", Columns: []string{"up"}, When: map[string]string{"kind": "r"}}}},
		{Name: "line", Key: []string{"id"}, Parents: []schema.Edge{{Table: "doc", Columns: []string{"code"}, References: []string{"code"}}}},
	}}
	for _, how := range []string{"VIRTUAL", "STORED"} {
		t.Run(how, func(t *testing.T) {
			db, ctx := dbtest.Open(t), t.Context()
			if err := migrations.Up(ctx, db); err != nil {
				t.Fatal(err)
			}
			for _, statement := range []string{
				"CREATE TABLE root (id BIGINT PRIMARY KEY)",
				fmt.Sprintf("CREATE TABLE doc (id BIGINT PRIMARY KEY, packed BIGINT NOT NULL, name VARCHAR(20) NOT NULL, up BIGINT AS (packed DIV 10) %[1]s, kind CHAR(1) AS (IF(packed MOD 10 = 1, 'r', 'x')) %[1]s, code BIGINT AS (id + 5000) %[1]s, other INT AS (id + 1) VIRTUAL, UNIQUE KEY name (name), UNIQUE KEY code (code), KEY up (up, kind))", how),
				"CREATE TABLE line (id BIGINT PRIMARY KEY, code BIGINT NOT NULL, KEY code (code))",
				"INSERT INTO root VALUES (1), (3000000000)",
				"INSERT INTO doc (id, packed, name) VALUES (1, 30000000001, 'one'), (2, 30000000001, 'two'), (3, 30000000002, 'x'), (4, 11, 'four')",
				"INSERT INTO line VALUES (1, 5001), (2, 5001), (3, 5002), (4, 5003), (5, 5004)",
			} {
				dbtest.Exec(t, db, statement)
			}
			if err := createTrash(ctx, db, plan); err != nil {
				t.Fatal(err)
			}
			if err := live.Verify(ctx, db, plan); err != nil {
				t.Fatal(err)
			}
			rows := func() string {
				var docs, lines string
				err := db.QueryRowContext(ctx, "SELECT (SELECT GROUP_CONCAT(id, '=', up, kind, code, name ORDER BY id) FROM doc), (SELECT GROUP_CONCAT(id ORDER BY id) FROM line)").Scan(&docs, &lines)
				if err != nil {
					t.Fatal(err)
				}
				return docs + " " + lines
			}
			before := rows()
			w, err := cascade.NewWorker(db, plan, cascade.Config{MaxFailures: 1})
			if err != nil {
				t.Fatal(err)
			}
			job, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "root", ResourceID: "3000000000"})
			if err == nil {
				err = w.Drain(ctx)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := rows(); got != "3=3000000000x5003x,4=1r5004four 4,5" {
				t.Fatalf("deleted: %s", got)
			}
			dbtest.Exec(t, db, "INSERT INTO doc (id, packed, name) VALUES (9, 11, 'one')")
			p := restored(t, db, plan, job)
			if got := rows(); p.Stuck != 3 || got != "2=3000000000r5002two,3=3000000000x5003x,4=1r5004four,9=1r5009one 3,4,5" {
				t.Errorf("its name is taken: %+v %s", p, got)
			}
			dbtest.Exec(t, db, "DELETE FROM doc WHERE id = 9")
			wantMissing(t, restored(t, db, plan, job), "")
			if got := rows(); got != before {
				t.Errorf("back are %s, not %s", got, before)
			}
			dbtest.Exec(t, db, "ALTER TABLE onerow_trash_doc DROP COLUMN up")
			if err := live.Verify(ctx, db, plan); err == nil || !strings.Contains(err.Error(), "`up` bigint") {
				t.Errorf("a trash table of before: %v", err)
			}
		})
	}
}
