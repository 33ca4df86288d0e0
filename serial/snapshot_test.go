package serial_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/serial/gaps"
)

// TestSnapshotRefused: see racetest.Refused. No number is burnt by it.
func TestSnapshotRefused(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.SnapshotConflicts(t))
	s := series(t, "s")
	must(s.Claim(t.Context(), db, "a", 5))
	racetest.Refused(t, db, "SELECT COUNT(*) FROM onerow_serial_claim", func() error { _, err := s.Claim(t.Context(), db, "b", 3); return err },
		func(ctx context.Context, tx *onerow.Tx) error { _, err := s.Claim(ctx, tx, "b", 3); return err })
	racetest.Refused(t, db, "SELECT COUNT(*) FROM onerow_serial_claim", func() error { _, err := s.Claim(t.Context(), db, "c", 2); return err },
		func(ctx context.Context, tx *onerow.Tx) error { _, err := s.Claim(ctx, tx, "d", 1); return err })
	if found := must(gaps.Find(t.Context(), db, s)); found != nil {
		t.Error(found)
	}
}
