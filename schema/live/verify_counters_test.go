package live_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/schema/live"
)

// TestVerifySeesIDsThatAreGivenAgain: a table that was rebuilt by a copy numbers its rows from those that it
// has, not from those that its archive has. MySQL shows the next id of a table from a cache that is up to a
// day old; neither that nor the handle matters.
func TestVerifySeesIDsThatAreGivenAgain(t *testing.T) {
	plan := livetest.Plain()
	plan.Resources = plan.Resources[:1]
	db := livetest.Open(t, plan)
	cached := func() {
		t.Helper()
		dbtest.Exec(t, db, "DO (SELECT COUNT(auto_increment) FROM information_schema.tables WHERE table_schema = DATABASE())")
	}
	rebuild := func() {
		t.Helper()
		for _, stmt := range []string{"CREATE TABLE project_new LIKE project", "INSERT INTO project_new SELECT * FROM project",
			"RENAME TABLE project TO project_old, project_new TO project", "DROP TABLE project_old"} {
			dbtest.Exec(t, db, stmt)
		}
	}
	cached() // it is 1 now
	for id := 1; id <= 5; id++ {
		dbtest.Exec(t, db, fmt.Sprintf("INSERT INTO project (user_id, name, name_key, stem_key, created_at, updated_at, note) VALUES (1, 'p%[1]d', 'p%[1]d', 'p', NOW(6), NOW(6), '%[1]d')", id))
	}
	dbtest.Exec(t, db, "INSERT INTO project_archive SELECT *, NOW(6), NULL, NULL FROM project WHERE id > 3")
	dbtest.Exec(t, db, "DELETE FROM project WHERE id > 3")
	everyHandle(t, db, func(db onerow.DB) error { return live.Verify(t.Context(), db, plan) })

	for _, rows := range []string{"three rows", "none"} {
		t.Run(rows, func(t *testing.T) {
			if rows == "none" {
				dbtest.Exec(t, db, "DELETE FROM project")
			}
			cached()
			rebuild()
			fix := ""
			everyHandle(t, db, func(db onerow.DB) error {
				err := live.Verify(t.Context(), db, plan)
				var detail *live.VerifyError
				if !errors.As(err, &detail) || len(detail.Differences) != 1 || !strings.Contains(detail.Error(), `"project_archive" holds the id 5`) {
					return fmt.Errorf("want one difference: %w", err)
				}
				fix = detail.Differences[0].SQL
				return nil
			})
			dbtest.Exec(t, db, fix)
			everyHandle(t, db, func(db onerow.DB) error { return live.Verify(t.Context(), db, plan) })
		})
	}
	dbtest.Exec(t, db, "INSERT INTO project (user_id, name, name_key, stem_key, created_at, updated_at) VALUES (1, 'n', 'n', 'n', NOW(6), NOW(6))")
	var id int64
	if err := db.QueryRowContext(t.Context(), "SELECT MAX(id) FROM project").Scan(&id); err != nil || id != 6 {
		t.Errorf("the next row has the id %d: %v", id, err)
	}
}

// everyHandle calls look with a pool, a connection and transactions of both levels.
func everyHandle(t *testing.T, db *sql.DB, look func(onerow.DB) error) {
	t.Helper()
	if err := look(db); err != nil {
		t.Errorf("a pool: %v", err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(look(conn), conn.Close()); err != nil {
		t.Errorf("a connection: %v", err)
	}
	for _, level := range racetest.Levels() {
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(look(tx), tx.Rollback()); err != nil {
			t.Errorf("a transaction, %v: %v", level, err)
		}
	}
	if err := onerow.InTx(t.Context(), db, func(_ context.Context, tx *onerow.Tx) error { return look(tx) }); err != nil {
		t.Errorf("InTx: %v", err)
	}
}

// TestVerifyCountersOfSteps: an id of a cluster's node, one of every ten, is no other case.
func TestVerifyCountersOfSteps(t *testing.T) {
	plan := livetest.Plain()
	plan.Resources = plan.Resources[:1]
	db := livetest.Open(t, plan)
	db.SetMaxOpenConns(1)
	dbtest.Exec(t, db, "SET SESSION auto_increment_increment = 10, SESSION auto_increment_offset = 3")
	for range 3 {
		dbtest.Exec(t, db, "INSERT INTO project (user_id, name, name_key, stem_key, created_at, updated_at, note) SELECT 1, n, n, n, NOW(6), NOW(6), n FROM (SELECT CONCAT('p', COUNT(*)) AS n FROM project) AS x")
	}
	dbtest.Exec(t, db, "INSERT INTO project_archive SELECT *, NOW(6), NULL, NULL FROM project WHERE id = 23")
	dbtest.Exec(t, db, "DELETE FROM project WHERE id = 23")
	if found := livetest.Differences(t, db, plan); found != nil {
		t.Errorf("%v", found)
	}
	dbtest.Exec(t, db, "ALTER TABLE project AUTO_INCREMENT = 1") // behind the rows that there are, it cannot go
	found := livetest.Differences(t, db, plan)
	if len(found) != 1 || found[0].SQL != "ALTER TABLE `project` AUTO_INCREMENT = 24" {
		t.Fatalf("%v", found)
	}
	dbtest.Exec(t, db, found[0].SQL)
	if found := livetest.Differences(t, db, plan); found != nil {
		t.Errorf("%v", found)
	}
}
