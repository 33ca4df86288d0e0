package cascade

import (
	"sync"
	"time"
)

// How the size of batches moves.
const (
	firstLimit    = 500
	shortestLimit = 10
)

// pace is how many rows a batch may have, for all goroutines of a worker: it moves with
// the time that batches take.
type pace struct {
	target  time.Duration // negative: the limit never moves
	longest int

	mu  sync.Mutex
	now int
}

func newPace(target time.Duration, longest int) *pace {
	p := &pace{target: target, longest: longest, now: min(firstLimit, longest)}
	if target < 0 {
		p.now = longest
	}
	return p
}

// limit is how many rows the next batch may have.
func (p *pace) limit() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// took takes a batch into account: half as many rows after one that took more than twice
// the target, a quarter more after one that took less than half of it. Batches of few
// rows say nothing of many.
func (p *pace) took(d time.Duration, rows int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.target < 0:
	case d > 2*p.target && 4*rows >= int64(p.now):
		p.now = max(min(shortestLimit, p.longest), p.now/2)
	case d < p.target/2 && 2*rows >= int64(p.now):
		p.now = min(p.longest, p.now+p.now/4+1)
	}
}
