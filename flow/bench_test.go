package flow_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// BenchmarkWrite: 16 clients, each with its own flow, write a row of their own with proof. Beside it the
// floor: the same write in the same transaction without proof. The ratio counts.
func BenchmarkWrite(b *testing.B) {
	db, _ := open(b)
	db.SetMaxOpenConns(16)
	var next atomic.Int64
	for _, way := range []string{"prove", "owns", "floor"} {
		b.Run(way, func(b *testing.B) {
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				ctx, id := b.Context(), 1000+next.Add(1)
				r := flow.Run{Flow: fmt.Sprint(id), RequestID: "a"}
				if _, err := flow.Claim(ctx, db, r); err != nil {
					b.Error(err)
					return
				}
				if _, err := db.ExecContext(ctx, "INSERT INTO cart VALUES (?, 0, 1)", id); err != nil {
					b.Error(err)
					return
				}
				for pb.Next() {
					err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
						query, args := "UPDATE cart SET version = version + 1 WHERE id = ?", []any{id}
						switch way {
						case "prove":
							if err := flow.Prove(ctx, tx, r); err != nil {
								return err
							}
						case "owns":
							owns, more := r.Owns()
							query, args = query+" AND "+owns, append(args, more...)
						}
						_, err := tx.ExecContext(ctx, query, args...)
						return err
					})
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// TestHeap: requests that are claimed, proven and finished leave nothing in memory.
func TestHeap(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	dbtest.HeapStays(t, func(n int) error {
		r := flow.Run{Flow: fmt.Sprint("cart/", n), RequestID: "a"}
		_, claimed := flow.Claim(ctx, db, r)
		proven := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return flow.Prove(ctx, tx, r) })
		_, finished := flow.Finish(ctx, db, r)
		return errors.Join(claimed, proven, finished)
	})
}
