package ordering_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/ordering"
)

// BenchmarkApply: 16 streams, each message with one business row. Beside it the floor by hand, which is wrong
// after a crash or with two consumers: read the context, write the row, write the context, in one
// transaction. The ratio counts.
func BenchmarkApply(b *testing.B) {
	db, _ := open(b)
	db.SetMaxOpenConns(16)
	write := func(ctx context.Context, tx *onerow.Tx, user, seq int64) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO message VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE meters = 1", user, seq)
		return err
	}
	bench := func(name string, call func(ctx context.Context, user, seq int64) error) {
		var next atomic.Int64
		b.Run(name, func(b *testing.B) {
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				user := next.Add(1)
				for seq := int64(1); pb.Next(); seq++ {
					if err := call(b.Context(), user, seq); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
	for _, g := range []ordering.Guard[runState]{{}, {Keep: true}, {Hold: true, First: 1}} {
		g.Consumer = fmt.Sprintf("%v%v", g.Hold, g.Keep)
		bench(fmt.Sprintf("toolkit/hold=%v,keep=%v", g.Hold, g.Keep), func(ctx context.Context, user, seq int64) error {
			m := ordering.Message{Stream: fmt.Sprint(b.N, "/", user), Sequence: seq}
			return second(g.Apply(ctx, db, m, func(ctx context.Context, tx *onerow.Tx, m ordering.Message, s *runState) error {
				s.Meters++
				return write(ctx, tx, user, seq)
			}))
		})
	}
	bench("floor", func(ctx context.Context, user, seq int64) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			var last int64
			err := onerow.QueryRow(ctx, tx, "SELECT last_seq FROM onerow_stream WHERE consumer = 'floor' AND stream = ?", []any{fmt.Sprint(user)}, &last)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			if err := write(ctx, tx, user, seq); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO onerow_stream (consumer, stream, epoch, last_seq, state, updated_at) VALUES ('floor', ?, 0, ?, '{}', UTC_TIMESTAMP(6))
				ON DUPLICATE KEY UPDATE last_seq = ?, state = '{}'`, fmt.Sprint(user), seq, seq)
			return err
		})
	})
}

// TestHeap: new streams, a message, and its redelivery leave nothing in memory.
func TestHeap(t *testing.T) {
	db, _ := open(t)
	g, ctx := &ordering.Guard[runState]{Consumer: "c", Keep: true}, t.Context()
	dbtest.HeapStays(t, func(n int) error {
		apply := func() error {
			return second(g.Apply(ctx, db, ordering.Message{Stream: fmt.Sprint(n), Sequence: 1}, func(_ context.Context, _ *onerow.Tx, _ ordering.Message, s *runState) error {
				s.Meters++
				return nil
			}))
		}
		return errors.Join(apply(), apply())
	})
}
