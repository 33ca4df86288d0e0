package brokenfuzz

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/repo"
)

const (
	sqlOpen = `SELECT COUNT(*) FROM broken.onerow_job WHERE state NOT IN ('held', 'dead', 'leftovers')`
	sqlDead = `SELECT COUNT(*), COALESCE(MIN(CONCAT(id, ': ', last_error)), '') FROM (SELECT id, state, last_error FROM onerow_job
 UNION ALL SELECT id, state, last_error FROM onerow_job_archive) AS j WHERE state IN ('dead', 'leftovers')`
)

// drain waits until the workers have done all that is open, on a server that is well.
func (w *world) drain(ctx context.Context) error {
	const patience = 90 * time.Second
	left, err := fuzz.Drained(ctx, patience, func() (open int, err error) {
		err = surely(func() error { return w.server.admin.QueryRowContext(ctx, sqlOpen).Scan(&open) }) // a session may have been killed before
		return open, err
	})
	if left > 0 {
		w.found.Add(brokenQueue, "%d jobs are open, and none has ended for %v", left, patience)
	}
	return err //nolint:wrapcheck // it says all
}

// tries is how often a call is made that a session of before, killed since, may refuse.
const tries = 2 * poolSize

func surely(call func() error) (err error) {
	for range tries {
		if err = call(); err == nil || !onerow.Retryable(err) && !errors.Is(err, onerow.ErrOutcomeUnknown) {
			return err
		}
	}
	return err
}

// settle calls again what has an unknown outcome and can be repeated, and brings back what was to come back.
func (w *world) settle(ctx context.Context) error {
	db := w.pools[0]
	for _, c := range w.book.of(created) {
		if c.outcome != unknown {
			continue
		}
		err := surely(func() error { // under its request id it answers for the owner that it had
			for owner := range int64(owners) {
				if there, err := w.ownerOf(ctx, c.token); err != nil || there != owner+1 {
					continue
				}
				res, err := w.shop.projects.Create(ctx, db, project{UserID: owner + 1, Name: c.token}, repo.RequestID(c.token))
				if err == nil && !res.Replayed {
					w.found.Add(brokenTwice, "%s %s is made again", c.kind, c.token)
				}
				return err //nolint:wrapcheck // it is looked at
			}
			return nil
		})
		if err != nil {
			w.found.Add(brokenTwice, "%s %s, again: %v", c.kind, c.token, err)
		}
	}
	for _, c := range w.book.of(effects) {
		if c.outcome != unknown {
			continue
		}
		err := surely(func() error {
			_, err := idempotency.Do(ctx, db, w.shop.keys, idempotency.Key{Operation: "effect", ID: c.token}, func(ctx context.Context, tx *onerow.Tx) (string, error) {
				_, err := tx.ExecContext(ctx, "INSERT INTO effect VALUES (?)", c.token)
				return c.token, err //nolint:wrapcheck // of Do
			})
			return err //nolint:wrapcheck // it is looked at
		})
		if c.outcome = done; err != nil {
			w.found.Add(brokenTwice, "%s %s, again: %v", c.kind, c.token, err)
		}
	}
	for _, c := range w.book.of(restored) {
		if c.outcome == done {
			continue
		}
		err := surely(func() error {
			_, p, err := recover.Job(ctx, db, w.shop.plan, c.job, recover.Options{})
			if err == nil && (len(p.Missing) > 0 || p.RootMissing != "") {
				return fmt.Errorf("%+v", p)
			}
			return err //nolint:wrapcheck // it is looked at
		})
		if err != nil && !errors.Is(err, recover.ErrNotKept) { // it may be back, and the answer was lost: its rows are judged
			w.found.Add(brokenTrash, "job %d of project %d: %v", c.job, c.id, err)
		}
	}
	sweeper := limit.NewSweeper(db, limit.Config{Every: -1}, w.shop.rule)
	return surely(func() error { _, err := sweeper.RunOnce(ctx); return err }) //nolint:wrapcheck // it says all
}

// ownerOf is who has the project of that name, 0 if nobody.
func (w *world) ownerOf(ctx context.Context, token string) (owner int64, err error) {
	err = w.server.admin.QueryRowContext(ctx, "SELECT COALESCE(MAX(user_id), 0) FROM (SELECT user_id, name FROM broken.project UNION ALL SELECT user_id, name FROM broken.project_archive) AS p WHERE name = ?", token).Scan(&owner)
	return owner, err //nolint:wrapcheck // it says all
}
