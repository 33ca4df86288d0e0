package app

import (
	"context"
	"database/sql"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var levels = racetest.Levels()

// with runs the example on a database of its own beside a test.
func with(t *testing.T, db *sql.DB, c Config, test func(ctx context.Context, w World)) {
	t.Helper()
	c.Addr, c.Log = "127.0.0.1:0", slog.New(slog.DiscardHandler)
	if c.Out == nil {
		c.Out = io.Discard
	}
	if c.ChargeTime == 0 {
		c.ChargeTime = 30 * time.Second
	}
	err := With(t.Context(), db, c, func(ctx context.Context, w World) error {
		test(ctx, w)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// count is the one number that a query answers.
func count(t *testing.T, db *sql.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
