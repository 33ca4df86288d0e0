package ordering_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
	"github.com/onerow/onerow/ordering"
)

// TestClocks: what the verbs write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		db, dsn := open(t, zone)
		list, hold := verbs()
		list = append(list, verb{"hold, below the first", hold, nil, func(ctx context.Context, db *sql.DB) error {
			return second(hold.Apply(ctx, db, sample(0).message(), one))
		}, 0}, verb{"skip, and what is behind is not applied", hold, []int64{1, 3}, func(ctx context.Context, db *sql.DB) error {
			fails := func(context.Context, *onerow.Tx, ordering.Message, *runState) error { return errPoison }
			if _, err := hold.Skip(ctx, db, "user/3000", 1, fails); !errors.Is(err, ordering.ErrHeld) {
				return fmt.Errorf("not held: %w", err)
			}
			return nil
		}, 0})
		var all []crashtest.Workflow
		for _, v := range list {
			w := faulty(dsn, v.g, v.before, v.call)
			w.Name = v.name
			all = append(all, w)
		}
		return db, all
	})
}

// TestForgetInEachZone: what came a minute too late stays, what came a minute before that goes; and how long
// a stream waits is told in each zone.
func TestForgetInEachZone(t *testing.T) {
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db, _ := open(t, zone)
		ctx := t.Context()
		g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1, Keep: true}
		for _, seq := range []int64{1, 2, 4} {
			must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: seq}, follow))
		}
		dbtest.Exec(t, db, "UPDATE onerow_stream_message SET received_at = received_at - INTERVAL 24 HOUR + INTERVAL IF(seq = 1, -1, 1) MINUTE")
		if n := must(ordering.ToForget(ctx, db, 24*time.Hour, 10)); n != 1 {
			t.Errorf("%d are old enough to be forgotten", n)
		}
		if n := must(ordering.Forget(ctx, db, 24*time.Hour, 10)); n != 1 {
			t.Errorf("%d were forgotten", n)
		}
		if n := dbtest.Scan[int](t, db, "SELECT SUM(seq) FROM onerow_stream_message"); n != 2+4 {
			t.Errorf("the wrong one was forgotten: %d", n)
		}
		dbtest.Exec(t, db, "UPDATE onerow_stream SET updated_at = updated_at - INTERVAL 1 HOUR")
		waiting := must(g.Waiting(ctx, db, 5))
		if len(waiting) != 1 || waiting[0].Idle < time.Hour || waiting[0].Idle > time.Hour+10*time.Minute {
			t.Errorf("waiting: %+v", waiting)
		}
	})
}
