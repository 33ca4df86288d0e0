package shell

import (
	"context"
	"sync"
)

// Beside runs work, and side beside it until work ends.
func Beside(work func(context.Context) error, side func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, stop := context.WithCancel(ctx)
		var all sync.WaitGroup
		all.Go(func() { side(ctx) })
		defer all.Wait()
		defer stop()
		return work(ctx)
	}
}
