package command

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/page"
	"github.com/onerow/onerow/internal/retention"
	"github.com/onerow/onerow/schema"
)

// working is a worker and what it was made from.
type working struct {
	*cascade.Worker
	db       *sql.DB
	plan     schema.Plan
	name     string
	database string
	assets   cascade.Assets
	close    func() error
}

// trashKind is what has expired in the trash, where the plan keeps any.
func (w *working) trashKind() []retention.Kind {
	if len(w.plan.Kept()) == 0 {
		return nil
	}
	return []retention.Kind{{Name: "trash", Tables: "onerow_trash, onerow_trash_…", Purge: func(ctx context.Context, db onerow.DB, limit int) (int64, error) {
		return cascade.PurgeTrash(ctx, db, w.plan, w.assets, limit)
	}}}
}

// Connections of a worker: for each job it works, and for its throttles, its sign of life
// and the page.
const (
	connsPerJob = 2
	otherConns  = 6
)

// worker makes the worker of run and drain, and sees that the database is fit for it.
func (a *app) worker(ctx context.Context, f workFlags, c cascade.Config) (*working, error) {
	if err := f.check(a); err != nil {
		return nil, err
	}
	plan, err := a.plan(f.planFlag)
	if err != nil {
		return nil, err
	}
	assets, closeAssets, err := a.assets(ctx, f.assetsFlag, plan)
	if err != nil {
		return nil, err
	}
	throttles, closeReplicas, err := a.throttles(f.throttleFlags)
	if err != nil {
		return nil, errors.Join(err, closeAssets())
	}
	db, err := a.openMigrated(ctx)
	if err != nil {
		return nil, errors.Join(err, closeReplicas(), closeAssets())
	}
	roomFor(db, max(f.Parallel, 1))
	c.OnParallel = func(n int) { roomFor(db, n) }
	w := &working{db: db, plan: plan, name: workerName(f.Name), database: a.database(), assets: assets}
	w.close = func() error { return errors.Join(closeAssets(), closeReplicas(), db.Close()) }
	c.Batch, c.Lease, c.Name, c.Assets = f.Batch, f.Lease, w.name, assets
	c.Target, c.Parallel, c.Load, c.Throttles = f.Target, f.Parallel, f.Load, throttles
	if err = errors.Join(fit(ctx, db, plan), f.ask(ctx, db)); err == nil {
		w.Worker, err = cascade.NewWorker(db, plan, c)
		if errors.Is(err, cascade.ErrInvalidConfig) {
			err = usage(err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// roomFor makes the pool large enough for so many jobs at once.
func roomFor(db *sql.DB, jobs int) {
	conns := otherConns + connsPerJob*jobs
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns) // of those that batches come back to, database/sql would keep two and open the others each time
}

// onPage is the worker as its page shows it.
func (w *working) onPage() page.Worker {
	return page.Worker{DB: w.db, Plan: w.plan, Name: w.name, Database: w.database, Unready: func(ctx context.Context) []string { return unready(ctx, w.db, w.plan) },
		Key: w.key, Enqueue: func(ctx context.Context, resource, typed string, d queue.Deletion) (string, error) {
			root, err := w.root(ctx, resource, typed)
			if err != nil {
				return "", err
			}
			return enqueueRow(ctx, w.db, root, d, false)
		}}
}

// root is a row that somebody has typed on the page.
func (w *working) root(ctx context.Context, resource, typed string) (rootRow, error) {
	root, err := typedRoot(w.plan, resource, typed)
	if err == nil {
		err = root.encode(ctx, w.db, w.plan)
	}
	return root, err
}

func (w *working) key(ctx context.Context, resource, typed string) (string, error) {
	root, err := w.root(ctx, resource, typed)
	return root.key, err
}

// database says where the worker works, without a password.
func (a *app) database() string {
	cfg, err := parseDSN(a.dsn)
	if err != nil {
		return ""
	}
	return address(cfg) + "/" + output.Printable(cfg.DBName)
}
