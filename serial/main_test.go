package serial_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/serial"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var levels = racetest.Levels()

// open makes a schema with the toolkit's tables and a table of postcards.
func open(t testing.TB, opts ...dbtest.Option) (*sql.DB, string) {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Toolkit(t, db, "onerow_serial")
	dbtest.Exec(t, db, `CREATE TABLE postcard (id VARCHAR(64) PRIMARY KEY, campaign VARCHAR(64) NOT NULL, from_no BIGINT NULL, to_no BIGINT NULL,
		voided_at DATETIME(6) NULL) ENGINE=InnoDB`)
	return db, dsn
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func series(t testing.TB, name string, opts ...serial.Option) *serial.Series {
	t.Helper()
	s, err := serial.New(name, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sell is the business transaction: a postcard row and its numbers.
func sell(ctx context.Context, db onerow.DB, s *serial.Series, id string, amount int64) error {
	return onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		res, err := s.Claim(ctx, tx, id, amount)
		if err != nil || res.Replayed {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO postcard (id, campaign, from_no, to_no) VALUES (?, ?, ?, ?)", id, s.Name(), res.Row.From, res.Row.To)
		return err
	})
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got the error %v, want %v", err, want)
	}
}
