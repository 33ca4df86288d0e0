package governor

import (
	"sync"
	"time"
)

// How the size of batches moves.
const (
	firstLimit    = 500
	shortestLimit = 10
)

// Pace is how many rows a batch may have, for all goroutines of a worker: it moves with
// the time that batches take.
type Pace struct {
	given   time.Duration // negative: the limit never moves
	longest int

	mu     sync.Mutex
	target time.Duration // given, unless an operator has another one
	now    int
	// What a row takes, and what BEGIN, fence, counts and COMMIT take, in seconds: averages
	// in which earlier batches count less and less. 0 before the first.
	perRow, fixed float64
}

// NewPace makes one for batches that should take target, and have at most longest rows.
func NewPace(target time.Duration, longest int) *Pace {
	p := &Pace{given: target, target: target, longest: longest, now: min(firstLimit, longest)}
	if target < 0 {
		p.now = longest
	}
	return p
}

// Limit is how many rows the next batch may have, which should take target, or as long as was given if that
// is 0, and at most so long, unless most is 0.
func (p *Pace) Limit(target, most time.Duration) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if target == 0 {
		target = p.given
	}
	if most > 0 {
		target = min(target, most)
	}
	if target < 0 && p.target > 0 {
		p.now = p.longest
	}
	p.target = target
	return p.now
}

// Slower is told of a batch that the server has ended for its time or its locks: the next has half as many
// rows, unless the target is negative.
func (p *Pace) Slower() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.target >= 0 {
		p.now = max(p.now/2, min(shortestLimit, p.longest))
	}
}

// weight is how much the last batch counts in an average. One that waited for a lock, or
// for the processor, says little.
const weight = 0.2

// Took takes a batch into account that took d altogether and work for its rows. The limit moves
// to what fits into the target, at most by half down and by a quarter up at a time. Rows get
// at least twice the time that BEGIN, fence and COMMIT take: where these alone take the target,
// smaller batches would only be more of them. Batches of few rows say nothing of many.
func (p *Pace) Took(d, work time.Duration, rows int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.target < 0 || rows == 0 || 4*rows < int64(p.now) {
		return
	}
	average := func(of *float64, value time.Duration, share float64) {
		v := max(value.Seconds()/share, 1e-9)
		if *of == 0 {
			*of = v
		}
		*of += weight * (v - *of)
	}
	average(&p.fixed, d-work, 1)
	average(&p.perRow, work, float64(rows))
	fits := max(p.target.Seconds()-p.fixed, 2*p.fixed) / p.perRow
	most := p.now
	if 2*rows >= int64(p.now) {
		most += p.now/4 + 1
	}
	p.now = int(min(max(fits, float64(p.now/2)), float64(most)))
	p.now = min(max(p.now, shortestLimit), p.longest)
}
