package ordering_test

import (
	"database/sql"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// TestOldSnapshot: a message that is applied in a transaction whose snapshot is older than
// the last application of its stream is refused, and one that is newer sees its state.
func TestOldSnapshot(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites())
	g := &ordering.Guard[trail]{Consumer: "c"}
	must(g.Apply(t.Context(), db, ordering.Message{Stream: "s", Sequence: 1}, follow))
	tx := must(db.BeginTx(t.Context(), nil))
	dbtest.Scan[int64](t, tx, "SELECT COUNT(*) FROM onerow_stream")
	must(g.Apply(t.Context(), db, ordering.Message{Stream: "s", Sequence: 2}, follow))
	if res := must(g.Apply(t.Context(), tx, ordering.Message{Stream: "s", Sequence: 2}, follow)); res.Outcome != ordering.Stale {
		t.Errorf("the same message, in an old snapshot: %s", res.Outcome)
	}
	if res := must(g.Apply(t.Context(), tx, ordering.Message{Stream: "s", Sequence: 3}, follow)); res.Row.State.Seen != "0.1 0.2 0.3 " {
		t.Errorf("the next message, in an old snapshot, made the state %q", res.Row.State.Seen)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}
