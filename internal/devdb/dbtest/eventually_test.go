package dbtest

import (
	"testing"
	"time"
)

// recorder is a test that may fail without failing the run.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = format
	panic(r) // Fatalf does not return; recovered below
}

func TestEventually(t *testing.T) {
	n := 0
	Eventually(t, 5*time.Second, func() (bool, string) { n++; return n == 3, "counting" })
	if n != 3 {
		t.Errorf("asked %d times", n)
	}
	r := &recorder{TB: t}
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(r) {
				panic(p)
			}
		}()
		eventually(r, 20*time.Millisecond, func() (bool, string) { return false, "never" })
	}()
	if r.failed == "" {
		t.Error("a condition that never holds must fail the test")
	}
}
