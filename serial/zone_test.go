package serial_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
)

// TestClocks: what the verbs write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	s := series(t, "s")
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		db, dsn := open(t, zone)
		return db, []crashtest.Workflow{faulty(dsn, nil, func(ctx context.Context, db *sql.DB) error {
			return errors.Join(second(s.Claim(ctx, db, "k", 3)), second(s.Void(ctx, db, "k", "why")))
		})}
	})
}
