package load

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/quota"
)

// Lease of the workers' jobs: a killed worker's job rests for so long. It is short, so that live workers lose
// it too.
const Lease = 500 * time.Millisecond

// NewWorker is the cascade worker of the soak, in small batches so that it is interrupted often.
func NewWorker(db *sql.DB, cluster bool) (*cascade.Worker, error) {
	return cascade.NewWorker(db, Plan(cluster), cascade.Config{Batch: 20, Chunk: 5, Lease: Lease, Poll: 100 * time.Millisecond,
		// Failures are the chaos here; a job that only needs longer must not die of it.
		MaxFailures: 1000})
}

// NewSweeper is the quota's sweeper, without its second look at owners that changed lately: the marks alone
// must do.
func NewSweeper(db *sql.DB, cluster bool) (*quota.Sweeper, error) {
	rule, err := Rule(cluster)
	if err != nil {
		return nil, err
	}
	return quota.NewSweeper(db, quota.Config{Every: 300 * time.Millisecond, Recheck: -1, Log: slog.New(slog.DiscardHandler)}, rule), nil
}

func runWorker(ctx context.Context, db *sql.DB, cluster bool, connections *atomic.Int64, out io.Writer) error {
	worker, err := NewWorker(db, cluster)
	if err != nil {
		return err
	}
	sweeper, err := NewSweeper(db, cluster)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var errs [2]error
	var both sync.WaitGroup
	both.Go(func() { errs[0] = worker.Run(ctx) })
	both.Go(func() { errs[1] = sweeper.Run(ctx) })
	err = tell(ctx, out, func() Tick { return Tick{Connections: connections.Load()} }, func() { cancel(); both.Wait() })
	return errors.Join(err, errs[0], errs[1])
}
