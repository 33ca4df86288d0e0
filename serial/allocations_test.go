//go:build !race

package serial_test

import (
	"fmt"
	"testing"

	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/pool"
)

// TestAllocations holds how many a claim makes. The race detector makes others.
func TestAllocations(t *testing.T) {
	_, dsn := open(t)
	db := must(pool.Open(dsn))
	defer func() { must(0, db.Close()) }()
	ctx, s, n := t.Context(), series(t, "s"), 0
	racetest.Allocations(t, "Claim", 61, func() error {
		n++
		return second(s.Claim(ctx, db, fmt.Sprint(n), 1))
	})
	racetest.Allocations(t, "ClaimWith", 72, func() error {
		n++
		return invoice(ctx, db, s, fmt.Sprint(n), 1)
	})
}
