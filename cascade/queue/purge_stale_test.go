package queue

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestPurgeStaleStatistics: a purge finds the counts of its jobs by their keys where the statistics of the
// toolkit's tables are of when they were empty, and were read anew since.
func TestPurgeStaleStatistics(t *testing.T) {
	const rows = 10_000
	const reads = "SELECT SUM(variable_value) FROM information_schema.session_status WHERE variable_name IN ('Handler_read_key', 'Handler_read_next', 'Handler_read_rnd_next')"
	mariadb := dbtest.Server(t).Engine() == devdb.MariaDB
	tables := []string{"onerow_job_archive", "onerow_job_count", "onerow_job_detached", "onerow_job_plan", "onerow_parked", "onerow_deletion"}
	for _, old := range []int{20, purgeBatch} {
		db, ctx := open(t, dbtest.Isolation(sql.LevelRepeatableRead)), t.Context()
		for _, table := range tables {
			dbtest.Exec(t, db, "ALTER TABLE "+table+" STATS_PERSISTENT=1, STATS_AUTO_RECALC=0")
			dbtest.Exec(t, db, "ANALYZE TABLE "+table)
		}
		if err := finished(ctx, db, rows, "'done'", fmt.Sprintf("IF(i <= %d, 400, 1)", old)); err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, db, "INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) "+cost.Numbers(rows)+"SELECT i, 'tag', i, 'e', 'skipped', UTC_TIMESTAMP(6) FROM numbers")
		dbtest.Exec(t, db, "FLUSH TABLES "+strings.Join(tables, ", "))
		db.SetMaxIdleConns(-1) // sessions of their own: one that knows the tables from when they were empty fares better
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			var before, after int
			if mariadb { // which lists no locks
				if err := onerow.QueryRow(ctx, tx, reads, nil, &before); err != nil {
					return err
				}
			}
			if n, err := PurgeJobs(ctx, tx, year, old, false); err != nil || n != int64(old) {
				t.Errorf("jobs: %d, %v", n, err)
			}
			if n, err := PurgeDeletions(ctx, tx, year, old, false); err != nil || n != int64(old) {
				t.Errorf("deletions: %d, %v", n, err)
			}
			if mariadb {
				err := onerow.QueryRow(ctx, tx, reads, nil, &after)
				if t.Logf("%d old: %d reads", old, after-before); after-before > 40*old+1000+rows { // one table may be read from end to end
					t.Errorf("%d of %d are old, and %d rows were read", old, rows, after-before)
				}
				return err
			}
			found := 0
			err := onerow.Query(ctx, tx, "SELECT object_name, COUNT(*) FROM performance_schema.data_locks WHERE object_schema = DATABASE() AND lock_type = 'RECORD' GROUP BY object_name", nil, func(rows *sql.Rows) error {
				var table string
				var locked int
				err := rows.Scan(&table, &locked)
				if t.Logf("%d old: %d locks in %s", old, locked, table); table == "onerow_job_count" || table == "onerow_job_detached" {
					if found++; locked > 8*old+20 {
						t.Errorf("%d rows are old, and %d entries of %s are locked", old, locked, table)
					}
				}
				return err
			})
			if err == nil && found != 2 {
				t.Errorf("locks in %d of 2 tables", found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
