package ordering_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// kept is a schema with applied messages of ten streams, a second apart, and one parked for each ten.
func kept(t *testing.T, messages int, level sql.IsolationLevel) string {
	db, dsn := open(t, dbtest.Isolation(level))
	dbtest.Exec(t, db, "INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at) "+cost.Numbers(messages)+
		"SELECT 'c', CONCAT('device/', i % 10), 1, i, i % 11 > 0, UTC_TIMESTAMP(6) - INTERVAL i SECOND FROM numbers")
	dbtest.Exec(t, db, "ANALYZE TABLE onerow_stream_message")
	return dsn
}

// TestForgetCost: Forget reads and locks what it deletes, however many messages there are, and however many
// of them are old.
func TestForgetCost(t *testing.T) {
	for _, level := range levels {
		few, many := kept(t, cost.Few, level), kept(t, cost.Many(t), level)
		for _, age := range []time.Duration{0, 500 * time.Second} {
			for _, s := range cost.Flat(t, few, many, func(ctx context.Context, db *sql.DB) error {
				n, err := ordering.Forget(ctx, db, age, 20)
				if err == nil && n != 20 {
					err = fmt.Errorf("%d forgotten", n)
				}
				return err
			}) {
				if t.Logf("%s: %s", level, s); s.Read > 100 || s.Locked > 100 {
					t.Errorf("%s, older than %v: %s, for 20 messages", level, age, s)
				}
			}
		}
	}
}

// TestForgetAll: Forget is for all consumers, and counts and limits them together.
func TestForgetAll(t *testing.T) {
	db := dbtest.OpenDSN(t, kept(t, cost.Few, sql.LevelReadCommitted))
	dbtest.Exec(t, db, "UPDATE onerow_stream_message SET consumer = CONCAT('c', seq % 3)")
	old := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM onerow_stream_message WHERE applied = 1 AND seq > 700")
	if n := must(ordering.ToForget(t.Context(), db, 700*time.Second, 1000)); n < old {
		t.Errorf("%d to forget, want %d", n, old)
	}
	if n := must(ordering.ToForget(t.Context(), db, 700*time.Second, 101)); n != 101 {
		t.Errorf("%d to forget, want the limit", n)
	}
	if n := must(ordering.Forget(t.Context(), db, 700*time.Second, 150)); n != 150 {
		t.Errorf("%d forgotten, want the limit", n)
	}
	must(ordering.Forget(t.Context(), db, 700*time.Second, 1000))
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_stream_message WHERE seq > 700 AND applied = 1 OR seq < 600 AND applied = 1"); n != dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_stream_message WHERE seq < 600 AND applied = 1") {
		t.Errorf("%d old messages are left", n)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_stream_message WHERE applied = 0"); n != 90 {
		t.Errorf("%d parked messages are left", n)
	}
}

// TestParkedCost: what a stream has parked is found, applied and dropped without reading or locking what
// others have parked, or what is kept of its own.
func TestParkedCost(t *testing.T) {
	guard := &ordering.Guard[struct{}]{Consumer: "c", Hold: true, Keep: true, First: 1}
	nothing := func(context.Context, *onerow.Tx, ordering.Message, *struct{}) error { return nil }
	send := func(epoch, seq int64) func(ctx context.Context, db *sql.DB) error {
		return func(ctx context.Context, db *sql.DB) error {
			_, err := guard.Apply(ctx, db, ordering.Message{Stream: "ours", Epoch: epoch, Sequence: seq}, nothing)
			return err
		}
	}
	for name, call := range map[string]func(ctx context.Context, db *sql.DB) error{
		"the gap closes": send(1, 501),
		"a new epoch":    send(2, 1),
		"skip": func(ctx context.Context, db *sql.DB) error {
			skipped, err := guard.Skip(ctx, db, "ours", 500, nothing)
			if err == nil && !skipped {
				err = errors.New("nothing was skipped")
			}
			return err
		},
	} {
		for _, level := range levels {
			parked := func(others int) string {
				db, dsn := open(t, dbtest.Isolation(level))
				dbtest.Exec(t, db, "INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at) "+cost.Numbers(others)+
					"SELECT 'c', CONCAT('theirs/', i % 10), 1, i, 0, UTC_TIMESTAMP(6) FROM numbers")
				dbtest.Exec(t, db, "INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at) "+cost.Numbers(others)+
					"SELECT 'c', 'ours', 0, i, 1, UTC_TIMESTAMP(6) FROM numbers")
				dbtest.Exec(t, db, "INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at) "+cost.Numbers(1000)+
					"SELECT 'c', 'ours', 1, i, i <= 500, UTC_TIMESTAMP(6) FROM numbers WHERE i <= 500 OR i BETWEEN 502 AND 510")
				dbtest.Exec(t, db, "INSERT INTO onerow_stream (consumer, stream, epoch, last_seq, held, state, updated_at) VALUES ('c', 'ours', 1, 500, 9, '{}', UTC_TIMESTAMP(6))")
				dbtest.Exec(t, db, "ANALYZE TABLE onerow_stream_message, onerow_stream")
				return dsn
			}
			for _, s := range cost.Flat(t, parked(cost.Few), parked(cost.Many(t)), call) {
				if t.Logf("%s, %s: %s", name, level, s); s.Read > 50 || s.Locked > 50 {
					t.Errorf("%s, %s: %s, for nine parked messages", name, level, s)
				}
			}
		}
	}
}

// filled is a schema with a stream of as many applied messages, as many streams of another consumer and of
// this one, of which a tenth has parked messages, and as many dead letters of one queue and of another.
func filled(t *testing.T, rows int, level sql.IsolationLevel) string {
	db, dsn := open(t, dbtest.Isolation(level))
	dbtest.Exec(t, db, "INSERT INTO onerow_stream (consumer, stream, epoch, last_seq, state, updated_at) VALUES ('c', 'ours', 1, ?, '{}', UTC_TIMESTAMP(6))", rows)
	dbtest.Exec(t, db, "INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at) "+cost.Numbers(rows)+
		"SELECT 'c', 'ours', 1, i, 1, UTC_TIMESTAMP(6) - INTERVAL IF(i <= 20, 2, 0) DAY FROM numbers")
	for _, consumer := range []string{"c", "d"} {
		dbtest.Exec(t, db, "INSERT INTO onerow_stream (consumer, stream, epoch, last_seq, held, state, updated_at) "+cost.Numbers(rows)+
			"SELECT ?, CONCAT('s', i), 1, 1, IF(i % 10 = 0, i, 0), '{}', UTC_TIMESTAMP(6) FROM numbers", consumer)
	}
	for _, queue := range []string{"q1", "q2"} {
		dbtest.Exec(t, db, "INSERT INTO onerow_dead_letter (queue, message_id, payload, reason, parked_at) "+cost.Numbers(rows)+"SELECT ?, i, '', 'no', UTC_TIMESTAMP(6) FROM numbers", queue)
	}
	dbtest.Exec(t, db, "INSERT INTO runner (id, name, points) "+cost.Numbers(rows)+"SELECT i, 'ann', 0 FROM numbers")
	dbtest.Exec(t, db, "ANALYZE TABLE onerow_stream, onerow_stream_message, onerow_dead_letter, runner")
	return dsn
}

// TestCosts: what a call reads and locks depends neither on its stream's messages nor on other streams and
// queues.
func TestCosts(t *testing.T) {
	guard := &ordering.Guard[struct{}]{Consumer: "c", Hold: true, Keep: true, First: 1}
	lossy := &ordering.Guard[struct{}]{Consumer: "e", Hold: true, First: 1}
	nothing := func(context.Context, *onerow.Tx, ordering.Message, *struct{}) error { return nil }
	const at = 1_000_000
	points := ordering.ByTime{Table: "runner", ID: "id", At: "asked_us"}
	for _, level := range levels {
		c := cost.Compare(t, filled(t, cost.Few, level), filled(t, cost.Many(t), level), 60)
		apply := func(epoch, ahead int64, want ordering.Outcome) func(ctx context.Context, db *sql.DB) error {
			return func(ctx context.Context, db *sql.DB) error {
				now, err := guard.Read(ctx, db, "ours")
				if err != nil {
					return err
				}
				seq := now.Last + ahead
				if epoch > now.Epoch {
					seq = ahead
				}
				res, err := guard.Apply(ctx, db, ordering.Message{Stream: "ours", Epoch: epoch, Sequence: seq}, nothing)
				if err == nil && res.Outcome != want {
					err = fmt.Errorf("the outcome is %s, want %s", res.Outcome, want)
				}
				return err
			}
		}
		c.Call("next", apply(1, 1, ordering.Applied))
		c.Call("again", apply(1, 0, ordering.Duplicate))
		c.Call("an earlier epoch", apply(0, 0, ordering.Late))
		c.Call("too early", apply(1, 2, ordering.Held))
		c.Call("the gap closes", apply(1, 1, ordering.Applied))
		c.Call("too early again", apply(1, 3, ordering.Held))
		c.Call("skip", func(ctx context.Context, db *sql.DB) error {
			now, err := guard.Read(ctx, db, "ours")
			return errors.Join(err, second(guard.Skip(ctx, db, "ours", now.Last, nothing)), second(guard.Release(ctx, db, "ours", nothing)))
		})
		c.Call("a new epoch", apply(2, 1, ordering.Applied))
		c.Call("a new stream", func(ctx context.Context, db *sql.DB) error {
			return second(guard.Apply(ctx, db, ordering.Message{Stream: "new", Epoch: 1, Sequence: 1}, nothing))
		})
		c.Call("nothing is kept", func(ctx context.Context, db *sql.DB) error { // a gap that closes, and one that a new epoch ends
			for _, m := range []ordering.Message{{Epoch: 1, Sequence: 2}, {Epoch: 1, Sequence: 1}, {Epoch: 1, Sequence: 4}, {Epoch: 2, Sequence: 1}} {
				m.Stream = "ours"
				if _, err := lossy.Apply(ctx, db, m, nothing); err != nil {
					return err
				}
			}
			return nil
		})
		c.Call("waiting", func(ctx context.Context, db *sql.DB) error { return second(guard.Waiting(ctx, db, 20)) })
		c.Call("forget", func(ctx context.Context, db *sql.DB) error {
			return errors.Join(second(ordering.ToForget(ctx, db, time.Hour, 20)), second(ordering.Forget(ctx, db, time.Hour, 20)))
		})
		c.Call("park", func(ctx context.Context, db *sql.DB) error {
			return second(ordering.Park(ctx, db, "q1", "new", nil, errors.New("no")))
		})
		c.Call("dead letters", func(ctx context.Context, db *sql.DB) error {
			return second(ordering.DeadLetters(ctx, db, "q1", 100, 20))
		})
		c.Call("dead letters behind those of another queue", func(ctx context.Context, db *sql.DB) error {
			return second(ordering.DeadLetters(ctx, db, "q2", 0, 20))
		})
		c.Call("settle", func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return second(ordering.Settle(ctx, tx, 7)) })
		})
		update := func(ctx context.Context, db *sql.DB) error {
			return second(points.Update(ctx, db, 7, time.UnixMicro(at), ordering.Change{Add: map[string]any{"points": 1}}))
		}
		c.Call("by time", update)
		c.Call("by time again", update)
		c.Call("verify", func(ctx context.Context, db *sql.DB) error { return points.Verify(ctx, db) })
		c.Source(".", nil)
	}
}
