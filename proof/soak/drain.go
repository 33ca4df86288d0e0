package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"

	"github.com/onerow/onerow/proof/soak/load"
)

// patience is how long what waits may still take; what is left then is stuck.
const patience = 90 * time.Second

// drain does what is left for later when nobody disturbs: jobs, marks, claims whose holder died.
func (s *soak) drain(ctx context.Context, db *sql.DB) error {
	if err := say(s.out, "soak: %s", &s.chaos); err != nil {
		return err
	}
	began, cluster := time.Now(), s.everyNodeWrites()
	if err := errors.Join(load.RestoreHeld(ctx, db, cluster), drainJobs(ctx, db, cluster), load.RestoreDeleted(ctx, db, cluster), drainMarks(ctx, db, cluster), drainKeys(ctx, db)); err != nil {
		return err
	}
	return say(s.out, "soak: drained in %v, checking", time.Since(began).Round(time.Millisecond))
}

const (
	countJobs  = `SELECT COUNT(*) FROM onerow_job`
	countMarks = `SELECT COUNT(*) FROM onerow_quota_mark`
	countKeys  = `SELECT COUNT(*) FROM onerow_key WHERE status = 'in_progress'`
)

func drainJobs(ctx context.Context, db *sql.DB, cluster bool) error {
	worker, err := load.NewWorker(db, cluster)
	if err != nil {
		return err
	}
	_, err = settled(ctx, patience, func() (bool, error) {
		if err := worker.Drain(ctx); err != nil {
			return false, err
		}
		n, err := count(ctx, db, countJobs)
		return n == 0, err
	})
	return err
}

func drainMarks(ctx context.Context, db *sql.DB, cluster bool) error {
	sweeper, err := load.NewSweeper(db, cluster)
	if err != nil {
		return err
	}
	_, err = settled(ctx, patience, func() (bool, error) {
		if _, err := sweeper.RunOnce(ctx); err != nil {
			return false, err
		}
		n, err := count(ctx, db, countMarks)
		return n == 0, err
	})
	return err
}

const readAbandoned = `SELECT idem_key FROM onerow_key WHERE operation = '` + load.TwoSteps + `' AND status = 'in_progress'`

// drainKeys takes over what was claimed with a lease by a process that was killed.
func drainKeys(ctx context.Context, db *sql.DB) error {
	keys, err := idempotency.New(idempotency.Config{Name: "drain"})
	if err != nil {
		return err
	}
	_, err = settled(ctx, patience, func() (bool, error) {
		var abandoned []string
		err := onerow.Query(ctx, db, readAbandoned, nil, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			abandoned = append(abandoned, id)
			return err
		})
		if err != nil {
			return false, fmt.Errorf("soak: %w", err)
		}
		for _, id := range abandoned {
			claim, _, err := idempotency.Begin[string](ctx, db, keys, idempotency.Key{Operation: load.TwoSteps, ID: id}, idempotency.Options{Lease: time.Minute})
			if errors.Is(err, idempotency.ErrInProgress) {
				continue // until its lease ends
			}
			if err != nil {
				return false, err
			}
			if claim.Token == 0 {
				continue
			}
			if err := load.CompleteClaim(ctx, db, keys, claim, "drained-"+id); err != nil {
				return false, err
			}
		}
		n, err := count(ctx, db, countKeys)
		return n == 0, err
	})
	return err
}
