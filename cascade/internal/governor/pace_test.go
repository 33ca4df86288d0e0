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
		if p.Took(step.took, step.work, step.rows); p.Limit(0, 0) != step.want {
			t.Errorf("after %s for %d rows it is %d, want %d", step.took, step.rows, p.Limit(0, 0), step.want)
		}
	}
	settle := func(p *Pace, fixed, perRow time.Duration) int {
		for range 100 {
			work := time.Duration(p.Limit(0, 0)) * perRow
			p.Took(fixed+work, work, int64(p.Limit(0, 0)))
		}
		return p.Limit(0, 0)
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
		t.Error(p.Limit(0, 0))
	}
}

// TestYielded: a quarter of the time is three times as long for others, and a batch comes each second, however
// many jobs there are and however long their batches take.
func TestYielded(t *testing.T) {
	for _, took := range []time.Duration{time.Microsecond, 5 * time.Millisecond, 900 * time.Millisecond, time.Second, 3 * time.Second} {
		if rest := yielded(took, 64); rest < 0 || took < time.Second && took+rest > time.Second {
			t.Errorf("after %s others have %s", took, rest)
		}
	}
	for jobs, want := range map[int]time.Duration{1: 30 * time.Millisecond, 3: 90 * time.Millisecond} {
		if rest := yielded(10*time.Millisecond, jobs); rest != want {
			t.Errorf("with %d jobs others have %s, want %s", jobs, rest, want)
		}
	}
	p := NewPace(50*time.Millisecond, 2000)
	for _, c := range []struct{ target, most, want time.Duration }{{0, 0, 50}, {0, 10, 10}, {5, 10, 5}, {20, 10, 10}} {
		if p.Limit(c.target*time.Millisecond, c.most*time.Millisecond); p.target != c.want*time.Millisecond {
			t.Errorf("%d, %d at most: %s", c.target, c.most, p.target)
		}
	}
	fixed := NewPace(-1, 7000)
	if got := fixed.Limit(0, yieldBatch); got != 7000 {
		t.Errorf("%d rows in a batch that is always as large", got)
	}
}
