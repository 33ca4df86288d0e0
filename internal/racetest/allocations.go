package racetest

import (
	"runtime"
	"slices"
	"testing"
)

// Allocations fails t unless call makes want allocations, give or take one in a hundred and one. It counts
// each of many calls alone and takes the smallest count: what the process does beside, and pools that a
// garbage collection has emptied, can only add.
func Allocations(t *testing.T, what string, want int, call func() error) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	counts := make([]int, 120)
	for i := range counts {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := call()
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		counts[i] = int(after.Mallocs - before.Mallocs) //nolint:gosec // hundreds
	}
	if n := slices.Min(counts); n > want+want/100+1 || n < want-want/100-1 {
		t.Errorf("%s: %d allocations, want %d", what, n, want)
	}
}
