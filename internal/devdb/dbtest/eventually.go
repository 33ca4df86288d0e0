package dbtest

import (
	"testing"
	"time"
)

// pollEvery is how often a condition is looked at.
const pollEvery = 5 * time.Millisecond

// patience is the least timeout: what a quiet machine does in a second takes a busy one very long now and
// then, and a timeout costs time only when the test fails.
const patience = time.Minute

// Eventually waits until cond says true, and fails the test when that takes longer than timeout, which counts
// as a minute if it is shorter. What cond said last is part of the failure. Call it from the test's own
// goroutine.
func Eventually(t testing.TB, timeout time.Duration, cond func() (ok bool, state string)) {
	t.Helper()
	eventually(t, max(timeout, patience), cond)
}

func eventually(t testing.TB, timeout time.Duration, cond func() (ok bool, state string)) {
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
