package cascade

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
)

// claim is what one claim won. Its value is in the worker column of its jobs, and
// no other claim has it.
type claim struct {
	value string
	jobs  []Job // those that were due longest first
	seen  int   // due jobs that nobody was seen to hold, before the race for them
	waits       // of the jobs that were not begun yet
}

// waits is for how long jobs had been due when somebody looked.
type waits struct {
	looked time.Time
	due    map[int64]time.Duration
}

const (
	candidatesPerJob = 10
	maxCandidates    = 1000
)

// sqlDue reads, for one resource, the head of its part of the index due (resource, due_at, state), in the
// index's own order, to which InnoDB appends the id, and nothing of the jobs of other plans that use the
// queue; it locks nothing. A job's resource never changes.
const sqlDue = `(SELECT id, TIMESTAMPDIFF(MICROSECOND, due_at, UTC_TIMESTAMP(6)) FROM onerow_job FORCE INDEX (due) WHERE resource = ? AND due_at <= UTC_TIMESTAMP(6)
ORDER BY due_at, state, id LIMIT %d)`

// due returns the ids of up to limit jobs of the plan's resources that are due, those that are due longest
// first, but for resources that are paused. One statement, none if all of them are.
func (w *Worker) due(ctx context.Context, limit int) (ids []int64, waited waits, err error) {
	waited = waits{looked: time.Now(), due: map[int64]time.Duration{}}
	var parts []string
	var resources []any
	paused := w.governor.Control().Paused
	for _, name := range w.plan.Names() {
		if paused[name] {
			continue
		}
		parts, resources = append(parts, fmt.Sprintf(sqlDue, limit)), append(resources, []byte(name))
	}
	if len(parts) == 0 {
		return nil, waited, nil
	}
	err = onerow.Query(ctx, w.db, strings.Join(parts, " UNION ALL "), resources, func(rows *sql.Rows) error {
		var id, age int64
		err := rows.Scan(&id, &age)
		ids, waited.due[id] = append(ids, id), time.Duration(age)*time.Microsecond
		return err
	})
	slices.SortFunc(ids, waited.compare)
	return ids[:min(limit, len(ids))], waited, err
}

// compare has what is due longest first.
func (a waits) compare(x, y int64) int {
	return cmp.Or(cmp.Compare(a.due[y], a.due[x]), cmp.Compare(x, y))
}

// sqlClaim decides who gets the jobs, by the primary key: who comes second finds due_at in the future, and
// wins the rest. The token makes every batch of an earlier claim fail.
const sqlClaim = `UPDATE onerow_job FORCE INDEX (PRIMARY) SET state = 'running', token = token + 1, worker = ?, batch_seq = batch_seq + 1,
  started_at = COALESCE(started_at, UTC_TIMESTAMP(6)), due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE due_at <= UTC_TIMESTAMP(6) AND id IN `

// sqlWon reads back by the primary key what the claim won. The value is the claim's own, so the answer is
// right whatever the driver counts as affected, and also when the UPDATE was not answered. It looks for
// finished jobs of the same ids by the archive's primary key, see apart, and reads how each deletion was
// logged by the audit's.
const sqlWon = `SELECT id, resource, resource_id, deletion_id, token, failures,
  EXISTS (SELECT 1 FROM onerow_job_archive AS a WHERE a.id = onerow_job.id),
  COALESCE((SELECT d.deleted_from FROM onerow_deletion AS d WHERE d.id = onerow_job.deletion_id), '') FROM onerow_job WHERE worker = ? AND state = 'running' AND id IN `

// claim claims up to size due jobs of the plan's resources: it reads more candidates than it wants and
// takes the one that is due longest, which so waits for nobody twice, and some at random, so that workers
// seldom want the same ones. One statement when nothing is due, else 6, and 1 more for as many jobs
// that others hold. A claim whose outcome stays unknown leaves jobs that
// are due again when the lease ends.
func (w *Worker) claim(ctx context.Context, size int) (claim, error) {
	ids, waited, err := w.due(ctx, min(size*candidatesPerJob, max(maxCandidates, size)))
	if err != nil {
		return claim{}, fmt.Errorf("cascade: look for due jobs: %w", err)
	}
	c := claim{seen: len(ids), waits: waited}
	if len(ids) == 0 {
		return c, nil
	}
	if len(ids) > size {
		rest := ids[1:]
		rand.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] }) //nolint:gosec // spreads workers, not a secret
	}
	c.value = w.cfg.claimValue()
	// From here on the context's end would leave jobs claimed by nobody.
	ctx, cancel := finishing(ctx)
	defer cancel()
	ids, won := w.take(ctx, &c, ids, size)
	if won != nil && !errors.Is(won, onerow.ErrOutcomeUnknown) {
		return c, fmt.Errorf("cascade: claim: %w", won)
	}
	if len(ids) == 0 {
		return c, nil
	}
	var twins []int64
	err = onerow.Query(ctx, w.db, sqlWon+in(ids), []any{c.value}, func(rows *sql.Rows) error {
		job := Job{State: Running, Worker: w.cfg.Name}
		var twin bool
		err := rows.Scan(&job.ID, &job.Resource, &job.ResourceID, &job.DeletionID, &job.Token, &job.Failures, &twin, &job.from)
		if c.jobs = append(c.jobs, job); twin {
			twins = append(twins, job.ID)
		}
		return err
	})
	slices.SortFunc(c.jobs, func(a, b Job) int { return waited.compare(a.ID, b.ID) })
	for i := range c.jobs {
		if err == nil && slices.Contains(twins, c.jobs[i].ID) {
			err = w.apart(ctx, &c.jobs[i])
		}
	}
	if err != nil {
		c.jobs = nil
		return c, fmt.Errorf("cascade: read what was claimed: %w", err)
	}
	if won != nil && len(c.jobs) == 0 {
		return c, fmt.Errorf("cascade: claim: %w", won)
	}
	return c, nil
}

// sqlFree locks, by the primary key, those of the jobs that are still due and that nobody holds, and waits
// for nobody: a batch that waits for a lock holds its job past the end of the lease, and sqlClaim would
// wait with it, and all workers with them. It spares sqlClaim the jobs that another claim was faster to
// get, and decides nothing: its locks do not hold on another node of a cluster.
const sqlFree = `SELECT id FROM onerow_job FORCE INDEX (PRIMARY) WHERE due_at <= UTC_TIMESTAMP(6) AND id IN `

// take claims up to size of the jobs, of those that nobody holds, and returns which it tried; those that
// somebody holds do not count as seen. One transaction.
func (w *Worker) take(ctx context.Context, c *claim, ids []int64, size int) (free []int64, err error) {
	seen := c.seen
	return free, onerow.InTx(ctx, w.db, func(ctx context.Context, tx *onerow.Tx) error {
		c.seen, free = seen, nil
		for part := range slices.Chunk(ids, size) {
			err := onerow.Query(ctx, tx, sqlFree+in(part)+" FOR UPDATE SKIP LOCKED", nil, func(rows *sql.Rows) error {
				var id int64
				err := rows.Scan(&id)
				free = append(free, id)
				return err
			})
			if err != nil {
				return fmt.Errorf("look which jobs nobody holds: %w", err)
			}
			if c.seen -= len(part) - len(free); len(free) > 0 {
				return packet.ExecLast(ctx, tx, onerow.Stmt{Query: sqlClaim + in(free), Args: []any{c.value, w.cfg.Lease.Microseconds()}})
			}
		}
		return nil
	})
}

// sqlRelease gives jobs back, by the primary key and only while they are still this
// claim's.
const sqlRelease = `UPDATE onerow_job SET state = 'ready', due_at = UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND, worker = NULL, batch_seq = batch_seq + 1
WHERE worker = ? AND state = 'running' AND id IN `

// release gives jobs back at once, also when ctx has ended. Those that were not begun are due for as long as
// before, the others from now on. If it fails they are due when their lease ends. One statement.
func (w *Worker) release(ctx context.Context, c claim, jobs []Job) error {
	ids, waited := make([]int64, len(jobs)), time.Duration(0)
	for i, job := range jobs {
		ids[i] = job.ID
		if age, ok := c.due[job.ID]; ok {
			waited = max(waited, age+time.Since(c.looked))
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	if _, err := w.db.ExecContext(ctx, sqlRelease+in(ids), waited.Microseconds(), c.value); err != nil {
		return fmt.Errorf("cascade: give %d jobs back, which are due when their lease ends: %w", len(jobs), err)
	}
	return nil
}

// in is the list of an IN predicate. Numbers are written into the text: a list has
// another length each time, so there is nothing to prepare once.
func in(ids []int64) string {
	var b strings.Builder
	for i, id := range ids {
		b.WriteByte("(,"[min(i, 1)])
		b.WriteString(strconv.FormatInt(id, 10))
	}
	b.WriteByte(')')
	return b.String()
}
