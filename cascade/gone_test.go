package cascade

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// eachOf runs a test on tables that some statements make, under each of the sessions.
func eachOf(t *testing.T, ddl []string, test func(t *testing.T, db *sql.DB)) {
	t.Helper()
	for name, opts := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t, opts...)
			if err := errors.Join(migrations.Up(t.Context(), db), execAll(t.Context(), db, ddl...)); err != nil {
				t.Fatal(err)
			}
			test(t, db)
		})
	}
}

// TestGoneRoot: of a root that is gone the key is known, so what refers to that goes, also
// where a column of text does.
func TestGoneRoot(t *testing.T) {
	for name, c := range map[string]struct{ key, owner, id string }{
		"number":    {"id INT PRIMARY KEY", "1", "1"},
		"negative":  {"id INT PRIMARY KEY", "-1", "-1"},
		"date":      {"id DATE PRIMARY KEY", "2001-02-03", "'2001-02-03"},
		"same type": {"id VARCHAR(40) PRIMARY KEY", "É''", "'É%27"},
	} {
		t.Run(name, func(t *testing.T) {
			eachOf(t, []string{
				"CREATE TABLE top (" + c.key + ")",
				"CREATE TABLE att (id INT PRIMARY KEY, kind VARCHAR(20), owner VARCHAR(40), KEY (kind, owner))",
				"CREATE TABLE part (id INT PRIMARY KEY, att_id INT, KEY (att_id))",
				"INSERT INTO att VALUES (1, 'top', '" + c.owner + "'), (2, 'top', '" + c.owner + "'), (3, 'top', '2'), (4, 'other', '" + c.owner + "')",
				"INSERT INTO part VALUES (1, 1), (2, 3)",
			}, func(t *testing.T, db *sql.DB) {
				plan := schema.Plan{Tables: []schema.Table{
					{Name: "top", Key: []string{"id"}},
					{Name: "att", Key: []string{"id"}, Parents: []schema.Edge{{Table: "top", Columns: []string{"owner"}, When: map[string]string{"kind": "top"}}}},
					{Name: "part", Key: []string{"id"}, Parents: []schema.Edge{{Table: "att", Columns: []string{"att_id"}}}},
				}}
				got := finish(t, db, plan, Config{}, begin(t, db, "top", c.id).ID)
				if got.State != queue.Done || got.DeletedRows != 3 {
					t.Errorf("%+v", got)
				}
				if n := count(t, db, "SELECT COUNT(*) FROM att"); n != 2 {
					t.Errorf("%d rows are left", n)
				}
			})
		})
	}
}
