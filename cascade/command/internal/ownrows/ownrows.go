// Package ownrows is how long the toolkit keeps its own rows, of all packages: what cascade-worker purges,
// at a command and in the background. What is promised:
//
//   - What is younger than its time stays, by the database's clock, and so does all that waits for somebody:
//     jobs that are open, dead or have leftovers, audits of rows that have a job, keys in progress, parked
//     messages, dead letters.
//   - Each step is one call of the package that owns the tables: a batch in a short transaction, which reads
//     and locks a bounded number of rows. It may be ended anywhere, and run beside everything and beside
//     itself.
//   - Claims of numbers (onerow_serial_claim), the contexts of streams (onerow_stream) and the generations of
//     quotas are never purged: what they promise has no end.
//
// Open this package when a table of the toolkit's grows for ever, or is purged too early.
package ownrows

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/repo"
)

// Batch is how much one step removes.
const Batch = 200

// Keep are the flags that say how long what is kept. Keys have times of their own.
type Keep struct {
	KeepJobs     time.Duration `default:"9600h" placeholder:"TIME" help:"Finished jobs with their counts, and audits (9600h, 400 days). 0, here and below: for ever."`
	KeepRequests time.Duration `default:"720h" placeholder:"TIME" help:"Request ids of creates (720h, 30 days)."`
	KeepFlows    time.Duration `placeholder:"TIME" help:"Requests of flows that have ended, longer than any queue keeps a message (for ever)."`
	KeepMessages time.Duration `placeholder:"TIME" help:"Applied messages of streams (for ever)."`
}

// Validate refuses to keep anything for less than no time.
func (k Keep) Validate() error {
	for flag, keep := range map[string]time.Duration{"jobs": k.KeepJobs, "requests": k.KeepRequests, "flows": k.KeepFlows, "messages": k.KeepMessages} {
		if keep < 0 {
			return usage.Errorf("--keep-%s is %s; it should be a time like 720h, or 0 for ever", flag, keep)
		}
	}
	return nil
}

// Kind is what is purged together.
type Kind struct {
	Name    string
	Tables  string
	Age     time.Duration // 0: as the rows say
	Purge   func(ctx context.Context, db onerow.DB, limit int) (int64, error)
	Waiting func(ctx context.Context, db onerow.DB, limit int) (int64, error)
}

// Kinds are what is not kept for ever, in the order in which they are purged: jobs before the audits that
// they need.
func (k Keep) Kinds() ([]Kind, error) {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return nil, err
	}
	type aged = func(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error)
	var kinds []Kind
	add := func(name, tables string, age time.Duration, purge, waiting aged) {
		if age <= 0 {
			return
		}
		with := func(fn aged) func(context.Context, onerow.DB, int) (int64, error) {
			return func(ctx context.Context, db onerow.DB, limit int) (int64, error) { return fn(ctx, db, age, limit) }
		}
		kinds = append(kinds, Kind{name, tables, age, with(purge), with(waiting)})
	}
	addQueued := func(name, tables string, purge func(context.Context, onerow.DB, time.Duration, int, bool) (int64, error)) {
		with := func(dryRun bool) aged {
			return func(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
				return purge(ctx, db, age, limit, dryRun)
			}
		}
		add(name, tables, k.KeepJobs, with(false), with(true))
	}
	addQueued("jobs", "onerow_job_archive and what is a job's", queue.PurgeJobs)
	addQueued("deletions", "onerow_deletion", queue.PurgeDeletions)
	addQueued("actions", "onerow_action", queue.PurgeActions)
	add("key audits", "onerow_key_audit", k.KeepJobs, keyadmin.PurgeAudits, keyadmin.AuditsToPurge)
	add("requests", "onerow_request", k.KeepRequests, repo.PurgeRequests, repo.RequestsToPurge)
	kinds = append(kinds, Kind{"keys", "onerow_key, onerow_admission", 0,
		func(ctx context.Context, db onerow.DB, limit int) (int64, error) {
			return counted(keyadmin.Purge(ctx, db, keys, limit))
		},
		func(ctx context.Context, db onerow.DB, limit int) (int64, error) {
			return counted(keyadmin.ToPurge(ctx, db, limit))
		}})
	add("flows", "onerow_flow_request, onerow_flow_step", k.KeepFlows, func(ctx context.Context, db onerow.DB, age time.Duration, limit int) (int64, error) {
		return counted(flow.Forget(ctx, db, age, limit))
	}, flow.ToForget)
	add("messages", "onerow_stream_message", k.KeepMessages, ordering.Forget, ordering.ToForget)
	return kinds, nil
}

func counted(n int, err error) (int64, error) { return int64(n), err }

// erNoSuchTable is the server's error where a package is not used and its tables were dropped.
const erNoSuchTable = 1146

// NoTable says whether an error means that there is no such table.
func NoTable(err error) bool {
	var my *mysql.MySQLError
	return errors.As(err, &my) && my.Number == erNoSuchTable
}

const (
	stepEvery = time.Second
	restTime  = 10 * time.Minute // after a turn in which little was found
	stepTime  = 5 * time.Second  // for a step, whoever holds locks
)

// Slowly purges a batch at each step, one kind after the other, and rests when there is nothing left. One
// goroutine uses it at a time.
type Slowly struct {
	Kinds []Kind
	Log   *slog.Logger
	// Purged is told what a step has removed.
	Purged func(kind string, rows int64)

	next  int
	found bool // in this turn there was more than a batch of something
	until time.Time
	told  map[string]bool
}

// Run takes a step each second until ctx ends, but for the time in which the worker waits.
func (s *Slowly) Run(ctx context.Context, db onerow.DB, waits func() bool) {
	for shell.Rest(ctx, stepEvery) == nil {
		if !waits() {
			s.Step(ctx, db)
		}
	}
}

// Step purges one batch of the kind whose turn it is. An error is logged, once for each kind until it goes
// well again, and left to the next turn: nothing depends on it.
func (s *Slowly) Step(ctx context.Context, db onerow.DB) {
	if len(s.Kinds) == 0 || time.Now().Before(s.until) {
		return
	}
	kind := s.Kinds[s.next]
	within, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	n, err := kind.Purge(within, db, Batch)
	if n > 0 && s.Purged != nil {
		s.Purged(kind.Name, n)
	}
	s.tell(ctx, kind, err)
	s.found = s.found || n >= Batch
	if s.next = (s.next + 1) % len(s.Kinds); s.next > 0 {
		return
	}
	if !s.found {
		s.until = time.Now().Add(restTime)
	}
	s.found = false
}

func (s *Slowly) tell(ctx context.Context, kind Kind, err error) {
	if s.told == nil {
		s.told = map[string]bool{}
	}
	if err != nil && ctx.Err() == nil && !s.told[kind.Name] && !NoTable(err) {
		s.Log.WarnContext(ctx, "purge: left to a later time", "what", kind.Name, "tables", kind.Tables, "error", err)
	}
	s.told[kind.Name] = err != nil
}
