package page

import (
	"context"
	"sync"
)

// Beside starts what goes on beside the requests, until ctx ends: two counts of what is left, and the
// restores that were asked for. The function that it returns waits until they have ended.
func (p *Page) Beside(ctx context.Context) (ended func()) {
	var all sync.WaitGroup
	all.Go(func() { p.count(ctx, false) })
	all.Go(func() { p.count(ctx, true) })
	all.Go(func() { p.restore(ctx) })
	return all.Wait
}
