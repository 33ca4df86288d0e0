package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// BenchmarkDo: a transaction with one business INSERT is the floor; the others do it once for a key.
func BenchmarkDo(b *testing.B) {
	db, _ := open(b)
	keys, ctx := newKeys(b, idempotency.Config{Keep: time.Hour}), b.Context()
	var n atomic.Int64
	fresh := func() idempotency.Key { return key(fmt.Sprint("k", n.Add(1))) }
	do := func(k idempotency.Key) error {
		_, err := idempotency.Do(ctx, db, keys, k, charge(1))
		return err
	}
	must(idempotency.Do(ctx, db, keys, key("there"), charge(1)))
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"floor", func() error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { _, err := charge(1)(ctx, tx); return err })
		}},
		{"Do", func() error { return do(fresh()) }},
		{"two steps", func() error {
			claim, _, err := idempotency.Begin[receipt](ctx, db, keys, fresh())
			if err != nil {
				return err
			}
			if err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { _, err := charge(1)(ctx, tx); return err }); err != nil {
				return err
			}
			return keys.Complete(ctx, db, claim, receipt{Amount: 1})
		}},
		{"SELECT by the key", func() error {
			return onerow.QueryRow(ctx, db, "SELECT result FROM onerow_key WHERE tenant = '7' AND operation = 'charge' AND idem_key = 'there'", nil, new([]byte))
		}},
		{"replay of what was seen", func() error { return do(key("there")) }},
		{"replay", func() error { keys.ForgetEnded(); return do(key("there")) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestHeap: keys that are new, and replays, leave nothing in memory.
func TestHeap(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	dbtest.HeapStays(t, func(n int) error {
		_, first := idempotency.Do(ctx, db, keys, key(fmt.Sprint("k", n)), charge(1))
		_, again := idempotency.Do(ctx, db, keys, key(fmt.Sprint("k", n)), charge(1))
		return errors.Join(first, again)
	})
}
