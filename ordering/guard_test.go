package ordering_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// log is a state that shows in which order messages were applied.
type trail struct{ Seen string }

func follow(_ context.Context, _ *onerow.Tx, m ordering.Message, s *trail) error {
	s.Seen += fmt.Sprintf("%d.%d ", m.Epoch, m.Sequence)
	return nil
}

type arrival struct {
	epoch, seq int64
	want       ordering.Outcome
	released   int
}

func TestOutcomes(t *testing.T) {
	for name, c := range map[string]struct {
		guard    ordering.Guard[trail]
		arrivals []arrival
		trail    string
		held     int64
	}{
		"reject": {ordering.Guard[trail]{}, []arrival{
			{0, 3, "applied", 0}, {0, 3, "stale", 0}, {0, 1, "stale", 0}, {0, 9, "applied", 0},
			{1, 1, "applied", 0}, {0, 10, "stale", 0}, {1, 1, "stale", 0}, {1, 2, "applied", 0}, {-1, 50, "stale", 0},
		}, "0.3 0.9 1.1 1.2 ", 0},
		"reject and keep": {ordering.Guard[trail]{Keep: true}, []arrival{
			{0, 3, "applied", 0}, {0, 3, "duplicate", 0}, {0, 1, "late", 0}, {0, 1, "late", 0}, {1, 0, "applied", 0}, {0, 3, "duplicate", 0}, {0, 4, "late", 0},
		}, "0.3 1.0 ", 0},
		"hold": {ordering.Guard[trail]{Hold: true, First: 1}, []arrival{
			{0, 3, "held", 0}, {0, 2, "held", 0}, {0, 3, "held", 0}, {0, 1, "applied", 2}, {0, 2, "duplicate", 0}, {0, 0, "stale", 0}, {0, 4, "applied", 0},
			{0, 6, "held", 0}, {0, 9, "held", 0}, {0, 5, "applied", 1}, {2, 2, "held", 0}, {1, 2, "held", 0},
			{2, 1, "applied", 1}, {1, 1, "stale", 0}, {0, 7, "stale", 0}, {2, 4, "held", 0},
		}, "0.1 0.2 0.3 0.4 0.5 0.6 2.1 2.2 ", 1},
		"hold and keep": {ordering.Guard[trail]{Hold: true, Keep: true}, []arrival{
			{0, 2, "held", 0}, {0, 1, "held", 0}, {0, 0, "applied", 2}, {0, 2, "duplicate", 0}, {0, 1, "duplicate", 0}, {0, 3, "applied", 0},
		}, "0.0 0.1 0.2 0.3 ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := open(t, dbtest.Param("clientFoundRows", "true"))
			g := c.guard
			g.Consumer = "c"
			for _, way := range []string{"pool", "joined"} {
				for i, a := range c.arrivals {
					m := ordering.Message{Stream: way, Epoch: a.epoch, Sequence: a.seq, Payload: []byte("x")}
					var res ordering.Result[trail]
					var err error
					if way == "pool" {
						res, err = g.Apply(t.Context(), db, m, follow)
					} else {
						tx := must(db.BeginTx(t.Context(), nil))
						res, err = g.Apply(t.Context(), tx, m, follow)
						err = errors.Join(err, tx.Commit())
					}
					if err != nil || res.Outcome != a.want || res.Released != a.released {
						t.Fatalf("%s %d: %+v: %+v, %v", way, i, a, res, err)
					}
				}
				got := must(g.Read(t.Context(), db, way))
				if got.State.Seen != c.trail || got.Held != c.held {
					t.Errorf("%s: %+v, want %q", way, got, c.trail)
				}
			}
			parked := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM onerow_stream_message WHERE applied = 0")
			if counted := dbtest.Scan[int64](t, db, "SELECT COALESCE(SUM(held), 0) FROM onerow_stream"); parked != counted {
				t.Errorf("%d parked, %d counted", parked, counted)
			}
			_, err := g.Read(t.Context(), db, "nobody")
			wantError(t, err, onerow.ErrNotFound)
		})
	}
}

func TestArguments(t *testing.T) {
	db, _ := open(t)
	g := &ordering.Guard[trail]{Consumer: "c", Hold: true}
	for _, err := range []error{
		second(ordering.Guard[trail]{}.Apply(t.Context(), db, ordering.Message{Stream: "s"}, follow)),
		second(ordering.Guard[trail]{}.Release(t.Context(), db, "s", follow)),
		second(ordering.Guard[trail]{Consumer: "c", First: math.MinInt64}.Apply(t.Context(), db, ordering.Message{Stream: "s"}, follow)),
		second(g.Apply(t.Context(), db, ordering.Message{}, follow)),
		second(g.Apply(t.Context(), db, ordering.Message{Stream: strings.Repeat("s", 256)}, follow)),
		second(g.Apply(t.Context(), db, ordering.Message{Stream: "s", Sequence: math.MaxInt64}, follow)),
		second(g.Apply(t.Context(), db, ordering.Message{Stream: "s", Payload: make([]byte, 1<<24)}, follow)),
		second(ordering.ByTime{Table: "runner", ID: "id", At: "asked_us"}.Update(t.Context(), db, 1, now, ordering.Change{})),
		second(ordering.ByTime{Table: "runner"}.Update(t.Context(), db, 1, now, ordering.Change{Set: map[string]any{"x": 1}})),
		second(ordering.Park(t.Context(), db, "", "", nil, nil)),
	} {
		wantError(t, err, ordering.ErrInvalidArgument)
	}
	dbtest.Exec(t, db, "INSERT INTO onerow_stream VALUES ('c', 'broken', 0, 0, 0, '[]', UTC_TIMESTAMP(6))")
	wantError(t, second(g.Read(t.Context(), db, "broken")), ordering.ErrState)
	bad := &ordering.Guard[chan int]{Consumer: "c"}
	wantError(t, second(bad.Apply(t.Context(), db, ordering.Message{Stream: "s"},
		func(context.Context, *onerow.Tx, ordering.Message, *chan int) error { return nil })), ordering.ErrState)
}

var errPoison = errors.New("cannot be applied")

// TestPoison: a parked message that fails holds the stream and undoes nothing before it; the reason removed,
// Release goes on.
func TestPoison(t *testing.T) {
	for _, keep := range []bool{false, true} {
		db, _ := open(t)
		ctx := t.Context()
		g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1, MaxHeld: 5, Keep: keep}
		poison := true
		fn := func(ctx context.Context, tx *onerow.Tx, m ordering.Message, s *trail) error {
			if m.Sequence == 4 && poison {
				return errPoison
			}
			return follow(ctx, tx, m, s)
		}
		message := func(seq int64) ordering.Message { return ordering.Message{Stream: "s", Sequence: seq} }
		for seq := int64(6); seq >= 2; seq-- {
			must(g.Apply(ctx, db, message(seq), fn))
		}
		_, err := g.Apply(ctx, db, message(7), fn)
		detail := &ordering.StreamError{}
		if wantError(t, err, ordering.ErrTooManyHeld); !strings.Contains(err.Error(), `5 of stream "s", which waits for 1`) ||
			!errors.As(err, &detail) || detail.Stream != "s" || detail.Sequence != 1 {
			t.Fatal(err)
		}
		waiting := must(g.Waiting(ctx, db, 10))
		if len(waiting) != 1 || waiting[0].Held != 5 || waiting[0].Idle < 0 || waiting[0].Idle > 60e9 {
			t.Fatalf("%+v", waiting)
		}
		res, err := g.Apply(ctx, db, message(1), fn)
		if wantError(t, err, ordering.ErrHeld); !strings.Contains(err.Error(), "message 4") || !errors.Is(err, errPoison) {
			t.Fatal(err)
		}
		if res.Outcome != ordering.Applied || res.Released != 2 || res.Row.Last != 3 || res.Row.Held != 3 {
			t.Fatalf("%+v", res)
		}
		// Its redelivery, though it is parked, is the next one.
		wantError(t, second(g.Apply(ctx, db, message(4), fn)), errPoison)
		poison = false
		if keep {
			if n := must(g.Release(ctx, db, "s", fn)); n != 3 {
				t.Fatal(n)
			}
		} else if res := must(g.Apply(ctx, db, message(4), fn)); res.Released != 2 || res.Row.Held != 0 {
			t.Fatalf("%+v", res)
		}
		if c := must(g.Read(ctx, db, "s")); c.State.Seen != "0.1 0.2 0.3 0.4 0.5 0.6 " || c.Held != 0 {
			t.Fatalf("%+v", c)
		}
	}
}

func TestSkipAndForget(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1, Keep: true}
	for _, seq := range []int64{1, 4, 5, 8} {
		must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: seq}, follow))
	}
	for i, want := range []bool{true, false} {
		if got := must(g.Skip(ctx, db, "s", 1, follow)); got != want {
			t.Fatal(i, got)
		}
	}
	if got := must(g.Skip(ctx, db, "s", 5, follow)); !got {
		t.Fatal("not skipped")
	}
	if got := must(g.Skip(ctx, db, "s", 8, follow)); got {
		t.Fatal("skipped nothing")
	}
	if c := must(g.Read(ctx, db, "s")); c.State.Seen != "0.1 0.4 0.5 0.8 " || c.Held != 0 || c.Last != 8 {
		t.Fatalf("%+v", c)
	}
	if res := must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: 3}, follow)); res.Outcome != ordering.Late {
		t.Fatal(res)
	}
	must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: 10}, follow))
	if n := must(ordering.Forget(ctx, db, -1e9, 3)); n != 3 {
		t.Fatal(n)
	}
	if n := must(ordering.Forget(ctx, db, -1e9, 3)); n != 1 {
		t.Fatal(n)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_stream_message"); n != 1 {
		t.Fatalf("%d messages, the parked one stays", n)
	}
}

// TestLongGap: more than a batch is released, all in order.
func TestLongGap(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
	must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: 3}, follow))
	dbtest.Exec(t, db, `INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at)
		WITH RECURSIVE n AS (SELECT 4 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 900)
		SELECT 'c', 's', 0, i, 0, UTC_TIMESTAMP(6) FROM n`)
	dbtest.Exec(t, db, "UPDATE onerow_stream SET held = 898")
	must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: 2}, follow))
	res := must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: 1}, follow))
	if res.Released != 899 || res.Row.Last != 900 || res.Row.Held != 0 {
		t.Fatalf("released %d, last %d, held %d", res.Released, res.Row.Last, res.Row.Held)
	}
	if got := strings.Fields(res.Row.State.Seen); len(got) != 900 || got[450] != "0.451" || got[899] != "0.900" {
		t.Fatal(len(got))
	}
}

// TestRace: 8 consumers deliver the same messages, shuffled, at once: each message is applied once and in
// order.
func TestRace(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, _ := open(t, dbtest.Isolation(level))
			g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
			var wg sync.WaitGroup
			errs := make(chan error, 8)
			for i := range int64(8) {
				wg.Go(func() {
					for n := range int64(20) {
						m := ordering.Message{Stream: "s", Sequence: 1 + (n*7+i*3)%20}
						if _, err := g.Apply(t.Context(), db, m, follow); err != nil {
							errs <- err
							return
						}
					}
				})
			}
			wg.Wait()
			close(errs)
			for err := range errs {
				t.Error(err)
			}
			want := ""
			for n := 1; n <= 20; n++ {
				want += fmt.Sprintf("0.%d ", n)
			}
			if c := must(g.Read(t.Context(), db, "s")); c.State.Seen != want || c.Held != 0 {
				t.Errorf("%+v", c)
			}
		})
	}
}
