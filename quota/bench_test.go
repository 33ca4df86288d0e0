package quota_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/quota"
)

// BenchmarkRecalculate: an owner has 10,000 rows and the limit moves by one, with a mark. Beside it, in turn,
// the floor by hand: the same flag by two range updates in one transaction, with nothing that keeps two of
// them apart and nothing that remembers the work. The ratio counts, not the figures.
func BenchmarkRecalculate(b *testing.B) {
	db, _ := open(b, order{})
	r := order{}.rule(b)
	setLimit(b, db, 7, 9_000)
	const ten = `(SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 1
 UNION ALL SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 1)`
	dbtest.Exec(b, db, fmt.Sprintf(`INSERT INTO project (user_id, created_at, updated_at)
 SELECT 7, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM %[1]s a, %[1]s b, %[1]s c, %[1]s d`, ten))
	recalculate(b, db, r, 7)
	var toolkit, floor time.Duration
	for b.Loop() {
		for limit := 5_000; limit <= 5_001; limit++ {
			for _, way := range []struct {
				call  func() error
				total *time.Duration
			}{
				{func() error { _, err := r.Recalculate(b.Context(), db, 7); return err }, &toolkit},
				{func() error { return byHand(b.Context(), db, limit) }, &floor},
			} {
				setLimit(b, db, 7, limit+1) // each way starts from the neighbour
				recalculate(b, db, r, 7)
				setLimit(b, db, 7, limit)
				if err := quota.Mark(b.Context(), db, "project", 7); err != nil {
					b.Fatal(err)
				}
				begin := time.Now()
				if err := way.call(); err != nil {
					b.Fatal(err)
				}
				*way.total += time.Since(begin)
				recalculate(b, db, r, 7)
			}
		}
	}
	n := float64(2 * b.N)
	b.ReportMetric(float64(toolkit.Microseconds())/n, "µs/toolkit")
	b.ReportMetric(float64(floor.Microseconds())/n, "µs/floor")
	b.ReportMetric(float64(toolkit)/float64(floor), "toolkit/floor")
}

func byHand(ctx context.Context, db onerow.DB, limit int) error {
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		var boundary int64
		if err := onerow.QueryRow(ctx, tx, "SELECT id FROM project WHERE user_id = 7 ORDER BY id LIMIT 1 OFFSET ?", []any{limit}, &boundary); err != nil {
			return err
		}
		for _, query := range []string{
			"UPDATE project SET is_over_quota = 1 WHERE user_id = 7 AND is_over_quota = 0 AND id >= ?",
			"UPDATE project SET is_over_quota = 0 WHERE user_id = 7 AND is_over_quota = 1 AND id < ?",
		} {
			if _, err := tx.ExecContext(ctx, query, boundary); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestHeap: owners whose flags are settled leave nothing in memory.
func TestHeap(t *testing.T) {
	db, _ := open(t, order{})
	r := order{}.rule(t)
	dbtest.HeapStays(t, func(n int) error {
		setLimit(t, db, n, 1)
		return errors.Join(quota.Mark(t.Context(), db, "project", n), r.Settle(t.Context(), db, n))
	})
}
