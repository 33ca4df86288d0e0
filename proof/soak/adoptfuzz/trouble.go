package adoptfuzz

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/onerow/onerow/proof/soak/fuzz"
)

// killing is how long the killer of sessions rests between two, at most: with more of them no backfill gets
// beyond its first pages.
const killing = 1600 * time.Millisecond

// sessions kills sessions of the round's database until ctx ends.
func (r *round) sessions(ctx context.Context, rnd *rand.Rand) {
	for fuzz.Pause(ctx, 400*time.Millisecond) {
		if err := r.killer.Run(ctx, r.admin, r.database, rnd, killing); err != nil {
			r.tally("killer: " + short(err)) // the server has been killed, or this pool's session
		}
	}
}

// restarts kills the server now and then.
func (r *round) restarts(ctx context.Context, rnd *rand.Rand) error {
	for fuzz.Pause(ctx, time.Second+time.Duration(rnd.Int64N(int64(4*time.Second)))) {
		if err := r.server.restart(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		r.counts.restarts.Add(1)
	}
	return nil
}

// loads are shares of the time; with the last ones a command works until it is killed.
var loads = []string{"1", "0.5", "0.1", "0.05"}

// backfills runs the command with one plan or another until ctx ends, and kills it now and then.
func (r *round) backfills(ctx context.Context, rnd *rand.Rand) {
	for fuzz.Pause(ctx, time.Duration(rnd.Int64N(int64(150*time.Millisecond)))) {
		v := r.final
		if rnd.IntN(3) == 0 {
			v = version(rnd.IntN(versions))
		}
		load, kill := loads[rnd.IntN(len(loads))], time.Duration(0)
		if load != loads[0] || rnd.IntN(2) == 0 {
			kill = 400*time.Millisecond + time.Duration(rnd.Int64N(int64(2*time.Second)))
		}
		a := r.backfill(context.WithoutCancel(ctx), v, rnd.IntN(3) == 0, load, kill)
		if a.code == 0 || rnd.IntN(3) == 0 {
			// An operator who sees the refusal makes again what others have dropped.
			if err := r.migrate(context.WithoutCancel(ctx), false); err != nil {
				r.tally("files: " + short(err))
			}
		}
	}
}

// trouble lets the backfill run beside all that disturbs it.
func (r *round) trouble(ctx context.Context, rnd *rand.Rand) error {
	limited, cancel := context.WithTimeout(ctx, 4*time.Second+time.Duration(rnd.Int64N(int64(4*time.Second))))
	defer cancel()
	var all sync.WaitGroup
	var err error
	for i := range 1 + rnd.IntN(2) {
		all.Go(func() { r.backfills(limited, r.rand(10+uint64(i))) }) //nolint:gosec // small
	}
	all.Go(func() { r.alterer(limited, r.rand(20)) })
	if rnd.IntN(3) > 0 && r.kills {
		all.Go(func() { err = r.restarts(limited, r.rand(21)) })
	}
	all.Wait()
	return err
}
