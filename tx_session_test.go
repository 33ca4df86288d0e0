package onerow_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
)

// failing answers the statement of one session with a server's error, without sending it.
func failing(session int, statement string, number uint16) func(context.Context, int, string, driver.ExecerContext) error {
	return func(_ context.Context, at int, sent string, _ driver.ExecerContext) error {
		if at == session && sent == statement {
			return serverError(number)
		}
		return nil
	}
}

// TestServerDoesNotWrite: a server or node that takes no writes now answers so to any statement, BEGIN and
// COMMIT too. The session is left for a new one, which leads to whoever took over, and the transaction
// happens once.
func TestServerDoesNotWrite(t *testing.T) {
	for _, c := range []struct {
		name string
		hook hooked
	}{
		{"a session of a replica (1792, the server's own)", hooked{opened: func(ctx context.Context, session int, conn driver.ExecerContext) error {
			if session > 2 {
				return nil
			}
			return readOnlyFrom(1)(ctx, session, conn)
		}}},
		{"BEGIN, 1047", hooked{before: failing(1, "BEGIN", 1047)}},
		{"BEGIN, 1290", hooked{before: failing(1, "BEGIN", 1290)}},
		{"a statement, 1290", hooked{before: failing(1, floortest.Add, 1290)}},
		{"a statement, 1836", hooked{before: failing(1, floortest.Add, 1836)}},
		{"COMMIT, 1290", hooked{before: failing(1, "COMMIT", 1290)}},
		{"COMMIT, 1047", hooked{before: failing(1, "COMMIT", 1047)}},
		{"a session, 1040", hooked{connect: func(session int) error {
			if session == 1 {
				return serverError(1040)
			}
			return nil
		}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain, dsn := floortest.Accounts(t)
			db := hookedPool(t, dsn, &c.hook)
			if err := floortest.Transfer(t.Context(), db); err != nil {
				t.Error(err)
			}
			if c.hook.sessions < 2 {
				t.Error("it stayed in the session")
			}
			floortest.WantBalances(t, plain, "1,1")
		})
	}
}

// TestServerDoesNotWriteAlone: a statement that stands alone leaves such a session as well.
func TestServerDoesNotWriteAlone(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	h := &hooked{opened: func(ctx context.Context, session int, conn driver.ExecerContext) error {
		if session > 1 {
			return nil
		}
		return readOnlyFrom(1)(ctx, session, conn)
	}}
	db := hookedPool(t, dsn, h)
	if err := onerow.Alone(t.Context(), db, func(ctx context.Context, db onerow.DB) error {
		_, err := db.ExecContext(ctx, floortest.Add, 1)
		return err
	}); err != nil {
		t.Error(err)
	}
	floortest.WantBalances(t, plain, "1,0")
}

// TestRollbackFailed: a session whose ROLLBACK or COMMIT was refused has its transaction open. The next BEGIN
// in it would commit that, so it never goes back to the pool.
func TestRollbackFailed(t *testing.T) {
	fail := func(fail error) func(context.Context, *onerow.Tx) error {
		return func(ctx context.Context, tx *onerow.Tx) error {
			if _, err := tx.ExecContext(ctx, floortest.Add, 1); err != nil {
				return err
			}
			return fail
		}
	}
	for _, c := range []struct {
		name   string
		before func(context.Context, int, string, driver.ExecerContext) error
		fn     func(context.Context, *onerow.Tx) error
	}{
		{"ROLLBACK, 1047", failing(1, "ROLLBACK", 1047), fail(errBusiness)},
		{"ROLLBACK, 1317", failing(1, "ROLLBACK", 1317), fail(errBusiness)},
		{"COMMIT, 1317", failing(1, "COMMIT", 1317), fail(nil)},
	} {
		for _, kind := range []string{"sql.DB", "sqlx.DB", "sql.Conn"} {
			t.Run(c.name+", "+kind, func(t *testing.T) {
				plain, dsn := floortest.Accounts(t)
				pool := hookedPool(t, dsn, &hooked{before: c.before})
				var db onerow.DB = pool
				switch kind {
				case "sqlx.DB":
					db = sqlx.NewDb(pool, "mysql")
				case "sql.Conn":
					conn, err := pool.Conn(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					defer func() { _ = conn.Close() }() // it was discarded
					db = conn
				}
				if err := onerow.InTx(t.Context(), db, c.fn); err == nil {
					t.Error("it answered nil")
				}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // the pool has one session
				defer cancel()
				if err := onerow.InTx(ctx, pool, func(ctx context.Context, tx *onerow.Tx) error {
					_, err := tx.ExecContext(ctx, floortest.Add, 2)
					return err
				}); err != nil {
					t.Error(err)
				}
				floortest.WantBalances(t, plain, "0,1")
			})
		}
	}
}

// TestContextEnds: a transaction whose context has ended answers at once, though the network does not answer
// its ROLLBACK, and what was open in its session is not the next one's.
func TestContextEnds(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	db := hookedPool(t, dsn, &hooked{before: func(_ context.Context, session int, statement string, conn driver.ExecerContext) error {
		for session == 1 && statement == "ROLLBACK" && conn.(driver.Validator).IsValid() { // until it is cut
			time.Sleep(time.Millisecond)
		}
		return nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error, 1)
	go func() {
		answer <- onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			dbtest.Exec(t, tx, floortest.Add, 1)
			cancel()
			return nil
		})
	}()
	select {
	case err := <-answer:
		if !errors.Is(err, context.Canceled) || errors.Is(err, onerow.ErrOutcomeUnknown) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for ROLLBACK")
	}
	if err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, floortest.Add, 2)
		return err
	}); err != nil {
		t.Error(err)
	}
	floortest.WantBalances(t, plain, "0,1")
}

// TestBeginContext: a BEGIN that nobody answers ends with its context, and says which end that was.
func TestBeginContext(t *testing.T) {
	t.Parallel()
	_, dsn := floortest.Accounts(t)
	db := hookedPool(t, dsn, &hooked{before: func(ctx context.Context, _ int, statement string, _ driver.ExecerContext) error {
		if statement != "BEGIN" {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := floortest.Transfer(ctx, db); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := floortest.Transfer(ctx, db); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestStatementsContext: a statement's own context ends and closes the session. Whoever goes on is told, and
// not that the outcome of a COMMIT is unknown, which was never sent.
func TestStatementsContext(t *testing.T) {
	t.Parallel()
	plain, dsn := floortest.Accounts(t)
	for name, db := range floortest.Pools(t, dsn) {
		fn := func(ctx context.Context, tx *onerow.Tx) error {
			dbtest.Exec(t, tx, floortest.Add, 1)
			short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			defer cancel()
			if _, err := tx.ExecContext(short, "DO SLEEP(1)"); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(name, err)
			}
			return nil
		}
		if err := onerow.InTx(t.Context(), db, fn); !errors.Is(err, onerow.ErrTxPoisoned) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, onerow.ErrOutcomeUnknown) {
			t.Error(name, err)
		}
		own, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := onerow.InTx(t.Context(), own, fn); !errors.Is(err, onerow.ErrTxPoisoned) {
			t.Error(name, err)
		}
		if err := own.Commit(); err == nil || name == "guarded" && !errors.Is(err, onerow.ErrTxPoisoned) {
			t.Error(name, err)
		}
	}
	floortest.WantBalances(t, plain, "0,0")
}

// TestTransactionOnAlone: a transaction on a session of Alone throws that session away as on any other.
func TestTransactionOnAlone(t *testing.T) {
	plain, dsn := floortest.Accounts(t)
	pool := hookedPool(t, dsn, &hooked{before: failing(1, "ROLLBACK", 1317)})
	err := onerow.Alone(t.Context(), pool, func(ctx context.Context, db onerow.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			dbtest.Exec(t, tx, floortest.Add, 1)
			return errBusiness
		})
	})
	if !errors.Is(err, errBusiness) {
		t.Error(err)
	}
	if err := onerow.InTx(t.Context(), pool, func(ctx context.Context, tx *onerow.Tx) error {
		_, err := tx.ExecContext(ctx, floortest.Add, 2)
		return err
	}); err != nil {
		t.Error(err)
	}
	floortest.WantBalances(t, plain, "0,1")
}
