package limitfuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/proof/soak/fuzz"
)

// quietPoint waits until nobody acts, and compares.
func (w *world) quietPoint(ctx context.Context, r *rand.Rand) error {
	w.still.Lock()
	defer w.still.Unlock()
	defer w.killer.Rest()()
	w.looking.Lock()
	defer w.looking.Unlock()
	counted, err := fuzz.Within(ctx, 20*time.Second, func() (bool, error) {
		if err := w.surely(ctx); err != nil {
			return false, err
		}
		for _, one := range w.ledgers {
			for _, l := range one {
				if l.last.noted {
					return false, nil
				}
			}
		}
		return true, nil
	})
	switch {
	case err != nil:
		return err //nolint:wrapcheck // it says all
	case !counted:
		w.found.Add(brokenNoted, "%+v", w.ledgers)
		return nil
	}
	w.counts.quiets.Add(1)
	return w.take(ctx, r)
}

// surely looks at a snapshot while nobody is killed. Sessions that were killed before are still in the pool.
func (w *world) surely(ctx context.Context) (err error) {
	for range 2 * poolSize {
		if err = w.snapshot(ctx); err == nil {
			return nil
		}
	}
	return err
}

// take recounts an owner, and takes all that is left of the owner's room. What the worker frees meanwhile
// makes more of it, never less.
func (w *world) take(ctx context.Context, r *rand.Rand) error {
	owner := r.Int64N(owners)
	var left [limits]int64
	for i := range limits {
		last := w.ledgers[owner][i].last
		if left[i] = min(last.maximum-last.used, limit.MaxAmount/2); left[i] <= 0 && i == 0 || left[i] < 0 {
			return nil
		}
	}
	row := file{UserID: owner + 1, Name: fmt.Sprint("all that is left ", w.counts.quiets.Load(), " ", r.Uint64()), Bytes: min(left[1], 1<<30)}
	res, err := w.shop.files.Create(ctx, w.straight, row)
	switch {
	case errors.Is(err, limit.ErrLimit):
		w.found.Add(brokenLost, "owner %d, %v left: %v", owner+1, left, err)
		return nil
	case err != nil:
		return nil //nolint:nilerr // a session that was killed before the quiet point; this says nothing
	}
	if _, err := w.shop.files.Delete(ctx, w.straight, res.Row.ID); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	for i, rule := range w.shop.rules {
		if err := w.recount(ctx, rule, i, owner); err != nil {
			return err
		}
	}
	return nil
}

// recount counts, between two looks: what is in use does not change by that, and the room says the same.
func (w *world) recount(ctx context.Context, rule *limit.Rule, i int, owner int64) error {
	if err := rule.Recount(ctx, w.straight, owner+1); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	before := w.ledgers[owner][i].last
	if err := w.surely(ctx); err != nil {
		return err
	}
	if now := w.ledgers[owner][i].last; now.used == before.used && now.room != before.room && before.known && !before.noted {
		w.found.Add(brokenCount, "owner %d, %s: %+v, then %+v", owner+1, columns[i], before, now)
	}
	return nil
}
