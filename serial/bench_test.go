package serial_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/serial"
)

// BenchmarkClaim: 16 clients claim from one series, each with a business row. Beside it the floor by hand,
// without claim keys: the counter by LAST_INSERT_ID and the row. The ratio counts, not the figures.
func BenchmarkClaim(b *testing.B) {
	db, _ := open(b)
	db.SetMaxOpenConns(16)
	dbtest.Exec(b, db, "INSERT INTO onerow_serial VALUES ('floor', 1, 1)")
	var id atomic.Int64
	for _, amount := range []int64{1, 10} {
		for _, way := range []struct {
			name string
			call func(ctx context.Context, id string) error
		}{
			{"toolkit", func(ctx context.Context, id string) error {
				return sell(ctx, db, must(serial.New("toolkit")), id, amount)
			}},
			{"floor", func(ctx context.Context, id string) error { return byHand(ctx, db, id, amount) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", way.name, amount), func(b *testing.B) {
				b.SetParallelism(8)
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := way.call(b.Context(), fmt.Sprint(id.Add(1))); err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(b.N)*float64(amount)/b.Elapsed().Seconds(), "numbers/s")
			})
		}
	}
}

func byHand(ctx context.Context, db onerow.DB, id string, amount int64) error {
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		res, err := tx.ExecContext(ctx, "UPDATE onerow_serial SET next_no = LAST_INSERT_ID(next_no + ?) WHERE series = 'floor'", amount)
		if err != nil {
			return err
		}
		next, err := res.LastInsertId()
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO postcard (id, campaign, from_no, to_no) VALUES (?, 'floor', ?, ?)", id, next-amount, next-1)
		return err
	})
}

// TestHeap: series, claims and their repeats leave nothing in memory.
func TestHeap(t *testing.T) {
	db, _ := open(t)
	dbtest.HeapStays(t, func(n int) error {
		s := must(serial.New(fmt.Sprint("s", n)))
		return errors.Join(sell(t.Context(), db, s, fmt.Sprint(n), 2), sell(t.Context(), db, s, fmt.Sprint(n), 2))
	})
}
