package recount

import (
	"context"
	"errors"
	"time"
)

// Sweep does one batch after the other until ctx ends, with a pause behind one that leaves no more to do.
func Sweep(ctx context.Context, pause time.Duration, batch func(context.Context) (more bool)) {
	for {
		if batch(ctx) && ctx.Err() == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// Each deals with each of a list. What fails is counted and keeps it from nothing else; the errors are
// joined. It ends with ctx.
func Each[T any](ctx context.Context, list []T, failed *int, deal func(T) error) error {
	var errs []error
	for _, one := range list {
		err := deal(one)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			*failed++
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
