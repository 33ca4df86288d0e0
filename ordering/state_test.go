package ordering_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// loose is a state of which JSON says less than Go does.
type loose struct {
	Any  any
	List []string
	Left string `json:"-"`
}

// TestStateIsWhatIsStored: a function gets the state as it is stored, and so does the caller, whether the message
// before was applied by the same call or by another one.
func TestStateIsWhatIsStored(t *testing.T) {
	db, _ := open(t)
	g := &ordering.Guard[loose]{Consumer: "c", Hold: true}
	var seen []string
	note := func(_ context.Context, _ *onerow.Tx, m ordering.Message, s *loose) error {
		seen = append(seen, fmt.Sprintf("%T %v %q", s.Any, s.List == nil, s.Left))
		s.Any, s.List, s.Left = m.Sequence, []string{}, "left"
		return nil
	}
	for _, seq := range []int64{2, 3, 0, 1} { // 2 and 3 are parked, and applied by one transaction
		res := must(g.Apply(t.Context(), db, ordering.Message{Stream: "s", Sequence: seq}, note))
		if stored := must(g.Read(t.Context(), db, "s")); fmt.Sprintf("%#v", res.Row) != fmt.Sprintf("%#v", stored) {
			t.Errorf("message %d: the result has %#v, the table %#v", seq, res.Row, stored)
		}
	}
	if got, want := fmt.Sprint(seen), `[<nil> true "" float64 false "" float64 false "" float64 false ""]`; got != want {
		t.Errorf("the states were %s, want %s", got, want)
	}
}

type (
	left  struct{ X int }
	right struct{ X int }
	// twice has two fields X, of which encoding/json writes none.
	twice struct {
		left
		right
	}
)

// TestLossyState: a state that would come back as another one is refused, and the message is not applied.
func TestLossyState(t *testing.T) {
	db, _ := open(t)
	for name, v := range map[string]any{
		"a large integer": int64(9007199254740993), "a text": "a\xff", "two fields of one name": twice{left{1}, right{2}},
		"fields beside a time": struct {
			time.Time
			N int
		}{time.Now(), 1},
	} {
		g := &ordering.Guard[any]{Consumer: "c"}
		_, err := g.Apply(t.Context(), db, ordering.Message{Stream: name, Sequence: 1}, func(_ context.Context, _ *onerow.Tx, _ ordering.Message, s *any) error {
			*s = v
			return nil
		})
		wantError(t, err, ordering.ErrState)
		if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_stream WHERE stream = ?", name); n != 0 {
			t.Errorf("%s: the message was applied", name)
		}
	}
}
