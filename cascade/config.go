package cascade

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/dbtext"
	"github.com/onerow/onerow/internal/trace"
)

// Assets deletes external assets, files or objects, by the names that the plan's asset columns hold.
//
// An asset is deleted before the row that names it, and only after a rehearsal, a transaction that is rolled
// back, has shown that the row can go: a row that is parked keeps its asset, and so do those above it. The
// fence is asked before each call, and the row goes only if it still names that asset.
//
// It is called again after a crash, by a worker that lost its lease too. So it must be idempotent, and names
// of assets must never be used again. A row that something comes to hold in between may lose its asset.
type Assets interface {
	// Delete deletes what is there of at most 100 names: a missing asset is no error. The rows that name
	// them are there, and can go, as a rehearsal has shown; they go afterwards. It should return soon after
	// ctx ends.
	Delete(ctx context.Context, names []string) error
}

// Config is how a [Worker] works. The zero value is valid, unless the plan names
// assets.
type Config struct {
	// Batch is how many leaf rows a transaction deletes or detaches at most. It begins with
	// 500 and moves below this bound with the time that batches take, see Target. Default
	// 5000.
	Batch int
	// Target is how long a batch should take, COMMIT included: the number of rows in one
	// moves with what rows have taken lately. It is at least so many that they take twice as
	// long as BEGIN, fence and COMMIT do: with fewer, the same rows would only load the
	// server more. Default 50ms. Negative: it is Batch always.
	Target time.Duration
	// Chunk is how many rows with something below them, or with an asset, are read at
	// a time and deleted by a transaction, beside up to Batch leaves. Default 500, at most
	// 5000.
	Chunk int
	// Parallel is how many jobs Run and Drain work at once, each on a connection of its
	// own. Default 1.
	Parallel int
	// MaxThreadsRunning, MaxLag, ThrottleQueries and Throttle say when the worker waits because the database
	// has more important work. Those that are set are asked once per second at most, between batches and
	// before jobs are claimed; while one has a reason the worker waits, and keeps what it holds. One that
	// cannot be asked holds it back, too, and is asked again after 5 seconds; no job fails for it. All
	// together have 2 seconds to answer, or a quarter of the lease.
	//
	// With MaxThreadsRunning it waits while the server executes more statements at once: the one that asks
	// counts, and one for each batch that another worker runs at that moment.
	MaxThreadsRunning int
	// MaxLag has it wait while one of Replicas is further behind, in whole seconds as the server measures it,
	// or does not replicate at all. The user of these pools needs REPLICATION CLIENT (on MariaDB since 10.5
	// SLAVE MONITOR). What the server cannot know it cannot say: a replica that lags behind its own source's
	// network shows 0, and one that waits on purpose (MASTER_DELAY, SOURCE_DELAY) is behind by that. A query
	// on a heartbeat table is more exact.
	MaxLag   time.Duration
	Replicas []*sql.DB
	// ThrottleQueries have one row of one column. No row, NULL, an empty text and '0' mean to go on, anything
	// else is the reason to wait. Each runs on the worker's pool in a read-only transaction of its own; the
	// server may go on with it when its time is over, so it should be a quick one.
	ThrottleQueries []string
	// Throttle says in a few words why to wait, and "" to go on. db is the worker's pool. It must return soon
	// after ctx ends, and may be called by several workers at once.
	Throttle func(ctx context.Context, db *sql.DB) (string, error)
	// Load is the share of the time that is spent in batches, more than 0 and up to 1; the rest is waited
	// between them. Default: all of it, and while others send more than 20 statements a second to the
	// server, a quarter for all of its workers together, in batches of 3ms, or of three times what BEGIN,
	// fence and COMMIT take, one a second at least. The worker gives way within a second, and has all of
	// the time again a second after they end. It asks the server how many statements it was sent
	// ("Questions") and subtracts those of workers, which are known on pools that are guarded
	// ([pool.Open], [pool.Guard]); on others the default is all of the time. A few long statements are
	// not felt, nor what reaches another node of a cluster, while workers there are subtracted: for these
	// set Load, or a throttle.
	Load float64
	// MaxParked is how many rows of a job may be parked before it dies; skipped ones do not
	// count. Default 1000.
	MaxParked int
	// Lease is how long a job is kept from other workers after each batch, and so how
	// long it rests after its worker was killed. A short one is not dangerous: a worker
	// that is too late changes nothing. It is renewed by each batch, and while the worker
	// reads when a third of it has passed. One below 300ms is not renewed in time: several workers
	// then take a job from each other, and may never get to the end of a deep tree. Default 10s, at
	// least 1ms.
	Lease time.Duration
	// Poll is how long an idle worker waits before it looks again. Default 1s.
	Poll time.Duration
	// ClaimJobs is how many jobs are claimed at once. Those that have little to delete end in one batch, and
	// if all of them did, more are claimed the next time, up to 100. The others are worked one after another,
	// and given back if the first ones take long. Default 10. With 1 each job has batches of its own.
	ClaimJobs int
	// Turn is how long a job is worked while others are due. Then it is given back and due behind them, so
	// that a small one does not wait for the end of a huge one. It takes at least twice as long as the job
	// took to its first batch, and lasts on where no other is due. Default 2s.
	Turn time.Duration
	// MaxFailures is how many failures in a row make a job dead. Default 10. A refused transaction, a
	// database out of reach and the server's own state ([queue.IsServerState]) are no failures: the job is
	// due again, with the error and what to do. Where every job would meet the same, the worker pauses, 0.1
	// to 10 seconds. Else only this job rests, for a second and twice as long each time, up to 5 minutes;
	// give or take a half.
	MaxFailures int
	// Assets deletes what the plan's asset columns name. It is needed if there are any.
	Assets Assets
	// Name is shown as the job's worker. Default: host name and process id.
	Name string
	// Log gets one line per job, and errors. Default: slog.Default().
	Log *slog.Logger
	// OnEvent is told what the worker does, for metrics and progress: package cascade/prommetrics is one
	// receiver. It is called on the worker's goroutines, one call at a time, and should return at once.
	OnEvent func(Event)
	// Progress asks for events of progress. They cost up to 2 statements per job.
	Progress bool
}

const (
	defaultBatch       = 5000
	defaultChunk       = 500
	longestChunk       = 5000
	defaultTarget      = 50 * time.Millisecond
	defaultParallel    = 1
	defaultMaxParked   = 1000
	defaultLease       = 10 * time.Second
	defaultPoll        = time.Second
	defaultClaimJobs   = 10
	defaultTurn        = 2 * time.Second
	defaultMaxFailures = 10
	shortestLease      = time.Millisecond
)

func (c Config) withDefaults() (Config, error) {
	for _, f := range []struct {
		name string
		v    *int
		def  int
	}{
		{"Batch", &c.Batch, defaultBatch},
		{"Chunk", &c.Chunk, defaultChunk},
		{"ClaimJobs", &c.ClaimJobs, defaultClaimJobs},
		{"MaxFailures", &c.MaxFailures, defaultMaxFailures},
		{"Parallel", &c.Parallel, defaultParallel},
		{"MaxParked", &c.MaxParked, defaultMaxParked},
	} {
		if *f.v < 0 {
			return c, fmt.Errorf("%w: %s is %d", queue.ErrInvalid, f.name, *f.v)
		}
		*f.v = cmp.Or(*f.v, f.def)
	}
	c.Lease, c.Poll, c.Turn, c.Target = cmp.Or(c.Lease, defaultLease), cmp.Or(c.Poll, defaultPoll), cmp.Or(c.Turn, defaultTurn), cmp.Or(c.Target, defaultTarget)
	if c.Lease < shortestLease || c.Poll < 0 || c.Turn < 0 {
		return c, fmt.Errorf("%w: Lease is %s, Poll is %s, Turn is %s", queue.ErrInvalid, c.Lease, c.Poll, c.Turn)
	}
	if c.Load < 0 || c.Load > 1 || c.Chunk > longestChunk {
		return c, fmt.Errorf("%w: Load is %g, Chunk is %d", queue.ErrInvalid, c.Load, c.Chunk)
	}
	if c.MaxThreadsRunning < 0 || c.MaxLag < 0 || (c.MaxLag > 0) != (len(c.Replicas) > 0) {
		return c, fmt.Errorf("%w: MaxThreadsRunning is %d, MaxLag is %s, with %d Replicas", queue.ErrInvalid, c.MaxThreadsRunning, c.MaxLag, len(c.Replicas))
	}
	c.Name = dbtext.Fit(cmp.Or(c.Name, dbtext.Process()), governor.MaxName)
	c.Log = trace.Log(cmp.Or(c.Log, slog.Default()))
	return c, nil
}
