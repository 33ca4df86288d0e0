package ordering_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// TestStreamsApart: what is parked under the same number in another stream, or in a later epoch, stays when a
// message is taken out of the parked ones: by its release, or because it comes again.
func TestStreamsApart(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
	broken := true
	fn := func(ctx context.Context, tx *onerow.Tx, m ordering.Message, s *trail) error {
		if m.Sequence == 3 && broken {
			return errPoison
		}
		return follow(ctx, tx, m, s)
	}
	for _, stream := range []string{"a", "b"} {
		for _, m := range [][2]int64{{0, 1}, {0, 3}, {1, 3}} {
			must(g.Apply(ctx, db, ordering.Message{Stream: stream, Epoch: m[0], Sequence: m[1]}, fn))
		}
	}
	wantError(t, second(g.Apply(ctx, db, ordering.Message{Stream: "a", Sequence: 2}, fn)), ordering.ErrHeld)
	broken = false
	must(g.Apply(ctx, db, ordering.Message{Stream: "a", Sequence: 3}, fn)) // comes again, while it is parked
	must(g.Apply(ctx, db, ordering.Message{Stream: "b", Sequence: 2}, fn)) // releases it
	for _, stream := range []string{"a", "b"} {
		if c := must(g.Read(ctx, db, stream)); c.Held != 1 || c.Last != 3 || c.State.Seen != "0.1 0.2 0.3 " {
			t.Errorf("%s: %+v", stream, c)
		}
		for seq := int64(1); seq <= 2; seq++ {
			must(g.Apply(ctx, db, ordering.Message{Stream: stream, Epoch: 1, Sequence: seq}, fn))
		}
		if c := must(g.Read(ctx, db, stream)); c.Held != 0 || c.State.Seen != "0.1 0.2 0.3 1.1 1.2 1.3 " {
			t.Errorf("%s, the next epoch: %+v", stream, c)
		}
	}
}

// TestReleaseTakesItsOwn: what a release takes out of the parked messages is of its stream and epoch only.
func TestReleaseTakesItsOwn(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
	for _, m := range []ordering.Message{
		{Stream: "a", Sequence: 2}, {Stream: "b", Sequence: 2}, {Stream: "a", Epoch: 1, Sequence: 2}, {Stream: "a", Sequence: 1},
	} {
		must(g.Apply(ctx, db, m, follow))
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_stream_message"); n != 2 {
		t.Errorf("%d messages are parked, and two should be: b's and that of epoch 1", n)
	}
}

// TestWaitingStreams: streams that wait for nothing are not listed, those with the most parked come first.
func TestWaitingStreams(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
	for stream, seqs := range map[string][]int64{"none": {1}, "one": {1, 3}, "two": {1, 3, 4}} {
		for _, seq := range seqs {
			must(g.Apply(ctx, db, ordering.Message{Stream: stream, Sequence: seq}, follow))
		}
	}
	if list := must(g.Waiting(ctx, db, 5)); len(list) != 2 || list[0].Stream != "two" || list[1].Stream != "one" {
		t.Errorf("%+v", list)
	}
}

// TestSkipBehindASnapshot: messages that were parked since the snapshot of a caller's transaction are seen.
func TestSkipBehindASnapshot(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites())
	ctx := t.Context()
	g := &ordering.Guard[trail]{Consumer: "c", Hold: true, First: 1}
	must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: 1}, follow))
	tx := must(db.BeginTx(ctx, nil))
	dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM onerow_stream_message")
	must(g.Apply(ctx, db, ordering.Message{Stream: "s", Sequence: 3}, follow))
	if !must(g.Skip(ctx, tx, "s", 1, follow)) {
		t.Error("nothing was skipped")
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if c := must(g.Read(ctx, db, "s")); c.Last != 3 || c.State.Seen != "0.1 0.3 " {
		t.Errorf("%+v", c)
	}
}
