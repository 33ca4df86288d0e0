package guard_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/floortest"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/wire"
	"github.com/onerow/onerow/pool"
)

// textOf reads a coin by a query that the session keeps.
func textOf(ctx context.Context, db onerow.DB, id int) (text sql.NullString, err error) {
	err = onerow.QueryRow(wire.KeepPrepared(ctx), db, "SELECT text FROM coin WHERE id = ?", []any{id}, &text)
	return text, err
}

func status(t *testing.T, db *sql.DB, name string) (n int) {
	t.Helper()
	var variable string
	if err := db.QueryRowContext(t.Context(), "SHOW SESSION STATUS LIKE '"+name+"'").Scan(&variable, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestGuardKept: a query that is sent again and again is prepared the first time, which is one more round trip,
// and says the same: after its table has changed, beside transactions, where there is no row.
func TestGuardKept(t *testing.T) {
	db, plain := openCounted(t, "")
	ctx := t.Context()
	dbtest.Exec(t, plain, "INSERT INTO coin VALUES (1, 'one'), (2, '; -- ''')")
	executed := status(t, db, "Com_stmt_execute")
	for i, want := range []int64{2, 1, 1, 1} {
		before := packets.Load()
		if text, err := textOf(ctx, db, 2); err != nil || text.String != "; -- '" {
			t.Errorf("%q, %v", text.String, err)
		}
		if n := packets.Load() - before; n != want {
			t.Errorf("time %d took %d round trips, want %d", i+1, n, want)
		}
	}
	if n := status(t, db, "Com_stmt_execute") - executed; n != 4 {
		t.Errorf("%d were executed", n)
	}
	if _, err := textOf(ctx, db, 3); !errors.Is(err, sql.ErrNoRows) {
		t.Error(err)
	}
	dbtest.Exec(t, plain, "ALTER TABLE coin MODIFY text VARCHAR(100) NULL, ADD COLUMN more INT")
	dbtest.Exec(t, plain, "UPDATE coin SET text = NULL WHERE id = 1")
	if text, err := textOf(ctx, db, 1); err != nil || text.Valid {
		t.Errorf("%+v, %v", text, err)
	}
	executed = status(t, db, "Com_stmt_execute")
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := put(7)(ctx, tx); err != nil {
			return err
		}
		if text, err := textOf(ctx, tx, 7); err != nil || text.String != "" {
			return fmt.Errorf("%+v: %w", text, err)
		}
		return nil
	})
	if n := status(t, db, "Com_stmt_execute") - executed; err != nil || n != 0 {
		t.Errorf("in a transaction %d were executed: %v", n, err)
	}
	dbtest.Exec(t, plain, "RENAME TABLE coin TO away")
	if _, err := textOf(ctx, db, 1); mysqlerr.Number(err) != 1146 {
		t.Error(err)
	}
	dbtest.Exec(t, plain, "RENAME TABLE away TO coin")
	if text, err := textOf(ctx, db, 2); err != nil || text.String != "; -- '" {
		t.Errorf("%q, %v", text.String, err)
	}
}

// TestGuardKeptNowhere: where the server prepares nothing, the query is a text each time.
func TestGuardKeptNowhere(t *testing.T) {
	t.Parallel()
	db, err := pool.Open(floortest.Private(t, "--max-prepared-stmt-count=0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(1)
	for _, text := range []string{"CREATE TABLE coin (id INT PRIMARY KEY, text VARCHAR(50) NOT NULL) ENGINE=InnoDB", "INSERT INTO coin VALUES (1, 'one')"} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if text, err := textOf(t.Context(), db, 1); err != nil || text.String != "one" {
			t.Errorf("%q, %v", text.String, err)
		}
	}
}
