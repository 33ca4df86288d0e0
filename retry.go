package onerow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// A refused transaction lost against one that won, so somebody makes progress;
// the bound is for what does not end by itself.
const (
	maxAttempts = 20
	firstPause  = 2 * time.Millisecond
	longPause   = 250 * time.Millisecond
)

// retry calls attempt until it says that another try is of no use, at most
// maxAttempts times, with growing pauses of random length, until ctx ends.
func retry(ctx context.Context, attempt func() (again bool, err error)) error {
	pause := firstPause
	for n := 1; ; n++ {
		again, err := attempt()
		if !again {
			return err
		}
		if n == maxAttempts {
			return fmt.Errorf("onerow: gave up after %d attempts: %w", n, err)
		}
		timer := time.NewTimer(pause/2 + rand.N(pause)) //nolint:gosec // jitter, not a secret
		select {
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("onerow: %w after %d attempts: %w", context.Cause(ctx), n, err)
		case <-timer.C:
		}
		pause = min(2*pause, longPause)
	}
}
