package tree

import (
	"testing"
	"time"
)

// requests took 1 ms, 2 ms, and so on, each that many times longer.
func requests(n int, times time.Duration) (sorted []time.Duration) {
	for i := range n {
		sorted = append(sorted, time.Duration(i+1)*times*time.Millisecond)
	}
	return sorted
}

func TestOver(t *testing.T) {
	if p := percentile(requests(1000, 1), .99); p != 991*time.Millisecond {
		t.Errorf("p99 of 1 to 1000 ms is %v", p)
	}
	if p := percentile(requests(1, 7), .99); p != 7*time.Millisecond {
		t.Errorf("p99 of one request is %v", p)
	}
	if r := over(requests(500, 3), requests(500, 2)); r != 1.5 {
		t.Errorf("three times as long is %v of twice as long", r)
	}
}
