package cascade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/rowkey"
)

// run is one worker's work on one job.
type run struct {
	*Worker
	graph *graph
	job   Job
	node  *node
	root  rowkey.Key
	place place // where the root row was seen last

	pending []group // rows to be deleted, everything below them being gone or before them
	waiting int     // how many rows that are
	onPath  int     // how many rows are being walked below
	seen    map[who]mark
	suspect map[*edge]bool // whose rows are read and tried one by one
	none    map[*edge]bool // below which the last statement has met no row, see proved
	parked  map[string]map[rowkey.Key]bool
	loop    *found           // a row of a loop that was met in this pass
	cutting bool             // loops are cut
	skipped bool             // a child of the rows that are being walked below is on the path
	exact   bool             // a batch is halved: each row is looked at
	looped  map[*source]bool // over which rows were met that are on the path
	held    bool             // a row stayed in this pass, because something was below it

	changes  int64 // rows deleted, detached, cut or parked in this run
	counts   counts
	detached counts
	stale    bool      // an outcome was unknown, so counts are to be read again
	planned  bool      // the plan's fingerprint is stored with the job
	state    State     // where the job went
	fenced   time.Time // when the lease was renewed last
}

// counts is a number of rows by table.
type counts map[string]int64

// tally is what a batch has done.
type tally struct{ deleted, detached counts }

func (t tally) rows() (n int64) {
	for _, c := range []counts{t.deleted, t.detached} {
		for _, rows := range c {
			n += rows
		}
	}
	return n
}

// sqlFence proves the lease token, by the primary key, and renews the lease. It
// changes the row always, so no affected row means that the token is superseded. It
// holds the row's lock to the end of the batch: claims of others wait for it.
const sqlFence = `UPDATE onerow_job SET batch_seq = batch_seq + 1, due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE id = ? AND token = ? AND state = 'running'`

func (r *run) fence(ctx context.Context, db onerow.DB) error {
	n, err := onerow.Affected(ctx, db, sqlFence, r.cfg.Lease.Microseconds(), r.job.ID, r.job.Token)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%w: job %d, token %d", ErrLeaseLost, r.job.ID, r.job.Token)
	}
	r.fenced = time.Now()
	return nil
}

// unknownTries bounds how often a batch is run that ends without an answer.
const unknownTries = 5

// batch runs fn between the fence and the counts in one transaction. It is begun
// only while ctx lasts and then ended, but not for long. It may run more than once:
// also after an unknown outcome, for a batch deletes what is there. Afterwards it waits
// as the governor says, unless the batch was the last one.
func (r *run) batch(ctx context.Context, fn func(ctx context.Context, tx *onerow.Tx, t tally) (last bool, err error)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.drift(ctx); err != nil {
		return err
	}
	late, cancel := finishing(ctx)
	defer cancel()
	var unknown error
	for try := 1; ; try++ {
		var t tally
		last := false
		begin, work := time.Now(), time.Duration(0)
		err := onerow.InTx(late, r.db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			begin = time.Now()
			t = tally{counts{}, counts{}}
			if err := r.fence(ctx, tx); err != nil {
				return err
			}
			if err := r.storePlan(ctx, tx); err != nil {
				return err
			}
			fenced := time.Now()
			if last, err = fn(ctx, tx, t); err != nil {
				return err
			}
			work = time.Since(fenced)
			return r.count(ctx, tx, t)
		})
		switch {
		case err == nil:
			took := time.Since(begin)
			if last {
				r.cfg.Observer.Ended(r.state)
			}
			if err := r.committed(late, t, took, work); err != nil || last {
				return err
			}
			return r.governor.wait(ctx, r.job, took, r.renew)
		case !errors.Is(err, onerow.ErrOutcomeUnknown) && unknown != nil && !mysqlerr.Answers(err): // it hides nothing
			return &onerow.OutcomeUnknownError{Err: fmt.Errorf("%w (and then: %w)", unknown, err)}
		case !errors.Is(err, onerow.ErrOutcomeUnknown) || try == unknownTries || ctx.Err() != nil:
			return err
		}
		unknown, r.stale = err, true
	}
}

// renew is a batch that deletes nothing, for work that takes long. One statement.
func (r *run) renew(ctx context.Context) error {
	return r.again(ctx, func() error { return r.fence(ctx, r.db) })
}

// leastRenewal: leases of seconds must be renewed in time, or with two workers each takes
// the job away from the other before it has read down to what can go. Shorter ones than
// three times this would be renewed at every turn: whoever has one takes his loss in his
// stride, and renews it now and then.
const (
	leastRenewal = 100 * time.Millisecond
	rareRenewal  = 3 * time.Second
)

func (c Config) renewAfter() time.Duration {
	if third := c.Lease / 3; third >= leastRenewal {
		return third
	}
	return rareRenewal
}

// keepLease renews the lease when its end is in sight. Reading goes on for long below deep
// trees, without a batch. It waits as the governor says, too, which asks by its own clock.
func (r *run) keepLease(ctx context.Context) error {
	if time.Since(r.fenced) < r.cfg.renewAfter() {
		return r.governor.wait(ctx, r.job, 0, r.renew)
	}
	if err := r.renew(ctx); err != nil {
		return err
	}
	if err := r.drift(ctx); err != nil {
		return err
	}
	return r.governor.wait(ctx, r.job, 0, r.renew)
}

// sqlCount and sqlCountDetached: the primary key (job, table) decides. Nobody else writes
// the counts of the job whose fence this transaction holds.
const (
	sqlCount             = `INSERT INTO onerow_job_count (job_id, table_name, deleted_rows) VALUES `
	sqlCountMore         = ` ON DUPLICATE KEY UPDATE deleted_rows = deleted_rows + VALUES(deleted_rows)`
	sqlCountDetached     = `INSERT INTO onerow_job_detached (job_id, table_name, detached_rows) VALUES `
	sqlCountMoreDetached = ` ON DUPLICATE KEY UPDATE detached_rows = detached_rows + VALUES(detached_rows)`
)

// count is the last statement of a batch that deleted something, and another one if it
// detached something.
func (r *run) count(ctx context.Context, tx *onerow.Tx, t tally) error {
	if err := r.add(ctx, tx, t.deleted, sqlCount, sqlCountMore); err != nil {
		return err
	}
	return r.add(ctx, tx, t.detached, sqlCountDetached, sqlCountMoreDetached)
}

func (r *run) add(ctx context.Context, tx *onerow.Tx, c counts, insert, more string) error {
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
	_, err := tx.ExecContext(ctx, insert+strings.Join(rows, ", ")+more, args...)
	return err
}

// committed takes a committed batch into the books.
func (r *run) committed(ctx context.Context, t tally, took, work time.Duration) error {
	r.planned = true
	rows := t.rows()
	r.changes += rows
	if rows > 0 {
		r.setbacks.end(r.job.ID)
	}
	r.pace.took(took, work, rows)
	r.cfg.Observer.Batch(took)
	for table, n := range t.deleted {
		if n > 0 {
			r.counts[table] += n
			r.cfg.Observer.Deleted(table, n)
		}
	}
	for table, n := range t.detached {
		if n > 0 {
			r.detached[table] += n
			r.cfg.Observer.Detached(table, n)
		}
	}
	if r.cfg.OnProgress == nil || rows == 0 {
		return nil
	}
	return r.tell(ctx)
}

// tell reports the job. What was counted before this run is read once.
func (r *run) tell(ctx context.Context) error {
	if r.stale {
		stored, err := Get(ctx, r.db, r.job.ID)
		if err != nil {
			return err
		}
		r.job, r.counts, r.detached, r.stale = withToken(stored, r.job.Token), stored.Tables, stored.Detached, false
		if r.detached == nil {
			r.detached = counts{}
		}
	}
	job := r.job
	job.Tables, job.Detached = maps.Clone(r.counts), maps.Clone(r.detached)
	for _, n := range job.Tables {
		job.DeletedRows += n
	}
	for _, n := range job.Detached {
		job.DetachedRows += n
	}
	r.report(job)
	return nil
}

// withToken is the stored job under the token that this worker holds: the stored
// one may be a successor's by now, and the fence must not pass for it.
func withToken(stored Job, token int64) Job {
	stored.Token, stored.DeletedRows, stored.DetachedRows = token, 0, 0
	return stored
}
