package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

const year = 365 * 24 * time.Hour

// finished puts jobs into the archive by a SELECT from numbers: job i belongs to deletion i of project i, and
// has counts of two tables.
func finished(ctx context.Context, db *sql.DB, n int, state, days string) error {
	audit := cost.Numbers(n) + `SELECT i, 'project', i, 'active', 0, UTC_TIMESTAMP(6) - INTERVAL (` + days + `) + 1 DAY + INTERVAL i MICROSECOND FROM numbers`
	return execAll(ctx, db,
		"INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at) "+cost.Numbers(n)+
			"SELECT i, 'project', i, i, "+state+", UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL ("+days+") DAY + INTERVAL i MICROSECOND FROM numbers",
		"INSERT INTO onerow_deletion (id, resource, resource_id, deleted_from, grace_us, requested_at) "+audit,
		"INSERT INTO onerow_job_count (job_id, table_name, deleted_rows) SELECT id, 'screen', 1 FROM onerow_job_archive UNION ALL SELECT id, 'tag', 2 FROM onerow_job_archive",
		"INSERT INTO onerow_job_detached (job_id, table_name, detached_rows) SELECT id, 'note', 1 FROM onerow_job_archive",
		"INSERT INTO onerow_job_plan (job_id, fingerprint, stored_at) SELECT id, 'p', created_at FROM onerow_job_archive")
}

func purges(t *testing.T, want int64, fn func(context.Context, *sql.DB, int) (int64, error), db *sql.DB, limit int) {
	t.Helper()
	if n, err := fn(t.Context(), db, limit); n != want || err != nil {
		t.Errorf("purged %d, %v; want %d", n, err, want)
	}
}

func oldJobs(ctx context.Context, db *sql.DB, limit int) (int64, error) {
	return PurgeJobs(ctx, db, year, limit, false)
}
func oldAudits(ctx context.Context, db *sql.DB, limit int) (int64, error) {
	return PurgeDeletions(ctx, db, year, limit, false)
}

// TestPurge: done and cancelled jobs go when they are old, with all that is theirs; dead ones and leftovers
// stay, and so do the audits of rows that have a job.
func TestPurge(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		// The first 300 are dead or have leftovers, so that a page of the oldest has none that goes; 500 old
		// ones are in good order.
		if err := finished(ctx, db, 1000, "CASE WHEN i <= 300 THEN IF(MOD(i, 2), 'dead', 'leftovers') WHEN MOD(i, 2) THEN 'done' ELSE 'cancelled' END",
			"IF(i <= 800, 400, 360)"); err != nil {
			t.Fatal(err)
		}
		purges(t, 0, oldAudits, db, 10)
		if n, err := PurgeJobs(ctx, db, year, 5000, true); n != 500 || err != nil {
			t.Errorf("%d to purge, %v", n, err)
		}
		purges(t, 3, oldJobs, db, 3)
		if n := count(t, db, "SELECT MIN(id) FROM onerow_job_archive WHERE id > 300"); n != 304 {
			t.Errorf("the oldest is now %d", n)
		}
		purges(t, 497, oldJobs, db, 1000)
		purges(t, 0, oldJobs, db, 1000)
		for table, want := range map[string]int64{"archive": 500, "count": 1000, "detached": 500, "plan": 500} {
			if n := count(t, db, "SELECT COUNT(*) FROM onerow_job_"+table); n != want {
				t.Errorf("%d in onerow_job_%s, want %d", n, table, want)
			}
		}
		if job := get(t, db, 1); job.State != Dead || job.DeletedRows != 3 {
			t.Errorf("a job that waits for somebody: %+v", job)
		}
		if _, err := Get(ctx, db, 301); !errors.Is(err, ErrNoJob) {
			t.Errorf("a purged job: %v", err)
		}
		// Three of the 500 rows have another job: one is open, one held, one finished of late.
		dbtest.Exec(t, db, "INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at) VALUES (2001, 'project', 301, 301, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (2002, 'project', 302, 302, 'held', UTC_TIMESTAMP(6) + INTERVAL 1000 YEAR, UTC_TIMESTAMP(6))")
		dbtest.Exec(t, db, "UPDATE onerow_job_archive SET resource_id = 303 WHERE id = 900")
		if n, err := PurgeDeletions(ctx, db, year, 5000, true); n != 497 || err != nil {
			t.Errorf("%d to purge, %v", n, err)
		}
		purges(t, 7, oldAudits, db, 7)
		purges(t, 490, oldAudits, db, 5000)
		purges(t, 0, oldAudits, db, 5000)
		if n := count(t, db, "SELECT COUNT(*) FROM onerow_deletion WHERE id IN (1, 300, 301, 302, 303, 801)"); n != 6 {
			t.Errorf("%d of 6 audits that are needed are left", n)
		}
	})
}

// TestPurgeSkipped: the skipped rows of a job go before it, a bounded number at a time; a job that is
// reopened meanwhile stays.
func TestPurgeSkipped(t *testing.T) {
	db, ctx := open(t), t.Context()
	if err := finished(ctx, db, 1000, "'done'", "IF(i <= 2, 400, 1)"); err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) "+cost.Numbers(3000)+"SELECT IF(i = 3000, 3, 2), 'tag', i, 'e', 'skipped', UTC_TIMESTAMP(6) FROM numbers")
	n, more, err := dropJobs(ctx, db, year, []int64{1, 2})
	if left := count(t, db, "SELECT COUNT(*) FROM onerow_parked"); n != 0 || !more || err != nil || left != 2000 {
		t.Errorf("%d jobs are gone, more is %t, %v, %d skipped rows are left", n, more, err, left)
	}
	purges(t, 2, oldJobs, db, 10)
	if left := count(t, db, "SELECT COUNT(*) FROM onerow_parked"); left != 1 {
		t.Errorf("%d skipped rows are left", left)
	}
	if _, err := RetryParked(ctx, db, count(t, db, "SELECT id FROM onerow_parked")); err != nil {
		t.Fatal(err)
	}
	if n, _, err := dropJobs(ctx, db, year, []int64{3, 4}); n != 0 || err != nil {
		t.Errorf("a job that was reopened, and one that ended again since: %d, %v", n, err)
	}
	if job := get(t, db, 3); job.State != Ready || job.DeletedRows != 3 {
		t.Errorf("a reopened job: %+v", job)
	}
	for _, bad := range []func() error{
		func() error { _, err := PurgeJobs(ctx, db, 0, 1, false); return err },
		func() error { _, err := PurgeDeletions(ctx, db, year, 0, false); return err },
	} {
		if err := bad(); !errors.Is(err, ErrInvalid) {
			t.Errorf("nonsense: %v", err)
		}
	}
}

// TestPurgeCost: what is removed is read and locked, and a page of what stays is read, however many there
// are.
func TestPurgeCost(t *testing.T) {
	filled := func(n int, level sql.IsolationLevel) string {
		dsn := dbtest.DSN(t, dbtest.Isolation(level))
		db := migrated(t, dsn)
		if err := errors.Join(finished(t.Context(), db, n, "IF(i <= 250, 'dead', 'done')", fmt.Sprintf("IF(i <= %d, 400, 1)", n/2)),
			execAll(t.Context(), db, "ANALYZE TABLE onerow_job_archive, onerow_deletion, onerow_job_count, onerow_job_detached, onerow_job_plan, onerow_parked")); err != nil {
			t.Fatal(err)
		}
		return dsn
	}
	jobs := func(ctx context.Context, db *sql.DB) error { return twenty(PurgeJobs(ctx, db, year, 20, false)) }
	audits := func(ctx context.Context, db *sql.DB) error { return twenty(PurgeDeletions(ctx, db, year, 20, false)) }
	young := func(ctx context.Context, db *sql.DB) error {
		_, err := PurgeJobs(ctx, db, 10*year, 20, false)
		return err
	}
	waiting := func(ctx context.Context, db *sql.DB) error {
		_, err := PurgeJobs(ctx, db, year, 50, true)
		if err == nil {
			_, err = PurgeDeletions(ctx, db, year, 50, true)
		}
		return err
	}
	for _, level := range racetest.Levels() {
		few, many := filled(cost.Few, level), filled(cost.Many(t), level)
		for _, call := range []func(ctx context.Context, db *sql.DB) error{young, jobs, audits, waiting} {
			for _, s := range cost.Flat(t, few, many, call) {
				if t.Logf("%s: %s", level, s); s.Read > 6*purgeBatch || s.Locked > 100 {
					t.Errorf("%s: %s, for 20", level, s)
				}
			}
		}
	}
}

func twenty(n int64, err error) error {
	if err == nil && n != 20 {
		err = fmt.Errorf("%d purged", n)
	}
	return err
}

// TestPurgeStatements holds the numbers that the documentation gives.
func TestPurgeStatements(t *testing.T) {
	db, connector := counting(t)
	if err := finished(t.Context(), db, 1000, "'done'", "IF(i <= 200, 400, 1)"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want int
		call func(context.Context, *sql.DB, int) (int64, error)
	}{{9 + 1, oldJobs}, {1, oldJobs}, {2 + 1, oldAudits}, {1, oldAudits}} {
		log, err := crashtest.Count(connector, func() error { _, err := c.call(t.Context(), db, 1000); return err })
		if err != nil || len(log) != c.want {
			t.Errorf("%d statements, want %d; %v\n%s", len(log), c.want, err, log)
		}
	}
}
