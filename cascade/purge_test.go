package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
)

const year = 365 * 24 * time.Hour

func oldJobs(ctx context.Context, db *sql.DB, limit int) (int64, error) {
	return queue.PurgeJobs(ctx, db, year, limit, false)
}
func oldAudits(ctx context.Context, db *sql.DB, limit int) (int64, error) {
	return queue.PurgeDeletions(ctx, db, year, limit, false)
}

// TestCrashPurge: jobs go whole.
func TestCrashPurge(t *testing.T) {
	crash(t, 60, func(*shelf) crashtest.Workflow {
		return crashtest.Workflow{
			Name: "purge jobs and audits",
			Setup: func(ctx context.Context, db *sql.DB) error {
				return errors.Join(execAll(ctx, db, putJob("project", "done", "0 SECOND"), moveColumns+"UTC_TIMESTAMP(6) - INTERVAL 500 DAY FROM onerow_job", "DELETE FROM onerow_job",
					"INSERT INTO onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at) VALUES (5, 'project', '1', 'active', 0, UTC_TIMESTAMP(6) - INTERVAL 500 DAY)",
					"INSERT INTO onerow_job_count VALUES (1, 'tag', 3)", "INSERT INTO onerow_job_plan VALUES (1, 'p', UTC_TIMESTAMP(6))",
					"INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (1, 'tag', '7', 'e', 'skipped', UTC_TIMESTAMP(6))"))
			},
			Call: func(ctx context.Context, db *sql.DB) error {
				_, err := oldJobs(ctx, db, 10)
				if err == nil {
					_, err = oldAudits(ctx, db, 10)
				}
				return err
			},
			Check: func(ctx context.Context, db *sql.DB) error {
				var n int
				err := db.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM onerow_job_archive) + (SELECT COUNT(*) FROM onerow_job_count) + (SELECT COUNT(*) FROM onerow_job_plan)
 + (SELECT COUNT(*) FROM onerow_parked) + (SELECT COUNT(*) FROM onerow_deletion)`).Scan(&n)
				if err == nil && n > 0 {
					err = fmt.Errorf("%d rows are left", n)
				}
				return err
			},
		}
	})
}
