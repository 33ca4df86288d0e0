package tree

import (
	"context"
	"fmt"
	"time"
)

// hog is a process that only spins: the control of what a worker's share of the time
// costs where it has no database.
type hog struct {
	target time.Duration
	load   float64
}

func (h *hog) run(ctx context.Context) {
	pause := time.NewTicker(time.Duration(float64(h.target) / h.load))
	defer pause.Stop()
	for ctx.Err() == nil {
		for begin := time.Now(); time.Since(begin) < h.target; {
		}
		select {
		case <-ctx.Done():
		case <-pause.C:
		}
	}
}

// spun runs a hog until ctx ends.
func spun(ctx context.Context, args ...string) error {
	cmd, err := itself(ctx, "spin", args)
	if err != nil {
		return err
	}
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the process that spins: %w", err)
	}
	return nil
}
