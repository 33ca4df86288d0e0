//go:build !race

package idempotency_test

import (
	"fmt"
	"testing"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/pool"
)

// TestAllocations holds how many calls make. The race detector makes others. Six of Do decode the result
// that was encoded, for the first caller; a few more make text of bytes that are JSON.
func TestAllocations(t *testing.T) {
	_, dsn := open(t)
	db, err := pool.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	keys, ctx, n := newKeys(t, idempotency.Config{}), t.Context(), 0
	do := func() error {
		n++
		_, err := idempotency.Do(ctx, db, keys, key(fmt.Sprint("k", n)), charge(1))
		return err
	}
	again := func(keys *idempotency.Keys) error {
		_, err := idempotency.Do(ctx, db, keys, key("k1"), charge(1))
		return err
	}
	racetest.Allocations(t, "Do", 122, func() error { return do() })
	racetest.Allocations(t, "Do, replay of what was seen", 46, func() error { return again(keys) })
	racetest.Allocations(t, "Do, replay", 108, func() error { keys.ForgetEnded(); return again(keys) })
}
