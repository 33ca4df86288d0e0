package cascade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

// run is one worker's work on one job.
type run struct {
	*Worker
	job     Job
	node    *node
	root    int64
	place   place // where the root row was seen last
	deleted int64 // in this run, for the loops that ask for progress
	counts  counts
	stale   bool // an outcome was unknown, so counts are to be read again
}

// counts is the number of deleted rows by table.
type counts map[string]int64

// fenceSQL proves the lease token, by the primary key, and renews the lease. It
// changes the row always, so no affected row means that the token is superseded. It
// holds the row's lock to the end of the batch: claims of others wait for it.
const fenceSQL = `UPDATE onerow_job SET batch_seq = batch_seq + 1, due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE id = ? AND token = ? AND state = 'running'`

func (r *run) fence(ctx context.Context, db onerow.DB) error {
	n, err := onerow.Affected(ctx, db, fenceSQL, r.cfg.Lease.Microseconds(), r.job.ID, r.job.Token)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%w: job %d, token %d", ErrLeaseLost, r.job.ID, r.job.Token)
	}
	return nil
}

// unknownTries bounds how often a batch is run that ends without an answer.
const unknownTries = 5

// batch runs fn between the fence and the counts in one transaction. It is begun
// only while ctx lasts and then ended, but not for long. It may run more than once:
// also after an unknown outcome, for a batch deletes what is there.
func (r *run) batch(ctx context.Context, fn func(ctx context.Context, tx *onerow.Tx, c counts) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := finishing(ctx)
	defer cancel()
	for try := 1; ; try++ {
		var c counts
		err := onerow.InTx(ctx, r.db, func(ctx context.Context, tx *onerow.Tx) error {
			c = counts{}
			if err := r.fence(ctx, tx); err != nil {
				return err
			}
			if err := fn(ctx, tx, c); err != nil {
				return err
			}
			return r.count(ctx, tx, c)
		})
		switch {
		case err == nil:
			return r.committed(ctx, c)
		case !errors.Is(err, onerow.ErrOutcomeUnknown) || try == unknownTries || ctx.Err() != nil:
			return err
		}
		r.stale = true
	}
}

// renew is a batch that deletes nothing, for work outside the database that takes
// long. One statement.
func (r *run) renew(ctx context.Context) error {
	return r.again(ctx, func() error { return r.fence(ctx, r.db) })
}

// countSQL: the primary key (job, table) decides. Nobody else writes the counts of
// the job whose fence this transaction holds.
const (
	countSQL     = `INSERT INTO onerow_job_count (job_id, table_name, deleted_rows) VALUES `
	countMoreSQL = ` ON DUPLICATE KEY UPDATE deleted_rows = deleted_rows + VALUES(deleted_rows)`
)

// count is the last statement of a batch that deleted something.
func (r *run) count(ctx context.Context, tx *onerow.Tx, c counts) error {
	var rows []string
	var args []any
	for _, table := range slices.Sorted(maps.Keys(c)) {
		if c[table] > 0 {
			rows = append(rows, "(?, ?, ?)")
			args = append(args, r.job.ID, table, c[table])
		}
	}
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, countSQL+strings.Join(rows, ", ")+countMoreSQL, args...)
	return err
}

// committed takes a committed batch into the books.
func (r *run) committed(ctx context.Context, c counts) error {
	sum := int64(0)
	for table, n := range c {
		r.counts[table] += n
		sum += n
	}
	r.deleted += sum
	if r.cfg.OnProgress == nil || sum == 0 {
		return nil
	}
	return r.progress(ctx)
}

// progress reports the job. What was counted before this run is read once.
func (r *run) progress(ctx context.Context) error {
	if r.stale {
		stored, err := Get(ctx, r.db, r.job.ID)
		if err != nil {
			return err
		}
		r.job, r.counts, r.stale = withToken(stored, r.job.Token), stored.Tables, false
	}
	job := r.job
	job.Tables = maps.Clone(r.counts)
	for _, n := range job.Tables {
		job.DeletedRows += n
	}
	r.cfg.OnProgress(job)
	return nil
}

// withToken is the stored job under the token that this worker holds: the stored
// one may be a successor's by now, and the fence must not pass for it.
func withToken(stored Job, token int64) Job {
	stored.Token, stored.DeletedRows = token, 0
	return stored
}
