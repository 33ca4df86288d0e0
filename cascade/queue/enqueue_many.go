package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

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
	// By the unique key one_open, see sqlKeepNothing.
	sqlKeepNothingOfMany = `INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at)
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

// EnqueueDue is EnqueueMany for what the plan's retention has found to be due, 500 at most, as a part of a
// transaction: it returns how many jobs were made. An open job goes on as it is. Two statements.
func EnqueueDue(ctx context.Context, tx *onerow.Tx, deletions []Deletion) (queued int, err error) {
	return enqueueChunk(ctx, tx, deletions, enqueueDueEnd)
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
		err = keepNothingOfMany(ctx, tx, chunk)
	}
	return 2*len(chunk) - int(affected), err
}

// keepNothingOfMany has the open jobs of deletions keep nothing that say so. One statement, or none.
func keepNothingOfMany(ctx context.Context, tx *onerow.Tx, chunk []Deletion) error {
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
	_, err := tx.ExecContext(ctx, sqlKeepNothingOfMany+strings.Join(rows, " OR ")+" ON DUPLICATE KEY UPDATE expires_at = VALUES(expires_at)", args...)
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
