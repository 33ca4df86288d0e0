package page

import (
	"context"
	"sync"
)

// Run does what goes on beside the requests: it counts what is left of the jobs that somebody looks at, and
// brings back what was asked for. It returns when ctx has ended and all that is left as it may be left: a
// restore ends after its batch.
func (p *Page) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { p.count(ctx, false) })
	all.Go(func() { p.count(ctx, true) })
	all.Go(func() { p.restore(ctx) })
	all.Wait()
}
