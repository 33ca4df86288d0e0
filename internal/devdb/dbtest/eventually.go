package dbtest

import (
	"testing"
	"time"
)

// pollEvery is how often a condition is looked at.
const pollEvery = 5 * time.Millisecond

// Eventually waits until cond says true, and fails the test at once when that takes longer than timeout. What cond said
// last is part of the failure. Call it from the test's own goroutine.
func Eventually(t testing.TB, timeout time.Duration, cond func() (ok bool, state string)) {
	t.Helper()
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		ok, state := cond()
		if ok {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("not within %s: %s", timeout, state)
		case <-tick.C:
		}
	}
}
