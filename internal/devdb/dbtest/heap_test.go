package dbtest

import (
	"fmt"
	"strings"
	"testing"
)

// complaints is a test that fails without failing.
type complaints struct {
	testing.TB
	said []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

// TestHeapStays: what a call keeps is told of, what it lets go is not.
func TestHeapStays(t *testing.T) {
	var kept [][]byte
	for _, keeps := range []bool{true, false} {
		c := &complaints{TB: t}
		HeapStays(c, func(int) error {
			b := make([]byte, 1000)
			if keeps {
				kept = append(kept, b)
			}
			return nil
		})
		if told := strings.Contains(strings.Join(c.said, ""), "stay in memory after 1000 calls"); told != keeps {
			t.Errorf("it keeps %v, and is told %q", keeps, c.said)
		}
	}
	if len(kept) != heapWarm+heapCalls {
		t.Errorf("%d calls", len(kept))
	}
}
