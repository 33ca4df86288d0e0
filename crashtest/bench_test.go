package crashtest

import (
	"fmt"
	"testing"
)

// BenchmarkCompare is the comparison of two runs with 10 screens and 2,000 comments.
func BenchmarkCompare(b *testing.B) {
	var screens, comments []string
	for i := range 10 {
		screens = append(screens, fmt.Sprintf("%d,screen,1", i+1))
	}
	for i := range 2000 {
		comments = append(comments, fmt.Sprintf("%d,%d,comment %d", i+1, i%10+1, i%7))
	}
	snap := snapshot{rowsOf(screens...), rowsOf(comments...)}
	for b.Loop() {
		if d := diff(identify(family, snap, snap), identify(family, snap, snap), faultSides); d != "" {
			b.Fatal(d)
		}
	}
}
