package governor

import (
	"testing"
	"time"
)

// TestPace: the limit follows what rows take, between its bounds.
func TestPace(t *testing.T) {
	const ms = time.Millisecond
	p := NewPace(100*ms, 2000)
	for _, step := range []struct {
		took, work time.Duration
		rows       int64
		want       int
	}{
		{ms, ms / 2, 10, 500},         // few rows say nothing
		{ms, ms / 2, 500, 626},        // there is time for more, but not for how many more
		{100 * ms, 90 * ms, 626, 783}, // one batch is not all
		{time.Second, 999 * ms, 3, 783},
		{time.Second, 999 * ms, 783, 391},
	} {
		if p.Took(step.took, step.work, step.rows); p.Limit(0) != step.want {
			t.Errorf("after %s for %d rows it is %d, want %d", step.took, step.rows, p.Limit(0), step.want)
		}
	}
	settle := func(p *Pace, fixed, perRow time.Duration) int {
		for range 100 {
			work := time.Duration(p.Limit(0)) * perRow
			p.Took(fixed+work, work, int64(p.Limit(0)))
		}
		return p.Limit(0)
	}
	for _, c := range []struct {
		target, fixed, perRow time.Duration
		low, high             int
	}{
		{100 * ms, 2 * ms, ms / 10, 930, 980},
		{100 * ms, 2 * ms, time.Microsecond, 2000, 2000},
		{100 * ms, 0, time.Second, shortestLimit, shortestLimit},
		{2 * ms, 3 * ms, ms / 100, 540, 600}, // BEGIN to COMMIT alone take longer than the target
	} {
		if got := settle(NewPace(c.target, 2000), c.fixed, c.perRow); got < c.low || got > c.high {
			t.Errorf("with %s for a row, %s for a batch and a target of %s it is %d, want %d to %d", c.perRow, c.fixed, c.target, got, c.low, c.high)
		}
	}
	if p := NewPace(-1, 7000); settle(p, 0, time.Hour) != 7000 {
		t.Error(p.Limit(0))
	}
}
