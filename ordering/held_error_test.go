package ordering_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/ordering"
)

// TestHeldByAnErrorOfElsewhere: what the function answers for a parked message holds the stream there,
// whatever kind of error it is: a refusal by another database, a call that timed out. The messages before it
// stay applied.
func TestHeldByAnErrorOfElsewhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  error
	}{
		{"a call that was not answered", &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}},
		{"a call that timed out", context.DeadlineExceeded},
		{"another database that refuses", &mysql.MySQLError{Number: 1213, Message: "Deadlock found"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db, _ := open(t)
			ctx := t.Context()
			g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
			cause := tt.err
			fn := func(ctx context.Context, tx *onerow.Tx, m ordering.Message, s *trail) error {
				if m.Sequence == 4 && cause != nil {
					return cause
				}
				return follow(ctx, tx, m, s)
			}
			for _, seq := range []int64{2, 3, 4, 5} {
				must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: seq}, fn))
			}
			res, err := g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: 1}, fn)
			if wantError(t, err, ordering.ErrHeld); !strings.Contains(err.Error(), "message 4") || !errors.Is(err, cause) || res.Outcome != ordering.Applied || res.Released != 2 {
				t.Fatalf("%+v, %v", res, err)
			}
			err = second(g.Release(ctx, db, "s", fn))
			detail := &ordering.StreamError{}
			if wantError(t, err, ordering.ErrHeld); !errors.As(err, &detail) || detail.Stream != "s" || detail.Sequence != 4 {
				t.Fatalf("the detail of %v is %+v", err, detail)
			}
			if c := must(g.Read(ctx, db, "s")); c.State.Seen != "0.1 0.2 0.3 " || c.Last != 3 || c.Held != 2 {
				t.Fatalf("%+v", c)
			}
			cause = nil
			if n := must(g.Release(ctx, db, "s", fn)); n != 2 {
				t.Fatal(n)
			}
		})
	}
}
