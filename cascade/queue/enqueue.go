package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

// Enqueue queues the cascade of a deletion: ready at once, or scheduled for the end
// of the grace period. Give it the transaction that deletes or hides the root row.
//
// When a job is open for the row it is returned instead: a scheduled or held one, which is
// scheduled then, after it was given the earlier of the two times, a ready or running one as it is. Compare
// DeletionID to tell. A paused one stays so. A job that was just made is returned without its times,
// which only the database knows.
//
// It sends 1 statement more with NoTrash; and 1 where the job's id is not above After, 5 where it gets
// another.
func Enqueue(ctx context.Context, db onerow.DB, d Deletion) (Job, error) {
	if err := d.check(); err != nil {
		return Job{}, err
	}
	var job Job
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		job = Job{Resource: d.Resource, ResourceID: d.ResourceID, DeletionID: d.ID, State: d.state(), Tables: map[string]int64{}}
		res, err := insertJobs(ctx, tx, []Deletion{d}, 0, sqlMerge+`, id = LAST_INSERT_ID(id)`)
		if err != nil {
			return err
		}
		affected, err := res.RowsAffected()
		if err == nil {
			job.ID, err = res.LastInsertId()
		}
		if err == nil && affected > 1 {
			job, err = Get(ctx, tx, job.ID)
		}
		if err == nil && job.ID <= d.After {
			job.ID, err = distinct(ctx, tx, job.ID)
		}
		return err
	})
	if err != nil {
		return Job{}, fmt.Errorf("cascade: enqueue %s %s: %w", d.Resource, d.ResourceID, err)
	}
	return job, nil
}

// enqueueManyAtOnce is how many deletions a transaction of EnqueueMany has.
const enqueueManyAtOnce = 500

// EnqueueMany logs deletions and queues their cascades, as [Log] and [Enqueue] do one at a time: whose ID is
// not 0 was logged before; After is not looked at. It returns how many jobs it has made, and how many
// deletions are of rows for which a job was open already, with an error too: 500 at a time are queued
// together or not at all, in the order of their rows. Where a job is open for the row of a deletion that is
// [FromDue], it goes on as it is: such deletions and others are not queued together.
//
// It sends 1 statement more per 500 with NoTrash. Called again with the same deletions it logs them again,
// and their jobs are open.
func EnqueueMany(ctx context.Context, db onerow.DB, deletions []Deletion) (queued, open int, err error) {
	for _, d := range deletions {
		if err := d.check(); err != nil {
			return 0, 0, err
		}
	}
	sorted := slices.Clone(deletions) // all callers lock in one order
	slices.SortStableFunc(sorted, func(a, b Deletion) int {
		return cmp.Or(strings.Compare(a.Resource, b.Resource), strings.Compare(a.ResourceID, b.ResourceID))
	})
	for len(sorted) > 0 {
		n := 1
		for n < min(len(sorted), enqueueManyAtOnce) && (sorted[n].From == FromDue) == (sorted[0].From == FromDue) {
			n++
		}
		made, err := enqueueMany(ctx, db, sorted[:n])
		if err != nil {
			return queued, open, fmt.Errorf("cascade: enqueue %d deletions, %d are queued: %w", len(deletions), queued+open, err)
		}
		queued, open, sorted = queued+made, open+n-made, sorted[n:]
	}
	return queued, open, nil
}

// enqueueMany logs and queues deletions, all of which are [FromDue] or none, and returns how many jobs it has
// made.
func enqueueMany(ctx context.Context, db onerow.DB, deletions []Deletion) (made int, err error) {
	merge := sqlMerge
	if deletions[0].From == FromDue {
		merge = sqlLeaveOpen
	}
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		first, logged, err := logAll(ctx, tx, deletions)
		if err == nil {
			err = actOnLogged(ctx, tx, first, logged)
		}
		if err != nil {
			return err
		}
		res, err := insertJobs(ctx, tx, deletions, first, merge)
		if err != nil {
			return err
		}
		affected, err := res.RowsAffected()
		made = 2*len(deletions) - int(affected) // 1 for each row that is inserted, 2 for each that was there
		return err
	})
	return made, err
}
