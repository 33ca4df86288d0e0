package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
)

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
			eachOf(t, []string{
				"CREATE TABLE city (id INT PRIMARY KEY)",
				"CREATE TABLE firm (id INT PRIMARY KEY, city_id INT, name INT, code VARCHAR(20) NOT NULL, KEY a_code_name (code, name), KEY (city_id))",
				"ALTER TABLE firm ADD UNIQUE KEY b_code (code)",
				"CREATE TABLE paper (id INT PRIMARY KEY AUTO_INCREMENT, firm_code VARCHAR(20), KEY (firm_code), FOREIGN KEY (firm_code) REFERENCES firm (code))",
				"INSERT INTO city VALUES (1)", "INSERT INTO firm VALUES (1, 1, 1, 'x'), (2, 2, 1, 'y')", "INSERT INTO paper (firm_code) VALUES ('x'), ('x'), ('y')",
			}, func(t *testing.T, db *sql.DB) {
				w, err := NewWorker(db, plan, Config{})
				if err != nil {
					t.Fatal(err)
				}
				g, err := w.current(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				firm := g.nodes["firm"].tables[0]
				key, err := firm.key.Decode("1")
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
				r := &pass{run: &run{db: db, graph: g, node: g.nodes[c.root], Target: Target{Root: key}}}
				if r.Root, err = r.node.tables[0].key.Decode(c.id); err != nil {
					t.Fatal(err)
				}
				if r.place, err = r.findRoot(t.Context()); err != nil {
					t.Fatal(err)
				}
				err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
					if c.root == "firm" {
						if _, err := r.lockRoot(ctx, tx); err != nil {
							return err
						}
					} else {
						s := r.node.edges[0].sources[0]
						if _, err := lock(ctx, tx, s, []group{{src: s, rows: []row{{key: key}}}}); err != nil {
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
				job := begin(t, db, c.root, c.id)
				drain(t, w)
				if got := get(t, db, job.ID); got.State != Done || got.Parked != 0 || got.Tables["paper"] != 2 {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}
