package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/proof/soak/load"
)

// chaos is what was done to the processes, the server and the connections.
type chaos struct {
	webKills, workerKills, serverKills, cuts, toxics atomic.Int64

	pauses, partitions, promotions, handOvers atomic.Int64 // of several servers
}

// String is for the progress and the report.
func (c *chaos) String() string {
	text := fmt.Sprintf("killed: %d web processes, %d workers, servers %d times; %d cuts, %d toxics",
		c.webKills.Load(), c.workerKills.Load(), c.serverKills.Load(), c.cuts.Load(), c.toxics.Load())
	if several := c.pauses.Load() + c.partitions.Load() + c.promotions.Load(); several > 0 {
		text += fmt.Sprintf("; servers paused %d times, cut off %d times, promoted %d times", c.pauses.Load(), c.partitions.Load(), c.promotions.Load())
	}
	if n := c.handOvers.Load(); n > 0 {
		text += fmt.Sprintf(", handed over %d times", n)
	}
	return text
}

// place names the place of a process, as in web1.
func (c *child) place(all []*child) string { return fmt.Sprint(c.role, slices.Index(all, c)) }

// every is about how long lies between two events of a kind, so that a short run has some too.
func (s *soak) every(share int, shortest, longest time.Duration) time.Duration {
	return min(max(s.length/time.Duration(share), shortest), longest)
}

// storm is the chaos, until ctx ends.
func (s *soak) storm(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	errs := make(chan error, 3+len(s.proxies))
	run := func(kind uint64, f func(ctx context.Context, r *rand.Rand) error) {
		r := rand.New(rand.NewPCG(s.seed, kind)) //nolint:gosec // not a secret
		all.Go(func() {
			if err := f(ctx, r); err != nil {
				errs <- err
				cancel(err)
			}
		})
	}
	run(1, s.killProcesses)
	run(2, func(ctx context.Context, r *rand.Rand) error { return s.site.trouble(ctx, s, r) })
	run(3, func(ctx context.Context, _ *rand.Rand) error { return s.progress(ctx) })
	for i, p := range s.proxies {
		run(10+uint64(i), func(ctx context.Context, r *rand.Rand) error { return s.disturb(ctx, r, p) }) //nolint:gosec // i is small
	}
	all.Wait()
	close(errs)
	var failed []error
	for err := range errs {
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// about is d, give or take a half.
func about(r *rand.Rand, d time.Duration) time.Duration {
	return d/2 + time.Duration(r.Int64N(int64(d)))
}

// killProcesses kills a process now and then, and starts the next in its place.
func (s *soak) killProcesses(ctx context.Context, r *rand.Rand) error {
	between := s.every(20, 1500*time.Millisecond, 3*time.Second)
	for pause(ctx, about(r, between)) {
		c := s.children[r.IntN(len(s.children))]
		if err := c.kill(); err != nil {
			return err
		}
		if c.role == load.Web {
			s.chaos.webKills.Add(1)
		} else {
			s.chaos.workerKills.Add(1)
		}
		if err := c.start(c.place(s.children)); err != nil {
			return err
		}
	}
	return nil
}

// disturb cuts and poisons the connections of a process.
func (s *soak) disturb(ctx context.Context, r *rand.Rand, p *proxy) error {
	for pause(ctx, about(r, s.between)) {
		if r.IntN(4) == 0 {
			s.chaos.cuts.Add(1)
			if err := p.cut(ctx, time.Duration(r.Int64N(int64(600*time.Millisecond)))); err != nil {
				return err
			}
			continue
		}
		s.chaos.toxics.Add(1)
		if err := p.poison(ctx, drawToxic(r), 200*time.Millisecond+time.Duration(r.Int64N(int64(2*time.Second)))); err != nil {
			return err
		}
	}
	return nil
}
