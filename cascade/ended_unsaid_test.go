package cascade

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// noThread says whether the session that was to be disturbed was gone.
func noThread(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && my.Number == 1094
}

// TestEndedUnsaid: MariaDB answers a DELETE that KILL QUERY has met before its first row with OK and no row. Nothing is left below
// what is gone, and no job is in both tables, however many statements are killed.
func TestEndedUnsaid(t *testing.T) {
	const projects = 150
	dsn := dbtest.DSN(t)
	db, workers := dbtest.OpenDSN(t, dsn), dbtest.OpenDSN(t, dsn)
	plant(t, db)
	for id := int64(1); id <= projects; id++ {
		project(t, db, id)
		grow(t, db, id, 1, 1, 1, 1)
		condemn(t, db, id, 0)
	}
	workers.SetMaxOpenConns(1)
	workers.SetMaxIdleConns(1)
	w := quiet(t, worker(t, workers, Config{MaxFailures: 2}))
	var session atomic.Int64
	session.Store(count(t, workers, "SELECT CONNECTION_ID()"))

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	killed := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			for began, d := time.Now(), rand.N(3*time.Millisecond); time.Since(began) < d; { // to the microsecond, as no timer is
			}
			if _, err := db.ExecContext(t.Context(), fmt.Sprintf("KILL QUERY %d", session.Load())); err != nil && !noThread(err) {
				killed <- err
				return
			}
		}
		killed <- nil
	}()
	for ctx.Err() == nil {
		_, _ = w.RunOnce(ctx) // mostly it is killed
		var now int64         // a session in doubt is thrown away
		if err := onerow.QueryRow(t.Context(), workers, "SELECT CONNECTION_ID()", nil, &now); err == nil {
			session.Store(now)
		}
		exec(t, db, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)")
	}
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	done := count(t, db, "SELECT COUNT(*) FROM onerow_job_archive")
	if done == 0 {
		t.Fatal("no job has ended while its statements were killed: nothing is shown")
	}
	exec(t, db, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)")
	drain(t, w)
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'done'"); n != projects {
		t.Errorf("%d of %d jobs are done, %d of them among kills", n, projects, done)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_job_archive AS a JOIN onerow_job AS o ON o.id = a.id"); n != 0 {
		t.Errorf("%d jobs are in both tables", n)
	}
	for id := int64(1); id <= projects; id++ {
		if left := rowsOf(t, db, id); len(left) > 0 {
			t.Errorf("below project %d: %v", id, left)
		}
	}
}
