package ordering_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// TestSkipTheStartOfAnEpoch: the first message of a stream never comes, and later that of a new epoch.
func TestSkipTheStartOfAnEpoch(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
	give := func(epoch, seq int64) {
		t.Helper()
		must(g.Apply(ctx, db, ordering.Message{Stream: "s", Epoch: epoch, Sequence: seq}, follow))
	}
	give(0, 3)
	give(0, 4)
	give(2, 9)
	for i, step := range []struct {
		last int64
		want bool
	}{{0, true}, {0, false}, {4, true}, {4, false}} {
		if got := must(g.Skip(ctx, db, "s", step.last, follow)); got != step.want {
			t.Fatal(i, got)
		}
	}
	give(2, 10)
	if c := must(g.Read(ctx, db, "s")); c.State.Seen != "0.3 0.4 2.9 2.10 " || c.Held != 0 || c.Epoch != 2 {
		t.Fatalf("%+v", c)
	}
}

// TestParkedBehindPoison: in a caller's transaction, as on a pool, an early message is parked though the
// stream is held.
func TestParkedBehindPoison(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
	fn := func(ctx context.Context, tx *onerow.Tx, m ordering.Message, s *trail) error {
		if m.Sequence == 2 {
			return errPoison
		}
		return follow(ctx, tx, m, s)
	}
	must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: 2}, fn))
	wantError(t, second(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: 1}, fn)), ordering.ErrHeld)
	tx := must(db.BeginTx(ctx, nil))
	res, err := g.Apply(ctx, tx, ordering.Message{Stream: "s", Sequence: 3}, fn)
	if err = errors.Join(err, tx.Commit()); err != nil || res.Outcome != ordering.Held {
		t.Fatal(res, err)
	}
}

// TestHostile: a time that no DATETIME has would become NULL, under which a retry adds again; a reason need
// not be text.
func TestHostile(t *testing.T) {
	db, _ := open(t)
	dbtest.Exec(t, db, "INSERT INTO runner (id, name, points) VALUES (1, 'Ann', 0)")
	for _, at := range []time.Time{{}, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(400_000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		for _, g := range guards {
			wantError(t, second(g.Update(t.Context(), db, 1, at, ordering.Change{Add: map[string]any{"points": 5}})), ordering.ErrInvalidArgument)
		}
	}
	if fresh := must(ordering.Park(t.Context(), db, "q", "m", nil, errors.New("bad byte \xff"))); !fresh {
		t.Fatal("not parked")
	}
	if got := must(ordering.DeadLetters(t.Context(), db, "q", 0, 1)); got[0].Reason != "bad byte \uFFFD" {
		t.Fatalf("%q", got[0].Reason)
	}
}
