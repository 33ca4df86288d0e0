package ordering_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/ordering"
)

// TestApart: a message keeps no other stream waiting.
func TestApart(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelReadCommitted))
	hold := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
	keep := &ordering.Guard[trail]{Consumer: "k", Hold: true, First: 1, Keep: true}
	stream := func(n int) string { return fmt.Sprint("s", n) }
	give := func(g *ordering.Guard[trail], epoch int64, seqs ...int64) func(context.Context, onerow.DB, int) error {
		return func(ctx context.Context, db onerow.DB, n int) (err error) {
			for _, seq := range seqs {
				err = errors.Join(err, second(g.Apply(ctx, db, ordering.Message{Stream: stream(n), Epoch: epoch, Sequence: seq}, follow)))
			}
			return err
		}
	}
	given := func(g *ordering.Guard[trail], seqs ...int64) func(context.Context, *sql.DB, int) error {
		return func(ctx context.Context, db *sql.DB, n int) error { return give(g, 0, seqs...)(ctx, db, n) }
	}
	racetest.Apart(t, db, []string{"onerow_stream", "onerow_stream_message", "onerow_dead_letter"}, []racetest.Verb{
		{Name: "the first", Call: give(hold, 0, 1)},
		{Name: "one that is early", Setup: given(hold, 1), Call: give(hold, 0, 3)},
		{Name: "a gap closes", Setup: given(hold, 1, 3, 4), Call: give(hold, 0, 2)},
		{Name: "a gap closes, kept", Setup: given(keep, 1, 3, 4), Call: give(keep, 0, 2)},
		{Name: "one that is late", Setup: given(keep, 1, 2), Call: give(keep, 0, 1)},
		{Name: "a new epoch", Setup: given(hold, 1, 3), Call: give(hold, 1, 1)},
		{Name: "skip", Setup: given(hold, 1, 3), Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(hold.Skip(ctx, db, stream(n), 1, follow))
		}},
		{Name: "park", Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(ordering.Park(ctx, db, "q", stream(n), nil, errPoison))
		}},
	})
}
