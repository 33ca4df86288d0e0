package work

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/trash"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// TestStaleStatistics: what a batch locks below a list of parents is what is there, by the edge's index, where
// the statistics of the indexes are of when the tables were empty. So it is in a table that has nothing but
// keys, or whose key begins with the parent's.
func TestStaleStatistics(t *testing.T) {
	const rows = 30_000
	db := dbtest.OpenDSN(t, dbtest.DSN(t, dbtest.Isolation(sql.LevelRepeatableRead)))
	const stale = " ENGINE=InnoDB STATS_PERSISTENT=1 STATS_AUTO_RECALC=0"
	tables := map[string]string{
		"bare": "id INT PRIMARY KEY, visit INT NULL, KEY visit (visit)",
		"wide": "id INT PRIMARY KEY, visit INT NULL, filler VARCHAR(20), KEY visit (visit)",
		"pair": "visit INT, no INT, PRIMARY KEY (visit, no), KEY no (no)",
		"code": "id INT PRIMARY KEY, visit INT NOT NULL, code INT NOT NULL, UNIQUE KEY code (code), KEY visit (visit)",
	}
	plan := schema.Plan{Tables: []schema.Table{{Name: "visit", Key: []string{"id"}}}}
	dbtest.Exec(t, db, "CREATE TABLE visit (id INT PRIMARY KEY)"+stale)
	for _, name := range []string{"bare", "wide", "pair", "code"} {
		dbtest.Exec(t, db, "CREATE TABLE "+name+" ("+tables[name]+")"+stale)
		dbtest.Exec(t, db, "CREATE TABLE onerow_trash_"+name+" ("+strings.NewReplacer(" PRIMARY KEY,", ",", ", PRIMARY KEY (visit, no)", "", ", UNIQUE KEY code (code)", "").Replace(
			"onerow_job BIGINT, onerow_step BIGINT, onerow_lost TINYINT(1), "+tables[name])+")")
		dbtest.Exec(t, db, "ANALYZE TABLE "+name)
		dbtest.Exec(t, db, "INSERT INTO "+name+" "+cost.Numbers(rows)+"SELECT i, i"+map[string]string{"wide": ", 'x'", "code": ", i"}[name]+" FROM numbers")
		key := []string{"id"}
		if name == "pair" {
			key = []string{"visit", "no"}
		}
		plan.Tables = append(plan.Tables, schema.Table{Name: name, Key: key, Parents: []schema.Edge{{Table: "visit", Columns: []string{"visit"}}}})
	}
	plan.Tables = append(plan.Tables, schema.Table{Name: "leaf", Key: []string{"id"}, Parents: []schema.Edge{{Table: "code", Columns: []string{"code"}, References: []string{"code"}}}})
	dbtest.Exec(t, db, "CREATE TABLE leaf (id INT PRIMARY KEY, code INT, KEY code (code))")
	g, err := graph.Read(t.Context(), db, plan)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxIdleConns(-1) // sessions of their own: one that knows the table from when it was empty fares better
	for _, e := range g.Nodes["visit"].Edges {
		s := e.Sources[0]
		for _, n := range []int{20, graph.EdgeList} {
			var parents, keys []rowkey.Key
			for i := range n {
				parents = append(parents, rowkey.Key(fmt.Sprint(500+i*7)))
				keys = append(keys, parents[i])
			}
			s.Nulls = []string{"visit"}
			s.Trash = &graph.Trash{From: "onerow_trash_" + s.Name, Columns: map[string]string{"bare": "id, visit", "wide": "id, visit, filler", "pair": "visit, no", "code": "id, visit, code"}[s.Name]}
			statements := map[string]string{
				"delete, unread": leavesSQL(s, parents, 1001), "lock below": belowSQL(s, parents, 1001), "lock below roots": parentsBelowSQL(s, parents, 1001),
				"keep": trash.LeavesSQL(s, parents, 1001)[0],
			}
			if s.Name != "pair" {
				statements["lock"], statements["delete"] = lockSQL(s, keys), deleteSQL(s.Table, keys)
				if s.Name != "code" {
					statements["detach, unread"] = detachSQL(s, parents, 1001)
				}
			}
			for i, guards := range s.Guards {
				for _, guard := range guards {
					statements["guard"] = guardSQL(s.Table, i, guard, keys)
				}
			}
			if s.Name == "code" && statements["guard"] == "" {
				t.Fatal("no guard")
			}
			for what, text := range statements {
				if locked := locks(t, db, s.Name, text); locked < int64(n) || locked > int64(4*n+10) {
					t.Errorf("%s, %d keys: %s locks %d: %.200s", s.Name, n, what, locked, text)
				}
			}
		}
	}
}

// locks is how many locks on rows of a table a statement takes; on MariaDB how many rows it reads, all of
// which it locks.
func locks(t *testing.T, db *sql.DB, table, statement string) (n int64) {
	t.Helper()
	tx, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}()
	count, args := "SELECT COUNT(*) FROM performance_schema.data_locks WHERE object_schema = DATABASE() AND lock_type = 'RECORD' AND object_name = ?", []any{table}
	if dbtest.Server(t).Engine() == devdb.MariaDB { // which lists no locks
		count, args = "SELECT SUM(variable_value) FROM information_schema.session_status WHERE variable_name IN ('Handler_read_key', 'Handler_read_next', 'Handler_read_rnd_next')", nil
		if _, err := tx.ExecContext(t.Context(), "FLUSH STATUS"); err != nil {
			t.Fatal(err)
		}
	}
	if strings.HasPrefix(statement, "SELECT") {
		err = onerow.Query(t.Context(), tx, statement, nil, func(*sql.Rows) error { return nil })
	} else {
		_, err = tx.ExecContext(t.Context(), statement)
	}
	if err != nil {
		t.Fatalf("%.300s: %v", statement, err)
	}
	if err := onerow.QueryRow(t.Context(), tx, count, args, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
