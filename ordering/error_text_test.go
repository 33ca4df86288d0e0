package ordering_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/ordering"
)

// A refusal names each package once, however deep it comes from.
func TestErrorsNamePackageOnce(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	type state struct{ V any }
	g := ordering.Guard[state]{Consumer: "c", Hold: true, First: 1, MaxHeld: 1}
	apply := func(stream string, seq int64, fn ordering.Func[state]) error {
		return second(g.Apply(ctx, db, ordering.Message{Stream: stream, Sequence: seq}, fn))
	}
	fine := func(context.Context, *onerow.Tx, ordering.Message, *state) error { return nil }
	fails := func(_ context.Context, _ *onerow.Tx, m ordering.Message, _ *state) error {
		if m.Sequence == 1 {
			return nil
		}
		return errors.New("no")
	}
	lossy := func(_ context.Context, _ *onerow.Tx, _ ordering.Message, s *state) error {
		s.V = "\xff"
		return nil
	}
	if err := apply("s", 2, fine); err != nil {
		t.Fatal(err)
	}
	row := ordering.ByTime{Table: "runner", ID: "id", At: "asked_us"}
	points := ordering.Change{Add: map[string]any{"points": 1}}
	update := func(g ordering.ByTime, at time.Time, c ordering.Change) error {
		return second(g.Update(ctx, db, 9, at, c))
	}
	names := []string{"ordering: ", "onerow: "}
	for what, err := range map[string]error{
		"too many held":            apply("s", 3, fine),
		"no stream":                apply("", 1, fine),
		"a function that fails":    apply("t", 1, func(context.Context, *onerow.Tx, ordering.Message, *state) error { return errors.New("no") }),
		"a state that is lost":     apply("t", 1, lossy),
		"a held one that fails":    apply("s", 1, fails),
		"release what fails":       second(g.Release(ctx, db, "s", fails)),
		"skip without a name":      second(g.Skip(ctx, db, strings.Repeat("x", 300), 1, fine)),
		"a stream without one":     second(g.Read(ctx, db, "nothing")),
		"a consumer without one":   second(ordering.Guard[state]{}.Read(ctx, db, "s")),
		"no row":                   update(row, time.Now(), points),
		"no change":                update(row, time.Now(), ordering.Change{}),
		"no year":                  update(row, time.Time{}, points),
		"a column of a wrong type": ordering.ByTime{Table: "runner", ID: "id", At: "asked_at"}.Verify(ctx, db),
		"a name that is none":      update(ordering.ByTime{Table: "a b\x00"}, time.Now(), points),
		"no cause":                 second(ordering.Park(ctx, db, "q", "m", nil, nil)),
	} {
		for _, name := range names {
			if err == nil || strings.Count(err.Error(), name) > 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
