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

// filled is a schema with a stream of as many applied messages, as many streams of another consumer and of this one, of which a tenth has
// parked messages, and as many dead letters of one queue and of another.
func filled(t *testing.T, rows int, level sql.IsolationLevel) string {
	db, dsn := open(t, dbtest.Isolation(level))
	exec(t, db, "INSERT INTO onerow_stream (consumer, stream, epoch, last_seq, state, updated_at) VALUES ('c', 'ours', 1, ?, '{}', UTC_TIMESTAMP(6))", rows)
	exec(t, db, "INSERT INTO onerow_stream_message (consumer, stream, epoch, seq, applied, received_at) "+cost.Numbers(rows)+
		"SELECT 'c', 'ours', 1, i, 1, UTC_TIMESTAMP(6) - INTERVAL IF(i <= 20, 2, 0) DAY FROM numbers")
	for _, consumer := range []string{"c", "d"} {
		exec(t, db, "INSERT INTO onerow_stream (consumer, stream, epoch, last_seq, held, state, updated_at) "+cost.Numbers(rows)+
			"SELECT ?, CONCAT('s', i), 1, 1, IF(i % 10 = 0, i, 0), '{}', UTC_TIMESTAMP(6) FROM numbers", consumer)
	}
	for _, queue := range []string{"q1", "q2"} {
		exec(t, db, "INSERT INTO onerow_dead_letter (queue, message_id, payload, reason, parked_at) "+cost.Numbers(rows)+"SELECT ?, i, '', 'no', UTC_TIMESTAMP(6) FROM numbers", queue)
	}
	exec(t, db, "INSERT INTO runner (id, name, points) "+cost.Numbers(rows)+"SELECT i, 'ann', 0 FROM numbers")
	exec(t, db, "ANALYZE TABLE onerow_stream, onerow_stream_message, onerow_dead_letter, runner")
	return dsn
}

// TestCosts: what a call reads and locks depends neither on its stream's messages nor on other streams and queues.
func TestCosts(t *testing.T) {
	guard := must(ordering.New[struct{}](ordering.Config{Consumer: "c", Mode: ordering.Hold, Keep: true, First: 1}))
	lossy := must(ordering.New[struct{}](ordering.Config{Consumer: "e", Mode: ordering.Hold, First: 1}))
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
			return second(points.Update(ctx, db, 7, time.UnixMicro(at), ordering.Add("points", 1)))
		}
		c.Call("by time", update)
		c.Call("by time again", update)
		c.Call("verify", func(ctx context.Context, db *sql.DB) error { return points.Verify(ctx, db) })
		c.Source(".", nil)
	}
}
