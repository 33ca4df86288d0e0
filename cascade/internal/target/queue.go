package target

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// Queue queues one row and says what became of it.
func Queue(ctx context.Context, db *sql.DB, root Row, want queue.Deletion, mustExist bool) (string, error) {
	var job queue.Job
	var logged queue.Deletion
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		job, logged, err = enqueue(ctx, tx, root, want, mustExist)
		return err
	})
	switch {
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return "", fmt.Errorf("%w; enqueue again is safe: at most one job is open for a row", err)
	case err != nil:
		return "", fmt.Errorf("nothing was queued: %w", err)
	}
	return told(job, logged), nil
}

// enqueue logs the deletion and queues its job. The row's place is read without a lock, for it decides
// nothing: a delete that hides the row meanwhile queues a job of its own, and the one that is open counts.
func enqueue(ctx context.Context, tx *onerow.Tx, root Row, want queue.Deletion, mustExist bool) (queue.Job, queue.Deletion, error) {
	d, err := root.Place(ctx, tx)
	if err == nil && mustExist {
		err = NotThere([]queue.Deletion{d})
	}
	if err != nil {
		return queue.Job{}, d, err
	}
	d.Grace, d.NoTrash = want.Grace, want.NoTrash
	hidden := d.ID
	if d.ID, err = queue.Log(ctx, tx, d); err != nil {
		return queue.Job{}, d, err
	}
	if hidden != 0 { // deleted already: a job may take it away only under that deletion
		d.ID = hidden
	}
	job, err := queue.Enqueue(ctx, tx, d)
	return job, d, err
}

// told says what was queued, or what was there.
func told(job queue.Job, d queue.Deletion) string {
	line := fmt.Sprintf("job %d: %s is queued", job.ID, output.RowName(job))
	switch {
	case !job.CreatedAt.IsZero():
		// Only a job that was read from the database has its times.
		line = fmt.Sprintf("job %d was open for %s already and is %s", job.ID, output.RowName(job), job.State)
		if job.State == queue.Scheduled {
			line += ", due " + output.Moment(job.DueAt) + " UTC"
		}
		return line
	case d.Grace > 0:
		line += fmt.Sprintf(", due in %s; %s undo %d takes it back until then", d.Grace, output.ProgramName, d.ID)
	}
	if d.From == "" {
		line += "; the row is not there, it is gone already or never was: only what is left below it will be deleted"
	}
	return line
}
