package quota_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// TestSnapshotRefused: see racetest.Refused.
func TestSnapshotRefused(t *testing.T) {
	db, _ := open(t, order{}, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.SnapshotConflicts(t))
	r := order{}.rule(t)
	setLimit(t, db, 7, 1)
	add(t, db, 7, 1, 2)
	recalculate(t, db, r, 7)
	racetest.Refused(t, db, "SELECT COUNT(*) FROM project", func() error {
		dbtest.Exec(t, db, "DELETE FROM project WHERE is_over_quota = 0")
		recalculate(t, db, r, 7)
		return nil
	}, func(ctx context.Context, tx *onerow.Tx) error { _, err := r.Recalculate(ctx, tx, 7); return err })
	wantFlags(t, db, order{}, 7)
}
