package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

var onlyAbandoned = []Fault{
	CutBefore, CutLost, CutAfter, KillBefore, KillAfter, CancelBefore, CancelAfter,
	DeadlockBefore, DeadlockAfter, LockWait, RefusedCertification, RefusedCommit,
}

// A process stops with its locks held: the retry waits for them until the connection is killed, and then does
// all the work.
func TestAbandonedLocksAreFreed(t *testing.T) {
	for _, level := range bothLevels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			w := shop(shopDSN(t, dbtest.Isolation(level)), buy)
			w.Without = onlyAbandoned
			if report := Run(t, w); report.FaultPoints != 6 {
				t.Errorf("%d points, want one for each statement", report.FaultPoints)
			}

			x := explorerOf(t, w)
			if err := x.learn(t.Context()); err != nil {
				t.Fatal(err)
			}
			points := pointsOf(x.learnt, w.Without...)
			before := x.connector.sessions
			for _, p := range points {
				if failure, hung, err := x.visit(t.Context(), p); failure != nil || hung || err != nil {
					t.Fatal(failure, hung, err)
				}
			}
			if opened := x.connector.sessions - before; opened < len(points)-1 {
				t.Errorf("%d of %d connections were killed", opened, len(points))
			}
		})
	}
}

// TestStoppedProcessKeepsItsLocks: another copy waits for them until the connection is killed.
func TestStoppedProcessKeepsItsLocks(t *testing.T) {
	for _, level := range bothLevels {
		r := stock(stockDSN(t, dbtest.Isolation(level)), sends("UPDATE stock SET n = n-1 WHERE id = 1"))
		r.Stops = true
		table, err := Replay(t.Context(), r, "AAaBB")
		if err != nil {
			t.Fatal(err)
		}
		at := -1
		for _, mark := range []string{"stops here", "waits", "its connection is killed", "(4) goes on", "COMMIT", "its caller asks again", "COMMIT"} {
			next := strings.Index(table[at+1:], mark)
			if next < 0 {
				t.Fatalf("%q is missing:\n%s", mark, table)
			}
			at += 1 + next
		}
	}
}

// claim takes a job by a lease, works, and completes. A process that stops leaves the lease.
func claim(ctx context.Context, db *sql.DB) error {
	res, err := db.ExecContext(ctx, "UPDATE job SET lease = 'mine' WHERE id = 1 AND done = 0 AND lease = ''")
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if _, err := db.ExecContext(ctx, "UPDATE job SET done = 1, lease = '' WHERE id = 1 AND lease = 'mine'"); err != nil {
		_, back := db.ExecContext(ctx, "UPDATE job SET lease = '' WHERE id = 1 AND lease = 'mine'")
		return errors.Join(err, back)
	}
	return nil
}

func TestAbandonedLeases(t *testing.T) {
	dsn := dbtest.DSN(t)
	mustExec(t, dbtest.OpenDSN(t, dsn), "CREATE TABLE job (id INT PRIMARY KEY, done INT NOT NULL, lease VARCHAR(10) NOT NULL) ENGINE=InnoDB")
	w := Workflow{Name: "claim", DSN: dsn, Call: claim, Without: onlyAbandoned, Setup: func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "REPLACE INTO job VALUES (1, 0, '')")
		return err
	}}
	_, err := Explore(t.Context(), w)
	var failures *Failures
	if !errors.As(err, &failures) || len(failures.List) != 1 || !strings.Contains(err.Error(), "what Expire is for") {
		t.Fatalf("not caught: %v", err)
	}
	w.Expire = func(ctx context.Context, db *sql.DB) error {
		_, err := db.ExecContext(ctx, "UPDATE job SET lease = '' WHERE lease <> ''")
		return err
	}
	Run(t, w)
	report := Interleave(t, Race{Workflow: w, AsOnce: true, Stops: true, Judge: func(ctx context.Context, db *sql.DB, answers []error) error {
		var done int
		err := errors.Join(append(answers, db.QueryRowContext(ctx, "SELECT done FROM job").Scan(&done))...)
		if err == nil && done != 1 {
			err = fmt.Errorf("the job was not done")
		}
		return err
	}})
	if report.Stopped == 0 {
		t.Errorf("no process stopped: %+v", report)
	}

	w.Expire = func(context.Context, *sql.DB) error { return errors.New("no clock") }
	if _, err := Explore(t.Context(), w); err == nil || !strings.Contains(err.Error(), "in Expire: no clock") {
		t.Errorf("want the error of Expire: %v", err)
	}
}

// What a process that stopped still tries comes to nothing.
func TestStoppedProcessSendsNothing(t *testing.T) {
	calls := 0
	w := shop(shopDSN(t), func(ctx context.Context, db *sql.DB) error {
		calls++
		err := buy(ctx, db)
		if errors.Is(err, errStopped) {
			_, second := db.ExecContext(context.WithoutCancel(ctx), insertPurchase, "ann", "from the grave")
			if !errors.Is(second, errStopped) {
				t.Errorf("it could go on: %v", second)
			}
		}
		return err
	})
	w.Without = onlyAbandoned
	Run(t, w)
	if calls < 3+2*6 {
		t.Errorf("%d calls", calls)
	}
}

func TestWhoWaitsIsRead(t *testing.T) {
	status := "LATEST DETECTED DEADLOCK\n---TRANSACTION 1, ACTIVE 0 sec\nLOCK WAIT 2 lock struct(s)\nMySQL thread id 1, OS thread\n" +
		"LIST OF TRANSACTIONS FOR EACH SESSION:\n" +
		"---TRANSACTION 421, not started\n0 lock struct(s), heap size 1128\n" +
		"---TRANSACTION 5, ACTIVE 0 sec starting index read\nmysql tables in use 1, locked 1\nLOCK WAIT 2 lock struct(s)\n" +
		"MariaDB thread id 7, OS thread handle 1, query id 9\nUPDATE t\nMySQL thread id 8, a query may say anything\n" +
		"---TRANSACTION 6, ACTIVE 0 sec\n2 lock struct(s)\nMySQL thread id 9, OS thread handle 1\nLOCK WAIT \nMySQL thread id 10, \n"
	if got := fmt.Sprint(waitingIn(status)); got != "map[7:true]" {
		t.Error(got)
	}
	if hasCircle(map[uint64][]uint64{1: {2}, 2: {3}}) || !hasCircle(map[uint64][]uint64{1: {2}, 2: {1}, 3: {1}}) || hasCircle(nil) {
		t.Error("circles are not recognised")
	}
}
