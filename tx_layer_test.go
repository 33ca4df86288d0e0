package onerow_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/pool"
)

// dbtx is what sqlc generates as DBTX, and gorm calls a ConnPool.
type dbtx interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	PrepareContext(context.Context, string) (*sql.Stmt, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

var _ dbtx = (*onerow.Tx)(nil)

const balance = "SELECT balance FROM account WHERE id = ?"

// eachTx calls fn with a Tx of its own, with one joined to a *sql.Tx and to a *sqlx.Tx, and with one of those
// joined again.
func eachTx(t *testing.T, db *sql.DB, fn func(t *testing.T, ctx context.Context, tx *onerow.Tx) error) {
	t.Helper()
	run := func(name string, in func(ctx context.Context, fn func(context.Context, *onerow.Tx) error) error) {
		t.Run(name, func(t *testing.T) {
			err := in(t.Context(), func(ctx context.Context, tx *onerow.Tx) error { return fn(t, ctx, tx) })
			if err != nil {
				t.Error(err)
			}
		})
	}
	run("own", func(ctx context.Context, fn func(context.Context, *onerow.Tx) error) error {
		return onerow.InTx(ctx, db, fn)
	})
	run("joined", func(ctx context.Context, fn func(context.Context, *onerow.Tx) error) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		return errors.Join(onerow.InTx(ctx, tx, fn), tx.Rollback())
	})
	run("sqlx, joined twice", func(ctx context.Context, fn func(context.Context, *onerow.Tx) error) error {
		tx, err := sqlx.NewDb(db, "mysql").BeginTxx(ctx, nil)
		if err != nil {
			return err
		}
		return errors.Join(onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error {
			return onerow.InTx(ctx, tx, fn)
		}), tx.Rollback())
	})
}

// TestLayer: a query layer's statements, prepared or not, are part of the transaction.
func TestLayer(t *testing.T) {
	db, _ := floortest.Accounts(t)
	eachTx(t, db, func(t *testing.T, ctx context.Context, tx *onerow.Tx) error {
		stmt, err := tx.PrepareContext(ctx, "UPDATE account SET balance = 7 WHERE id = ?")
		if err != nil {
			return err
		}
		if _, err = stmt.ExecContext(ctx, 1); err != nil {
			return err
		}
		if _, err := tx.SQL().ExecContext(ctx, "UPDATE account SET balance = balance + 1 WHERE id = 1"); err != nil {
			return err
		}
		var n int
		if err := tx.QueryRowContext(ctx, balance, 1).Scan(&n); err != nil || n != 8 {
			t.Errorf("it reads %d: %v", n, err)
		}
		if err := tx.QueryRowContext(ctx, balance, 3).Scan(&n); !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("no row: %v", err)
		}
		return errors.Join(stmt.Close(), onerow.AffectOne(ctx, tx, "UPDATE account SET balance = 0 WHERE id = 1"))
	})
	floortest.WantBalances(t, db, "0,0")
}

// TestLayerPoisoned: after a refusal nothing is sent, whoever asks, and the row that says so costs no
// statement.
func TestLayerPoisoned(t *testing.T) {
	t.Parallel()
	for name, meet := range map[string]func(context.Context, *onerow.Tx) error{
		"ExecContext": func(ctx context.Context, tx *onerow.Tx) error {
			_, err := tx.ExecContext(ctx, floortest.Add, 2)
			return err
		},
		"QueryRowContext": func(ctx context.Context, tx *onerow.Tx) error {
			var n int
			return tx.QueryRowContext(ctx, balance+" FOR UPDATE", 2).Scan(&n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := floortest.Accounts(t, dbtest.Param("innodb_lock_wait_timeout", "1"))
			other, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			dbtest.Exec(t, other, floortest.Add, 2)
			err = onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
				err := meet(ctx, tx)
				var my *mysql.MySQLError
				if !errors.As(err, &my) || my.Number != 1205 {
					t.Errorf("no lock wait timeout: %v", err)
				}
				var n int
				row := tx.QueryRowContext(ctx, balance, 1)
				if err := row.Err(); !errors.Is(err, onerow.ErrTxPoisoned) || !errors.As(err, &my) {
					t.Errorf("a row: %v", err)
				}
				if err := row.Scan(&n); !errors.Is(err, onerow.ErrTxPoisoned) {
					t.Errorf("its Scan: %v", err)
				}
				if _, err := tx.PrepareContext(ctx, floortest.Add); !errors.Is(err, onerow.ErrTxPoisoned) {
					t.Errorf("a statement: %v", err)
				}
				return nil
			})
			if !errors.Is(err, onerow.ErrTxPoisoned) {
				t.Errorf("it was committed: %v", err)
			}
			if err := other.Rollback(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestLayerGuarded: what comes past the Tx is stopped below it, on a pool of Open.
func TestLayerGuarded(t *testing.T) {
	_, dsn := floortest.Accounts(t)
	db, err := pool.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // the test is over
	eachPast := map[string]func(context.Context, *onerow.Tx) error{
		"statement": func(ctx context.Context, tx *onerow.Tx) error {
			stmt, err := tx.PrepareContext(ctx, floortest.Add)
			if err != nil {
				return err
			}
			_, first := stmt.ExecContext(ctx, 1)
			lose(t, db, tx)
			_, err = stmt.ExecContext(ctx, 2)
			return errors.Join(first, err)
		},
		"SQL": func(ctx context.Context, tx *onerow.Tx) error {
			_, first := tx.SQL().ExecContext(ctx, floortest.Add, 1)
			lose(t, db, tx)
			_, err := tx.SQL().ExecContext(ctx, floortest.Add, 2)
			return errors.Join(first, err)
		},
	}
	for name, past := range eachPast {
		t.Run(name, func(t *testing.T) {
			runs := 0
			err := onerow.InTx(t.Context(), db, func(ctx context.Context, tx *onerow.Tx) error {
				if runs++; runs > 1 {
					return nil
				}
				if err := past(ctx, tx); !onerow.Retryable(err) {
					t.Errorf("behind a lost session: %v", err)
				}
				return nil // whoever throws errors away
			})
			if err != nil || runs != 2 {
				t.Errorf("%d runs: %v", runs, err)
			}
			floortest.WantBalances(t, db, "0,0")
		})
	}
}

// lose kills the transaction's session.
func lose(t *testing.T, db *sql.DB, tx *onerow.Tx) {
	t.Helper()
	dbtest.Exec(t, db, "KILL "+dbtest.Scan[string](t, tx, "SELECT CONNECTION_ID()"))
}

// TestLayerEnds: whoever commits by himself is told so, and nothing is run again.
func TestLayerEnds(t *testing.T) {
	db, _ := floortest.Accounts(t)
	for name, end := range map[string]func(*sql.Tx) error{"COMMIT": (*sql.Tx).Commit, "ROLLBACK": (*sql.Tx).Rollback} {
		runs := 0
		err := onerow.InTx(t.Context(), db, func(_ context.Context, tx *onerow.Tx) error {
			runs++
			return end(tx.SQL())
		})
		if !errors.Is(err, sql.ErrTxDone) || errors.Is(err, onerow.ErrOutcomeUnknown) || runs != 1 {
			t.Errorf("%s: %d runs, %v", name, runs, err)
		}
	}
}

// only has what a DB needs, and Commit.
type only struct{ onerow.DB }

func (only) Commit() error { return nil }

// TestLayerLacks: a handle that has no more than a DB needs.
func TestLayerLacks(t *testing.T) {
	db, _ := floortest.Accounts(t)
	err := onerow.InTx(t.Context(), only{db}, func(ctx context.Context, tx *onerow.Tx) error {
		if tx.SQL() != nil {
			t.Error("a *sql.Tx from nowhere")
		}
		if err := tx.QueryRowContext(ctx, balance, 1).Err(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a row: %v", err)
		}
		if _, err := tx.PrepareContext(ctx, balance); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a statement: %v", err)
		}
		ended, cancel := context.WithCancelCause(ctx)
		cancel(errors.New("enough"))
		if err := tx.QueryRowContext(ended, balance, 1).Err(); !errors.Is(err, context.Canceled) {
			t.Errorf("an ended context: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
