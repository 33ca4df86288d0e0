package flow_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// TestSnapshotRefused: see racetest.Refused.
func TestSnapshotRefused(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.SnapshotConflicts(t))
	a := run("", "a")
	must(flow.Claim(t.Context(), db, a))
	racetest.Refused(t, db, "SELECT COUNT(*) FROM onerow_flow_request", func() error { return second(flow.Finish(t.Context(), db, a)) },
		func(ctx context.Context, tx *onerow.Tx) error { return second(flow.Claim(ctx, tx, a)) })
}
