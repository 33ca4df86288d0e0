package ordering_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/ordering"
)

// TestSnapshotRefused: see racetest.Refused.
func TestSnapshotRefused(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.SnapshotConflicts(t))
	g := &ordering.Guard[trail]{Consumer: "c"}
	apply := func(ctx context.Context, db onerow.DB, sequence int64) error {
		_, err := g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: sequence}, follow)
		return err
	}
	if err := apply(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
	racetest.Refused(t, db, "SELECT COUNT(*) FROM onerow_stream", func() error { return apply(t.Context(), db, 2) },
		func(ctx context.Context, tx *onerow.Tx) error { return apply(ctx, tx, 3) })

	dbtest.Exec(t, db, "INSERT INTO runner (id, name, points) VALUES (1, 'Ann', 0)")
	const faster = "UPDATE runner SET points = points + 10, version = version + 1 WHERE id = 1"
	disturb := func() error { _, err := db.ExecContext(t.Context(), faster); return err }
	add := func(_ context.Context, r runner) (runner, error) { r.Points++; return r, nil }
	racetest.Refused(t, db, "SELECT points FROM runner", disturb,
		func(ctx context.Context, tx *onerow.Tx) error {
			_, err := updateRunner(ctx, tx, add)
			return err
		})
	if n := dbtest.Scan[int](t, db, "SELECT points FROM runner"); dbtest.SnapshotIsolation(t) && n != 11 {
		t.Errorf("%d points", n)
	}
}
