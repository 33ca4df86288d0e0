// Package retention is how long the toolkit keeps its own rows, of all packages: what cascade-worker purges,
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
package retention

import (
	"context"
	"errors"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/ordering"
	"github.com/onerow/onerow/repo"
)

const day = 24 * time.Hour

// The times that are kept unless somebody says otherwise.
const (
	Jobs     = 400 * day
	Requests = 30 * day
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
	add("jobs", "onerow_job_archive and what is a job's", k.KeepJobs, queue.PurgeJobs, queue.JobsToPurge)
	add("deletions", "onerow_deletion", k.KeepJobs, queue.PurgeDeletions, queue.DeletionsToPurge)
	add("actions", "onerow_action", k.KeepJobs, queue.PurgeActions, queue.ActionsToPurge)
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
