package cascade

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/trash"
)

// sqlLog appends; it waits for nobody.
const sqlLog = `INSERT INTO onerow_deletion (resource, resource_id, owner, deleted_from, grace_us, requested_at)
VALUES (?, ?, ?, ?, ?, UTC_TIMESTAMP(6))`

// Log writes the audit row of a deletion and returns its id, which goes into
// Deletion.ID. It is what a delete does first. There is no unique key on purpose:
// a retried delete may log twice. One statement, 2 with an actor.
func Log(ctx context.Context, db onerow.DB, d Deletion) (deletionID int64, err error) {
	if err := d.check(); err != nil {
		return 0, err
	}
	var owner any
	if d.Owner != "" {
		owner = []byte(d.Owner)
	}
	err = acting(ctx, db, func(ctx context.Context, db onerow.DB) error {
		res, err := db.ExecContext(ctx, sqlLog, d.Resource, []byte(d.ResourceID), owner, d.From, d.Grace.Microseconds())
		if err != nil {
			return err
		}
		if deletionID, err = res.LastInsertId(); err != nil {
			return err
		}
		return act(ctx, db, Action{Action: ActionDelete, Resource: d.Resource, ResourceID: d.ResourceID, DeletionID: deletionID})
	})
	if err != nil {
		return 0, fmt.Errorf("cascade: log the deletion of %s %s: %w", d.Resource, d.ResourceID, err)
	}
	return deletionID, nil
}

// sqlEnqueue: the unique key one_open decides, in this one statement, whether the row gets a job or has one.
// An open job's row is locked exclusively at once, so that two callers do not deadlock over a share lock, as
// they would after a 1062. A held job is scheduled again. It always changes something (batch_seq), so 1
// affected row means inserted and 2 mean that a job is open, whatever clientFoundRows is. A running job is
// locked for one batch at most.
const sqlEnqueue = `INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at)
VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE
  due_at = CASE state WHEN 'scheduled' THEN LEAST(due_at, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)
    WHEN 'held' THEN LEAST(due_at - ` + heldFor + `, VALUES(due_at)) ELSE due_at END,
  state = IF(state = 'held', 'scheduled', state),
  batch_seq = batch_seq + 1,
  id = LAST_INSERT_ID(id)`

// Enqueue queues the cascade of a deletion: ready at once, or scheduled for the end
// of the grace period. Give it the transaction that deletes or hides the root row.
//
// When a job is open for the row it is returned instead: a scheduled or held one, which is
// scheduled then, after it was given the earlier of the two times, a ready or running one as it is. Compare
// DeletionID to tell. A paused one stays so. A job that was just made is returned without its times,
// which only the database knows.
//
// One statement, 2 when a job is open, 1 more with NoTrash; in a transaction of its own on a pool. Calling
// it again is safe, also after [onerow.ErrOutcomeUnknown].
func Enqueue(ctx context.Context, db onerow.DB, d Deletion) (Job, error) {
	if err := d.check(); err != nil {
		return Job{}, err
	}
	job := Job{Resource: d.Resource, ResourceID: d.ResourceID, DeletionID: d.ID, State: Ready, Tables: map[string]int64{}}
	grace := d.Grace.Microseconds()
	if grace > 0 {
		job.State = Scheduled
	}
	var out Job
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		out = job
		res, err := tx.ExecContext(ctx, sqlEnqueue, d.Resource, []byte(d.ResourceID), d.ID, string(job.State), grace, grace)
		if err != nil {
			return err
		}
		affected, err := res.RowsAffected()
		if err != nil {
			return err
		}
		if out.ID, err = res.LastInsertId(); err != nil {
			return err
		}
		if d.NoTrash {
			if err := trash.None(ctx, tx, out.ID); err != nil {
				return err
			}
		}
		if affected > 1 {
			out, err = Get(ctx, tx, out.ID)
		}
		return err
	})
	if err != nil {
		return Job{}, fmt.Errorf("cascade: enqueue %s %s: %w", d.Resource, d.ResourceID, err)
	}
	return out, nil
}

// EnqueuedMany is what [EnqueueMany] did.
type EnqueuedMany struct {
	Queued int `json:"queued"` // jobs that were made
	Open   int `json:"open"`   // deletions for whose row a job was open already
}

// enqueueManyAtOnce is how many deletions a transaction of EnqueueMany has.
const enqueueManyAtOnce = 500

// The rows of one INSERT get consecutive ids, @@auto_increment_increment apart, of which
// the server answers with the first: so the n-th deletion's id is known without asking.
// Otherwise the two are sqlLog and sqlEnqueue for many rows.
const (
	sqlLogMany     = `INSERT INTO onerow_deletion (resource, resource_id, owner, deleted_from, grace_us, requested_at) VALUES `
	logManyRow     = `(?, ?, ?, ?, ?, UTC_TIMESTAMP(6))`
	sqlEnqueueMany = `INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) VALUES `
	enqueueManyRow = `(?, ?, ? + ? * @@auto_increment_increment, ?, UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, UTC_TIMESTAMP(6))`
	enqueueManyEnd = ` ON DUPLICATE KEY UPDATE due_at = CASE state WHEN 'scheduled' THEN LEAST(due_at, VALUES(due_at))
  WHEN 'held' THEN LEAST(due_at - ` + heldFor + `, VALUES(due_at)) ELSE due_at END, state = IF(state = 'held', 'scheduled', state), batch_seq = batch_seq + 1`
	// Of the retention's: an open job goes on as it is, above all one that is held while its rows come back.
	enqueueDueEnd = ` ON DUPLICATE KEY UPDATE batch_seq = batch_seq + 1`
	// By the unique key one_open, see trash.None.
	sqlNoneOfMany = `INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at)
SELECT id, 0, '', '', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 400 DAY FROM onerow_job FORCE INDEX (one_open) WHERE `
)

// EnqueueMany logs deletions and queues their cascades, as [Log] and [Enqueue] do one at
// a time: whose ID is not 0 was logged before. 500 at a time are queued together or not at
// all, in the order of their rows; on an error the result says how many were.
//
// Two statements per 500, 3 with NoTrash, 1 more with an actor, in a transaction of its own on a pool; all
// in the caller's transaction otherwise. Calling it again with the same deletions is safe, also after
// [onerow.ErrOutcomeUnknown]: it logs them again, and their jobs are open.
func EnqueueMany(ctx context.Context, db onerow.DB, deletions []Deletion) (EnqueuedMany, error) {
	var done EnqueuedMany
	for _, d := range deletions {
		if err := d.check(); err != nil {
			return done, err
		}
	}
	sorted := slices.Clone(deletions) // all callers lock in one order
	slices.SortStableFunc(sorted, func(a, b Deletion) int {
		return cmp.Or(strings.Compare(a.Resource, b.Resource), strings.Compare(a.ResourceID, b.ResourceID))
	})
	for chunk := range slices.Chunk(sorted, enqueueManyAtOnce) {
		var queued int
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			queued, err = enqueueChunk(ctx, tx, chunk, enqueueManyEnd)
			return err
		})
		if err != nil {
			return done, fmt.Errorf("cascade: enqueue %d deletions, %d are queued: %w", len(deletions), done.Queued+done.Open, err)
		}
		done.Queued += queued
		done.Open += len(chunk) - queued
	}
	return done, nil
}

func enqueueChunk(ctx context.Context, tx *onerow.Tx, chunk []Deletion, end string) (queued int, err error) {
	first, err := logMany(ctx, tx, chunk)
	if err != nil {
		return 0, err
	}
	rows, args, logged := make([]string, len(chunk)), []any{}, 0
	for i, d := range chunk {
		rows[i] = enqueueManyRow
		id, nth := d.ID, 0
		if id == 0 {
			id, nth = first, logged
			logged++
		}
		state, grace := Ready, d.Grace.Microseconds()
		if grace > 0 {
			state = Scheduled
		}
		args = append(args, d.Resource, []byte(d.ResourceID), id, nth, string(state), grace)
	}
	// 1 for each row that is inserted, 2 for each that was there and is changed.
	affected, err := onerow.Affected(ctx, tx, sqlEnqueueMany+strings.Join(rows, ", ")+end, args...)
	if err == nil {
		err = noneOfMany(ctx, tx, chunk)
	}
	return 2*len(chunk) - int(affected), err
}

// noneOfMany has the open jobs of deletions keep nothing that say so. One statement, or none.
func noneOfMany(ctx context.Context, tx *onerow.Tx, chunk []Deletion) error {
	var rows []string
	var args []any
	for _, d := range chunk {
		if d.NoTrash {
			rows, args = append(rows, "resource = ? AND resource_id = ?"), append(args, d.Resource, []byte(d.ResourceID))
		}
	}
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, sqlNoneOfMany+strings.Join(rows, " OR ")+" ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at)", args...)
	return err
}

// logMany logs the deletions that are not logged yet, and returns the first one's id.
func logMany(ctx context.Context, tx *onerow.Tx, chunk []Deletion) (first int64, err error) {
	var rows []string
	var args []any
	for _, d := range chunk {
		if d.ID != 0 {
			continue
		}
		var owner any
		if d.Owner != "" {
			owner = []byte(d.Owner)
		}
		rows = append(rows, logManyRow)
		args = append(args, d.Resource, []byte(d.ResourceID), owner, d.From, d.Grace.Microseconds())
	}
	if len(rows) == 0 {
		return 0, nil
	}
	res, err := tx.ExecContext(ctx, sqlLogMany+strings.Join(rows, ", "), args...)
	if err != nil {
		return 0, err
	}
	if first, err = res.LastInsertId(); err != nil {
		return 0, err
	}
	return first, actMany(ctx, tx, first, len(rows))
}
