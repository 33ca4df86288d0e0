package work

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// onTables runs a test on tables that some statements make, at each isolation level.
func onTables(t *testing.T, ddl []string, test func(t *testing.T, db *sql.DB)) {
	t.Helper()
	for _, level := range racetest.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t, dbtest.Isolation(level))
			for _, stmt := range ddl {
				dbtest.Exec(t, db, stmt)
			}
			test(t, db)
		})
	}
}

// TestForeignKeyToAnotherUniqueKey: a foreign key's check locks the entry of the unique key
// that it refers to and no more. An insert waits for the batch that deletes the parent, so
// it is refused then, and cannot come between the last look and the delete.
func TestForeignKeyToAnotherUniqueKey(t *testing.T) {
	plan := schema.Plan{Tables: []schema.Table{
		{Name: "city", Key: []string{"id"}},
		{Name: "firm", Key: []string{"id"}, Parents: []schema.Edge{{Table: "city", Columns: []string{"city_id"}}}},
		{Name: "paper", Key: []string{"id"}, Parents: []schema.Edge{{Table: "firm", Columns: []string{"firm_code"}, References: []string{"code"}}}},
	}}
	for _, c := range []struct{ root, id string }{{"firm", "1"}, {"city", "1"}} {
		t.Run(c.root, func(t *testing.T) {
			onTables(t, []string{
				"CREATE TABLE city (id INT PRIMARY KEY)",
				"CREATE TABLE firm (id INT PRIMARY KEY, city_id INT, name INT, code VARCHAR(20) NOT NULL, KEY a_code_name (code, name), KEY (city_id))",
				"ALTER TABLE firm ADD UNIQUE KEY b_code (code)",
				"CREATE TABLE paper (id INT PRIMARY KEY AUTO_INCREMENT, firm_code VARCHAR(20), KEY (firm_code), FOREIGN KEY (firm_code) REFERENCES firm (code))",
				"INSERT INTO city VALUES (1)", "INSERT INTO firm VALUES (1, 1, 1, 'x'), (2, 2, 1, 'y')", "INSERT INTO paper (firm_code) VALUES ('x'), ('x'), ('y')",
			}, func(t *testing.T, db *sql.DB) {
				g, err := graph.Read(t.Context(), db, plan)
				if err != nil {
					t.Fatal(err)
				}
				firm := g.Nodes["firm"].Tables[0]
				key, err := firm.Key.Decode("1")
				if err != nil {
					t.Fatal(err)
				}
				quick, err := db.Conn(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := quick.ExecContext(t.Context(), "SET SESSION innodb_lock_wait_timeout = 1"); err != nil {
					t.Fatal(err)
				}
				insert := func(code string) error {
					_, err := quick.ExecContext(t.Context(), "INSERT INTO paper (firm_code) VALUES ('"+code+"')")
					return err
				}
				root, err := g.Nodes[c.root].Tables[0].Key.Decode(c.id)
				if err != nil {
					t.Fatal(err)
				}
				e := newEraser(g, []Target{{Resource: c.root, Root: root}})
				if err := e.findRoots(t.Context(), db); err != nil {
					t.Fatal(err)
				}
				err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
					if c.root == "firm" {
						if err := e.lockRoots(ctx, tx); err != nil {
							return err
						}
					} else {
						s := e.node.Edges[0].Sources[0]
						if _, err := lock(ctx, tx, s, []group{{src: s, rows: []graph.Row{{Key: key}}}}); err != nil {
							return err
						}
					}
					if err := insert("y"); err != nil {
						return fmt.Errorf("below another firm: %w", err)
					}
					if err := insert("x"); !onerow.Retryable(err) {
						t.Errorf("below a locked firm: %v, want a lock wait timeout", err)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := quick.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
