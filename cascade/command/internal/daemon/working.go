package daemon

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/command/internal/ownrows"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/fit"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/schema"
)

// Working is a worker and what it was made from.
type Working struct {
	*cascade.Worker
	DB       *sql.DB
	Plan     schema.Plan
	Name     string
	Database string
	assets   cascade.Assets
}

// trashKind is what has expired in the trash, where the plan keeps any.
func (w *Working) trashKind() []ownrows.Kind {
	if len(w.Plan.Kept()) == 0 {
		return nil
	}
	return []ownrows.Kind{{Name: "trash", Tables: "onerow_trash, onerow_trash_…", Purge: func(ctx context.Context, db onerow.DB, limit int) (int64, error) {
		return admin.PurgeTrash(ctx, db, w.Plan, w.assets, limit)
	}}}
}

// Connections of a worker: for each job it works, and for its throttles, its sign of life and the page.
const (
	connsPerJob = 2
	otherConns  = 6
)

// NewWorker makes the worker of run and drain, and sees that the database is fit for it.
func NewWorker(ctx context.Context, a *shell.App, plan schema.Plan, f WorkFlags, c cascade.Config) (*Working, error) {
	assets, err := a.Assets(ctx, f.AssetsFlag, plan)
	if err != nil {
		return nil, err
	}
	replicas, err := a.Replicas(f.ThrottleFlags)
	if err != nil {
		return nil, err
	}
	db, err := a.OpenMigrated(ctx)
	if err != nil {
		return nil, err
	}
	roomFor(db, max(f.Parallel, 1))
	tell := c.OnEvent
	c.OnEvent = func(e cascade.Event) {
		if e.Parallel > 0 {
			roomFor(db, e.Parallel)
		}
		if tell != nil {
			tell(e)
		}
	}
	w := &Working{DB: db, Plan: plan, Name: cmp.Or(f.Name, dbtext.Process()), Database: a.Database(), assets: assets}
	c.Batch, c.Lease, c.Name, c.Assets = f.Batch, f.Lease, w.Name, assets
	c.Target, c.Parallel, c.Load = f.Target, f.Parallel, float64(shell.OrZero(f.Load))
	c.MaxThreadsRunning, c.MaxLag, c.Replicas, c.ThrottleQueries = f.MaxThreadsRunning, f.MaxLag, replicas, f.ThrottleQuery
	if err := errors.Join(fit.Check(ctx, db, plan), f.Ask(ctx, db)); err != nil {
		return nil, err
	}
	w.Worker, err = cascade.NewWorker(db, plan, c)
	if errors.Is(err, queue.ErrInvalid) {
		err = usage.Mark(err)
	}
	return w, err
}

// roomFor makes the pool large enough for so many jobs at once.
func roomFor(db *sql.DB, jobs int) {
	conns := otherConns + connsPerJob*jobs
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns) // of those that batches come back to, database/sql would keep two and open the others each time
}
