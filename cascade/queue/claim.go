package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/packet"
)

// Claim is one attempt to claim due jobs: the candidates that it read, and the jobs that it won.
type Claim struct {
	Due    []int64                 // candidates: due, and held by nobody when they were read; due longest first
	Looked time.Time               // when that was
	Seen   int                     // how many candidates nobody was seen to hold, before the race for them
	Jobs   []Claimed               // won; due longest first
	value  string                  // in the worker column of its jobs; no other claim has it
	waited map[int64]time.Duration // for how long jobs had been due
}

// Claimed is a job as it was when it was claimed, with its plan and without its figures. A worker writes to
// it only under the token of the claim, so what a superseded worker writes has no effect.
type Claimed struct {
	Job
	Lease time.Duration // how long it is kept from others, from each renewal on
	From  string        // where its deletion is from, see [Deletion].From; "" where that was not logged
	Had   int64         // its id before it was renumbered, which a finished job has; else 0
	Begun bool          // the worker has started it: released, it is due at once, not since its old time
	// Traceparent is that of the request that asked for the deletion; "" where it was not traced.
	Traceparent string
}

// sqlDue reads, for one resource, the head of its part of the index due (resource, due_at, state), in the
// index's own order, to which InnoDB appends the id, and nothing of the jobs of other plans that use the
// queue; it locks nothing. A job's resource never changes.
const sqlDue = `(SELECT id, TIMESTAMPDIFF(MICROSECOND, due_at, UTC_TIMESTAMP(6)) FROM onerow_job FORCE INDEX (due) WHERE resource = ? AND due_at <= UTC_TIMESTAMP(6)
ORDER BY due_at, state, id LIMIT %d)`

// Due returns up to limit jobs of the resources that are due, those that are due longest. It decides nothing,
// see [Claim.Take]. One statement, none without resources.
func Due(ctx context.Context, db onerow.DB, resources []string, limit int) (Claim, error) {
	c := Claim{Looked: time.Now(), waited: map[int64]time.Duration{}}
	if len(resources) == 0 {
		return c, nil
	}
	parts, args := make([]string, len(resources)), make([]any, len(resources))
	for i, name := range resources {
		parts[i], args[i] = fmt.Sprintf(sqlDue, limit), []byte(name)
	}
	err := onerow.Query(ctx, db, strings.Join(parts, " UNION ALL "), args, func(rows *sql.Rows) error {
		var id, age int64
		err := rows.Scan(&id, &age)
		c.Due, c.waited[id] = append(c.Due, id), time.Duration(age)*time.Microsecond
		return err
	})
	slices.SortFunc(c.Due, c.compare)
	c.Due = c.Due[:min(limit, len(c.Due))]
	c.Seen = len(c.Due)
	return c, err
}

// compare has what is due longest first.
func (c *Claim) compare(x, y int64) int {
	return cmp.Or(cmp.Compare(c.waited[y], c.waited[x]), cmp.Compare(x, y))
}

// sqlClaim decides who gets the jobs, by the primary key: the second worker finds due_at in the future, and
// gets only the jobs that remain. The token makes every batch of an earlier claim fail.
const sqlClaim = `UPDATE onerow_job FORCE INDEX (PRIMARY) SET state = 'running', token = token + 1, worker = ?, batch_seq = batch_seq + 1,
  started_at = COALESCE(started_at, UTC_TIMESTAMP(6)), due_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
WHERE due_at <= UTC_TIMESTAMP(6) AND id IN `

// sqlWon reads back by the primary key what the claim won. The value is the claim's own, so the answer is
// right whatever the driver counts as affected, and also when the UPDATE was not answered. It looks for
// finished jobs of the same ids by the archive's primary key, see renumberTwin, and reads how each deletion
// was logged and under which plan an earlier attempt has begun the job by those of the audit and of the
// plans.
const sqlWon = `SELECT id, resource, resource_id, deletion_id, token, failures,
  EXISTS (SELECT 1 FROM onerow_job_archive AS a WHERE a.id = onerow_job.id),
  COALESCE((SELECT d.deleted_from FROM onerow_deletion AS d WHERE d.id = onerow_job.deletion_id), ''),
  COALESCE((SELECT d.traceparent FROM onerow_deletion AS d WHERE d.id = onerow_job.deletion_id), ''),
  COALESCE((SELECT p.fingerprint FROM onerow_job_plan AS p WHERE p.job_id = onerow_job.id), '') FROM onerow_job WHERE worker = ? AND state = 'running' AND id IN `

// Take claims up to size jobs that nobody holds, in the order of Due, and keeps them from others for the time
// of a lease: from now on, and from each [Claimed.Renew]. Five statements, and 1
// more for each further chunk that is tried because others hold all of the one before. A claim whose outcome
// stays unknown leaves jobs that are due again when the lease ends, and so does the end of ctx.
func (c *Claim) Take(ctx context.Context, db onerow.DB, worker string, lease time.Duration, size int) error {
	c.value = claimValue(worker)
	ids, won := c.take(ctx, db, lease, size)
	if won != nil && !errors.Is(won, onerow.ErrOutcomeUnknown) {
		return fmt.Errorf("cascade: claim: %w", won)
	}
	if len(ids) == 0 {
		return nil
	}
	var twins []int64
	err := onerow.Query(ctx, db, sqlWon+in(ids), []any{c.value}, func(rows *sql.Rows) error {
		job := Claimed{Job: Job{State: Running, Worker: worker}, Lease: lease}
		var twin bool
		err := rows.Scan(&job.ID, &job.Resource, &job.ResourceID, &job.DeletionID, &job.Token, &job.Failures, &twin, &job.From, &job.Traceparent, &job.Plan)
		if c.Jobs = append(c.Jobs, job); twin {
			twins = append(twins, job.ID)
		}
		return err
	})
	slices.SortFunc(c.Jobs, func(a, b Claimed) int { return c.compare(a.ID, b.ID) })
	for i := range c.Jobs {
		if err == nil && slices.Contains(twins, c.Jobs[i].ID) {
			err = c.Jobs[i].renumberTwin(ctx, db)
		}
	}
	if err != nil {
		c.Jobs = nil
		return fmt.Errorf("cascade: read what was claimed: %w", err)
	}
	if won != nil && len(c.Jobs) == 0 {
		return fmt.Errorf("cascade: claim: %w", won)
	}
	return nil
}

// sqlFree locks, by the primary key, those of the jobs that are still due and that nobody holds, and waits
// for nobody: a batch that waits for a lock holds its job past the end of the lease, and sqlClaim would
// wait with it, and all workers with them. It spares sqlClaim the jobs that another claim was faster to
// get, and decides nothing: its locks do not hold on another node of a cluster.
const sqlFree = `SELECT id FROM onerow_job FORCE INDEX (PRIMARY) WHERE due_at <= UTC_TIMESTAMP(6) AND id IN `

// take claims up to size of the jobs, of those that nobody holds, and returns which it tried; those that
// somebody holds do not count as seen. One transaction.
func (c *Claim) take(ctx context.Context, db onerow.DB, lease time.Duration, size int) (free []int64, err error) {
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		c.Seen, free = len(c.Due), nil
		for part := range slices.Chunk(c.Due, size) {
			if free, err = readIDs(ctx, tx, sqlFree+in(part)+" FOR UPDATE SKIP LOCKED"); err != nil {
				return fmt.Errorf("look which jobs nobody holds: %w", err)
			}
			if c.Seen -= len(part) - len(free); len(free) > 0 {
				return packet.ExecLast(ctx, tx, onerow.Stmt{Query: sqlClaim + in(free), Args: []any{c.value, lease.Microseconds()}})
			}
		}
		return nil
	})
	return free, err
}

// sqlStillClaimed proves that jobs are the claim's and that nobody has claimed them before, by the primary
// key, and holds their rows to the end of the batch. On a cluster this lock proves
// nothing: there the batch's later DELETE or UPDATE of these rows decides.
const sqlStillClaimed = `SELECT id FROM onerow_job FORCE INDEX (PRIMARY) WHERE worker = ? AND token = 1 AND state = 'running' AND id IN `

// Lock locks those of the jobs that are the claim's still, and were never claimed before, and says which
// these are. One statement.
func (c *Claim) Lock(ctx context.Context, db onerow.DB, ids []int64) (claimed map[int64]bool, err error) {
	found, err := readIDs(ctx, db, sqlStillClaimed+in(ids)+" FOR UPDATE", c.value)
	claimed = map[int64]bool{}
	for _, id := range found {
		claimed[id] = true
	}
	return claimed, err
}

// sqlRelease gives jobs back, by the primary key and only while they are still this claim's.
const sqlRelease = `UPDATE onerow_job SET state = 'ready', due_at = UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND, worker = NULL, batch_seq = batch_seq + 1
WHERE worker = ? AND state = 'running' AND id IN `

// Release gives jobs back. Those that were not begun are due for as long as before, the others from now on.
// If it fails they are due when their lease ends. One statement.
func (c *Claim) Release(ctx context.Context, db onerow.DB, jobs []Claimed) error {
	ids, waited := make([]int64, len(jobs)), time.Duration(0)
	for i, job := range jobs {
		ids[i] = job.ID
		if age, ok := c.waited[job.ID]; ok && !job.Begun {
			waited = max(waited, age+time.Since(c.Looked))
		}
	}
	if _, err := db.ExecContext(ctx, sqlRelease+in(ids), waited.Microseconds(), c.value); err != nil {
		return fmt.Errorf("cascade: give %d jobs back, which are due when their lease ends: %w", len(jobs), err)
	}
	return nil
}

// renumberTwin renumbers a job that was claimed and has the id of a finished one, so that it neither
// goes on with that one's counts, plan and parked rows nor finds its place in the archive
// taken. The fence's row lock proves that it is still this claim's.
func (job *Claimed) renumberTwin(ctx context.Context, db onerow.DB) error {
	twin := *job
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		if err := twin.Renew(ctx, tx, ""); err != nil {
			return err
		}
		job.ID, err = renumber(ctx, tx, twin.ID)
		job.Had, job.Plan = twin.ID, ""
		return err
	})
}

// A claim writes the worker's name and a value that no other claim has, so that
// what was won can be read back.
const claimMark = "#"

func claimValue(worker string) string {
	var nonce [8]byte
	rand.Read(nonce[:]) // never an error
	return worker + claimMark + hex.EncodeToString(nonce[:])
}

// workerName is the name in a claim value.
func workerName(claim string) string {
	if i := strings.LastIndex(claim, claimMark); i >= 0 {
		return claim[:i]
	}
	return claim
}

// readIDs runs a statement that reads ids.
func readIDs(ctx context.Context, db onerow.DB, query string, args ...any) (ids []int64, err error) {
	err = onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		var id int64
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// in is the list of an IN predicate. Numbers are written into the text: a list has
// another length each time, so there is nothing to prepare once.
func in(ids []int64) string {
	var b strings.Builder
	for i, id := range ids {
		if i == 0 {
			b.WriteByte('(')
		} else {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	b.WriteByte(')')
	return b.String()
}
