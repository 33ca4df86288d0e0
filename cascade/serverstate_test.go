package cascade

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestServerStates: each number that is the server's state is no failure of a job, parks no row, is stored
// with what to do, and ends the round, if each job would meet it, or else the job's turn. What somebody has
// to look at counts.
func TestServerStates(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		job := condemn(t, db, 1, 0)
		w := worker(t, db, Config{MaxFailures: 2})
		attempt := func(number uint16) (queue.Job, error) {
			t.Helper()
			makeDue(t, db, job.ID)
			c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
			if err != nil || len(c.Jobs) != 1 {
				t.Fatal(c, err)
			}
			cause := fmt.Errorf("x: %w", &mysql.MySQLError{Number: number, Message: "whatever, --read-only"})
			if fault.OfRow(cause) {
				t.Errorf("%d would park rows", number)
			}
			err = w.settle(t.Context(), c, c.Jobs[0], cause)
			return get(t, db, job.ID), err
		}
		for _, number := range []uint16{1040, 1114, 1317, 1969} { // what applications have met
			if fault.ServerState(&mysql.MySQLError{Number: number}) == nil {
				t.Errorf("%d is no state of the server", number)
			}
		}
		for number := range uint16(5000) {
			refused := fault.ServerState(&mysql.MySQLError{Number: number, Message: "--read-only"})
			if refused == nil {
				continue
			}
			got, err := attempt(number)
			if got.State != queue.Ready || got.Failures != 0 || !got.DueAt.After(time.Now().Add(-time.Minute)) || !strings.Contains(got.LastError, refused.Advice) {
				t.Errorf("%d: %+v", number, got)
			}
			var state *fault.State
			var my *mysql.MySQLError
			if !errors.Is(err, fault.ErrServerState) || !errors.As(err, &state) || state.Number != number || !errors.As(err, &my) {
				t.Errorf("%d: %v", number, err)
			}
			var turn *turnError
			if errors.As(err, &turn) == refused.Everybodys() {
				t.Errorf("%d: %T", number, err)
			}
		}
		for i, number := range []uint16{1146, 1142} { // a table or a right is missing
			if got, err := attempt(number); err != nil || i == 0 && got.Failures != 1 || i == 1 && got.State != queue.Dead {
				t.Errorf("%d: %+v, %v", number, got, err)
			}
		}
		if err := error(&mysql.MySQLError{Number: 1290, Message: "--secure-file-priv"}); queue.IsServerState(err) || fault.OfRow(err) {
			t.Errorf("a file where the server writes none is no state of it: %v", err)
		}
		if err := error(&fault.Assets{Err: &mysql.MySQLError{Number: 1040}}); queue.IsServerState(err) || !errors.Is(fault.Explained(err), err) || errors.Is(fault.Explained(err), fault.ErrServerState) {
			t.Errorf("an asset store's error passes for the server's: %v", err)
		}
	})
}

// fillGone makes a table, gone, that is full.
func fillGone(t *testing.T, db *sql.DB) {
	t.Helper()
	conn, err := db.Conn(t.Context()) // what a table in memory may take is the session's that makes it
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, conn, "SET max_heap_table_size = 16384")
	dbtest.Exec(t, conn, "CREATE TABLE gone (id BIGINT NOT NULL, filler CHAR(250) NOT NULL) ENGINE=MEMORY")
	var my *mysql.MySQLError
	for !errors.As(err, &my) {
		_, err = conn.ExecContext(t.Context(), "INSERT INTO gone VALUES (1, 'x')")
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFullTable: a table that is full is the server's state: no row below is parked for it, no job dies of
// it, and when there is room again the job goes on.
func TestFullTable(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		project(t, db, 1)
		insert(t, db, "note", map[string]any{"project_id": 1})
		fillGone(t, db)
		dbtest.Exec(t, db, "CREATE TRIGGER no_room AFTER DELETE ON note FOR EACH ROW INSERT INTO gone VALUES (OLD.id, 'x')")
		job := condemn(t, db, 1, 0)
		w := worker(t, db, Config{MaxFailures: 2})
		for range 3 {
			makeDue(t, db, job.ID)
			if _, err := w.RunOnce(t.Context()); !errors.Is(err, fault.ErrServerState) {
				t.Fatalf("%v; %+v", err, get(t, db, job.ID))
			}
		}
		if got := get(t, db, job.ID); got.State != queue.Ready || got.Failures != 0 || got.Parked != 0 || !strings.Contains(got.LastError, "1114") {
			t.Errorf("%+v", got)
		}
		dbtest.Exec(t, db, "DROP TRIGGER no_room")
		makeDue(t, db, job.ID)
		drain(t, w)
		if got := get(t, db, job.ID); got.State != queue.Done {
			t.Errorf("%+v", got)
		}
	})
}

// TestKilledStatement: a statement that an operator has ended says nothing about the job.
func TestKilledStatement(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		project(t, db, 1)
		insert(t, db, "note", map[string]any{"project_id": 1})
		job := condemn(t, db, 1, 0)
		holder, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = holder.Rollback() }()
		dbtest.Exec(t, holder, "UPDATE note SET project_id = 1, version = version + 1 WHERE project_id = 1")
		w := worker(t, db, Config{MaxFailures: 2})
		for range 3 {
			makeDue(t, db, job.ID)
			ended := make(chan error, 1)
			go func() {
				_, err := w.RunOnce(t.Context())
				ended <- err
			}()
			var ids []int64
			dbtest.Eventually(t, time.Minute, func() (bool, string) {
				ids = dbtest.Executing(t, db, "DELETE", "note")
				return len(ids) > 0, "no statement waits for the row"
			})
			dbtest.Exec(t, db, fmt.Sprintf("KILL QUERY %d", ids[0]))
			if err := <-ended; !errors.Is(err, fault.ErrServerState) {
				t.Fatalf("%v; %d notes; %+v", err, count(t, db, "SELECT COUNT(*) FROM note"), get(t, db, job.ID))
			}
		}
		if got := get(t, db, job.ID); got.State != queue.Ready || got.Failures != 0 || got.Parked != 0 || !strings.Contains(got.LastError, "1317") {
			t.Errorf("%+v", got)
		}
		if err := holder.Rollback(); err != nil {
			t.Fatal(err)
		}
		makeDue(t, db, job.ID)
		drain(t, w)
		if got := get(t, db, job.ID); got.State != queue.Done {
			t.Errorf("%+v", got)
		}
	})
}

// TestStatementTime: batches that a limit on the time of statements ends become smaller until they pass.
// MySQL has such a limit for reads only.
func TestStatementTime(t *testing.T) {
	limit := dbtest.Param("max_statement_time", "0.5")
	if dbtest.Server(t).Engine() == devdb.MySQL {
		limit = dbtest.Param("max_execution_time", "500")
	}
	db := openForest(t, limit)
	project(t, db, 1)
	for range 300 {
		insert(t, db, "note", map[string]any{"project_id": 1})
	}
	dbtest.Exec(t, db, "CREATE TRIGGER slow BEFORE DELETE ON note FOR EACH ROW SET @slept = SLEEP(0.005)")
	job := condemn(t, db, 1, 0)
	w := worker(t, db, Config{MaxFailures: 2})
	for range 10 {
		makeDue(t, db, job.ID)
		if _, err := w.RunOnce(t.Context()); err == nil {
			break
		} else if !errors.Is(err, fault.ErrServerState) {
			t.Fatal(err)
		}
	}
	if got := get(t, db, job.ID); got.State != queue.Done || got.Failures != 0 || got.Parked != 0 {
		t.Errorf("%+v", got)
	}
}
