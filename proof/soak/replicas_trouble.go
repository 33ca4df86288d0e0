package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"time"
)

// trouble is one thing at a time: what holds is that nothing is lost while one server is.
func (c *replicas) trouble(ctx context.Context, s *soak, r *rand.Rand) error {
	between := s.every(24, 2*time.Second, 6*time.Second)
	for n := r.IntN(len(s.trouble)); pause(ctx, about(r, between)); n++ {
		what := s.trouble[n%len(s.trouble)]
		length := time.Second + time.Duration(r.Int64N(int64(6*time.Second)))
		if err := c.one(ctx, s, r, what, length); err != nil {
			return fmt.Errorf("%w (%s)", err, what)
		}
	}
	return nil
}

func (c *replicas) one(ctx context.Context, s *soak, r *rand.Rand, what string, length time.Duration) error {
	after := context.WithoutCancel(ctx)
	victim := (c.primary + r.IntN(3)) % 3 // the primary, or a replica
	switch {
	case what == kill && r.IntN(4) > 0:
		return c.failOver(after, s)
	case what == kill:
		victim = (c.primary + 1 + r.IntN(2)) % 3
		s.chaos.serverKills.Add(1)
		if err := c.servers[victim].restart(after, length/4); err != nil {
			return err
		}
		if err := c.exec(after, victim, startReplica); err != nil {
			return err
		}
	case what == hand:
		return c.handOver(after, s, r)
	case what == freeze:
		s.chaos.pauses.Add(1)
		if err := c.servers[victim].signal(syscall.SIGSTOP); err != nil {
			return err
		}
		pause(ctx, length)
		if err := c.servers[victim].signal(syscall.SIGCONT); err != nil {
			return err
		}
	case what == cut:
		s.chaos.partitions.Add(1)
		c.wire.Stop()
		pause(ctx, length)
		if !c.semi || r.IntN(2) == 0 { // without semi-synchronous commits what was acknowledged meanwhile is lost
			return c.failOver(after, s)
		}
		if err := c.wire.again(after); err != nil {
			return err
		}
	}
	if err := s.route(); err != nil {
		return err
	}
	return c.caughtUp(after)
}

func (c *replicas) settle(ctx context.Context, s *soak) error { return c.failOver(ctx, s) }
