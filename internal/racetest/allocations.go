package racetest

import (
	"slices"
	"testing"
)

// Allocations fails the test if a call makes another number of them, by more than one and one in a hundred.
// What else the process does meanwhile is in the measurement, so the least of some counts.
func Allocations(t *testing.T, what string, want int, call func() error) {
	t.Helper()
	var err error
	runs := make([]int, 9)
	for i := range runs {
		runs[i] = int(testing.AllocsPerRun(20, func() {
			if cerr := call(); cerr != nil {
				err = cerr
			}
		}))
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	if n := slices.Min(runs); n > want+want/100+1 || n < want-want/100-1 {
		t.Errorf("%s: %d allocations, want %d", what, n, want)
	}
}
