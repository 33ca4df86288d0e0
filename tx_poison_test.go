package onerow_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
)

// TestTimeoutPoisons: after a lock wait timeout nobody can tell whether the first half of the transaction is
// still there (innodb_rollback_on_timeout), so the second half is not run, in autocommit or not, and a nil is
// not believed. What goes back to a savepoint is let through: its owner may commit.
func TestTimeoutPoisons(t *testing.T) {
	t.Parallel()
	db, _ := floortest.Accounts(t, dbtest.Param("innodb_lock_wait_timeout", "1"))
	other, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, other, floortest.Add, 2)
	half := func(ctx context.Context, tx *onerow.Tx) error {
		dbtest.Exec(t, tx, "SAVEPOINT half")
		dbtest.Exec(t, tx, floortest.Add, 1)
		_, err := tx.ExecContext(ctx, floortest.Add, 2)
		var my *mysql.MySQLError
		if !errors.As(err, &my) || my.Number != 1205 || !onerow.Retryable(err) {
			t.Errorf("no lock wait timeout: %v", err)
		}
		if _, err := tx.ExecContext(ctx, floortest.Add, 1); !errors.Is(err, onerow.ErrTxPoisoned) || !onerow.Retryable(err) {
			t.Errorf("the second half: %v", err)
		}
		return nil
	}
	if err := onerow.InTx(t.Context(), db, half); !onerow.Retryable(err) {
		t.Errorf("it was believed: %v", err)
	}
	floortest.WantBalances(t, db, "0,0")

	own, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = onerow.InTx(t.Context(), own, func(ctx context.Context, tx *onerow.Tx) error {
		if err := half(ctx, tx); err != nil {
			return err
		}
		dbtest.Exec(t, tx, "ROLLBACK TO SAVEPOINT half")
		if _, err := tx.ExecContext(ctx, floortest.Add, 1); !errors.Is(err, onerow.ErrTxPoisoned) {
			t.Errorf("after going back: %v", err)
		}
		return nil
	})
	if !errors.Is(err, onerow.ErrTxPoisoned) {
		t.Errorf("joined: %v", err)
	}
	if err := errors.Join(own.Commit(), other.Rollback()); err != nil {
		t.Fatal(err)
	}
	floortest.WantBalances(t, db, "0,0")
}

// TestOverflowPoisons: 1206 rolls all of the transaction back, and would do so again.
func TestOverflowPoisons(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	sent := 0
	db := hookedPool(t, dsn, &hooked{before: func(ctx context.Context, _ int, statement string, conn driver.ExecerContext) error {
		if statement != floortest.Add {
			return nil
		}
		if sent++; sent != 2 {
			return nil
		}
		_, err := conn.ExecContext(ctx, "ROLLBACK", nil) // as the server does
		return errors.Join(err, serverError(1206))
	}})
	runs := 0
	err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		runs++
		dbtest.Exec(t, tx, floortest.Add, 1)
		_, first := tx.ExecContext(ctx, floortest.Add, 1)
		if _, err := tx.ExecContext(ctx, floortest.Add, 2); !errors.Is(err, onerow.ErrTxPoisoned) {
			t.Errorf("the second half: %v", err)
		}
		return first
	})
	var my *mysql.MySQLError
	if !errors.As(err, &my) || my.Number != 1206 || onerow.Retryable(err) || runs != 1 {
		t.Errorf("%v after %d runs", err, runs)
	}
	floortest.WantBalances(t, plain, "0,0")
}

// TestSnapshotConflict: what a server with innodb_snapshot_isolation (ON by default from MariaDB 11.6 on)
// says to a write on a row that was changed after the transaction's snapshot is 1020, and it has then rolled
// all of the transaction back: what follows would run in autocommit. A verb on a pool runs again; a joined
// one leaves nothing running, and says that the whole may run again. A server without it lets the write
// through.
func TestSnapshotConflict(t *testing.T) {
	opts := []dbtest.Option{dbtest.Isolation(sql.LevelRepeatableRead)}
	has := dbtest.SnapshotIsolation(t)
	if has {
		opts = append(opts, dbtest.Param("innodb_snapshot_isolation", "ON"))
	}
	db, _ := floortest.Accounts(t, opts...)
	runs := 0
	conflict := func(ctx context.Context, tx *onerow.Tx) error {
		floortest.Balances(t, tx) // the snapshot
		dbtest.Exec(t, tx, floortest.Add, 1)
		if runs++; runs == 1 {
			dbtest.Exec(t, db, floortest.Add, 2)
		}
		_, err := tx.ExecContext(ctx, floortest.Add, 2)
		if runs > 1 || !has {
			return err
		}
		var my *mysql.MySQLError
		if !errors.As(err, &my) || my.Number != 1020 || !onerow.Retryable(err) {
			t.Errorf("no conflict: %v", err)
		}
		if _, err := tx.ExecContext(ctx, floortest.Add, 1); !errors.Is(err, onerow.ErrTxPoisoned) {
			t.Errorf("after it: %v", err)
		}
		return err
	}
	if err := onerow.InTx(t.Context(), db, conflict); err != nil {
		t.Fatal(err)
	}
	if has != (runs == 2) {
		t.Errorf("%d runs, snapshot isolation %v", runs, has)
	}
	floortest.WantBalances(t, db, "1,2")

	runs = 0
	own, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, own, floortest.Add, 1)
	err = onerow.InTx(t.Context(), own, conflict)
	if has != onerow.Retryable(err) || has != (err != nil) {
		t.Errorf("joined: %v", err)
	}
	if has { // the server says that nothing is open, and others see nothing of it
		var open int
		if err := onerow.QueryRow(t.Context(), own, "SELECT @@in_transaction", nil, &open); err != nil || open != 0 {
			t.Errorf("in a transaction: %d, %v", open, err)
		}
		floortest.WantBalances(t, db, "1,3")
	}
	if err := own.Rollback(); err != nil {
		t.Fatal(err)
	}
	floortest.WantBalances(t, db, "1,3")
}

// TestAutoIncrementDeadlock: who waits for the next AUTO_INCREMENT value while another session's
// INSERT … SELECT has the counter, and waits for his row, is the victim of a deadlock. MariaDB rolls all of
// his transaction back and calls it 1467; it takes what follows, and COMMIT, for a new transaction. So
// nothing follows, the nil is not believed, and the whole runs again. Where INSERT … SELECT does not keep the
// counter (innodb_autoinc_lock_mode = 2, as in MySQL) nobody waits.
func TestAutoIncrementDeadlock(t *testing.T) {
	t.Parallel()
	db, _ := floortest.Accounts(t)
	dbtest.Exec(t, db, "CREATE TABLE numbered (id BIGINT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) NOT NULL UNIQUE) ENGINE=InnoDB")
	dbtest.Exec(t, db, "CREATE TABLE heavy (id INT PRIMARY KEY) ENGINE=InnoDB")
	keeps := dbtest.Scan[int](t, db, "SELECT @@innodb_autoinc_lock_mode") != 2
	other, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for id := range 20 { // the victim is who has written least
		dbtest.Exec(t, other, "INSERT INTO heavy VALUES (?)", id)
	}
	inserted, runs := make(chan error, 1), 0
	err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		dbtest.Exec(t, tx, floortest.Add, 1)
		dbtest.Exec(t, tx, "INSERT INTO numbered (name) VALUES ('a')")
		if runs++; runs == 1 {
			go func() {
				_, err := other.ExecContext(t.Context(), "INSERT INTO numbered (name) SELECT 'a'")
				inserted <- err
			}()
			dbtest.AwaitLock(t, db)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO numbered (name) VALUES ('b')")
		if !keeps || runs > 1 {
			return err
		}
		var my *mysql.MySQLError
		if !errors.As(err, &my) || my.Number != 1467 || !onerow.Retryable(err) {
			t.Errorf("no deadlock: %v", err)
		}
		if err := errors.Join(<-inserted, other.Rollback()); err != nil {
			t.Errorf("the other one: %v", err)
		}
		if _, err := tx.ExecContext(ctx, floortest.Add, 2); !errors.Is(err, onerow.ErrTxPoisoned) {
			t.Errorf("the second half: %v", err)
		}
		return nil
	})
	if err != nil || keeps != (runs == 2) {
		t.Errorf("%v after %d runs", err, runs)
	}
	if !keeps {
		if err := <-inserted; err == nil {
			t.Error("two of one name")
		}
		if err := other.Rollback(); err != nil {
			t.Error(err)
		}
	}
	floortest.WantBalances(t, db, "1,0")
	if names := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(name ORDER BY name) FROM numbered"); names != "a,b" {
		t.Errorf("%q", names)
	}
}

// TestTooLarge: a statement that does not fit into the server's packet looks like a lost connection. It is
// not sent 20 times, and the error says which value it is, how large, and what the limit is, but not what is
// in it.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		value func(limit int) any
		runs  int
	}{
		{"a value", func(limit int) any { return strings.Repeat("x", limit+1) }, 1},
		{"its escapes", func(limit int) any { return []byte(strings.Repeat(`"`, limit/2+1000)) }, 2},
	} {
		for _, interpolate := range []string{"true", "false"} {
			t.Run(c.name+", interpolateParams="+interpolate, func(t *testing.T) {
				db, _ := floortest.Accounts(t, dbtest.Param("interpolateParams", interpolate), dbtest.Param("maxAllowedPacket", "268435456"))
				dbtest.Exec(t, db, "CREATE TABLE document (id INT PRIMARY KEY, body LONGBLOB) ENGINE=InnoDB")
				var limit int
				if err := onerow.QueryRow(t.Context(), db, "SELECT @@max_allowed_packet", nil, &limit); err != nil {
					t.Fatal(err)
				}
				value, runs := c.value(limit), 0
				write := func(ctx context.Context, tx onerow.DB) error {
					runs++
					_, err := tx.ExecContext(ctx, "INSERT INTO document VALUES (?, ?)", 1, value)
					return err
				}
				err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error { return write(ctx, tx) })
				if c.runs == 2 && interpolate == "false" { // as it is, it fits
					if err != nil || runs != 1 {
						t.Errorf("%v after %d runs", err, runs)
					}
					return
				}
				wantTooLarge(t, err, limit)
				if runs > c.runs { // some servers answer, others only close
					t.Errorf("%d runs", runs)
				}
				runs = 0
				wantTooLarge(t, onerow.Alone(t.Context(), db, write), limit)
				if runs > c.runs {
					t.Errorf("alone: %d runs", runs)
				}
			})
		}
	}
}

func wantTooLarge(t *testing.T, err error, limit int) {
	t.Helper()
	var large *onerow.TooLargeError
	if !errors.Is(err, onerow.ErrTooLarge) || !errors.As(err, &large) || onerow.Retryable(err) || errors.Is(err, onerow.ErrOutcomeUnknown) {
		t.Fatalf("the answer was %.300s", err)
	}
	if large.Argument != 2 || large.Limit != int64(limit) || large.ArgumentSize < int64(limit/2) || large.Size < int64(limit) || len(err.Error()) > 500 {
		t.Errorf("%.600s: %d, %d, %d, %d", err, large.Argument, large.ArgumentSize, large.Size, large.Limit)
	}
}
