package admin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
	"github.com/onerow/onerow/cascade/internal/trash"
	"github.com/onerow/onerow/cascade/queue"
)

// errNoDeletion means that there is no deletion with this number: there never was, or its audit was purged.
var errNoDeletion = fmt.Errorf("%w: there is no such deletion", queue.ErrNoJob)

// Report says what became of a deletion: who asked for it and why, what went and what is left. What was
// purged since is not in it, see [queue.PurgeJobs].
type Report struct {
	DeletionID int64 `json:"deletion_id,omitempty"`
	// Resource, ResourceID and Owner are encoded as in [queue.Job].
	Resource   string `json:"resource"`
	ResourceID string `json:"resource_id"`
	Owner      string `json:"owner,omitempty"`
	// From is where the row was deleted from, see [queue.Deletion]; RequestedAt when, and Grace how long it
	// could be taken back. Of a job without an audit nothing of this is known.
	From        string        `json:"from,omitempty"`
	RequestedAt time.Time     `json:"requested_at,omitzero"`
	Grace       time.Duration `json:"grace_ns,omitempty"`
	// Actor and Reason are those of the delete; "" where it did not say, see [queue.WithActor].
	Actor  string `json:"actor,omitempty"`
	Reason string `json:"reason,omitempty"`
	// Job is the deletion's job, with what it has deleted and detached; nil where none is known. It may
	// belong to an earlier deletion of the same row, whose job was still open.
	Job *queue.Job `json:"job"`
	// Left are rows that could not be deleted, newest first, 1000 at most: Job.Parked and
	// Job.Skipped say how many there are.
	Left []queue.Parked `json:"left"`
	// Restored is what has come back, Rows and References by Table, over all calls: the root's own row is
	// among it.
	Restored []Kept `json:"restored,omitempty"`
	// Trash is what can still come back, by table.
	Trash []Kept `json:"trash"`
	// Actions are all that are known, oldest first, 1000 at most.
	Actions []queue.Action `json:"actions"`
}

// maxReported is how many rows and actions a report lists at most.
const maxReported = 1000

// sqlDeletion reads by the primary key.
const sqlDeletion = `SELECT resource, resource_id, COALESCE(owner, ''), deleted_from, grace_us, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', requested_at)
FROM onerow_deletion WHERE id = ?`

// sqlJobOfDeletion reads the row's part of the unique key one_open, and of the archive's index (resource,
// resource_id, id), the newest first.
const sqlJobOfDeletion = `SELECT id FROM (
  (SELECT id, deletion_id = ? AS own FROM onerow_job FORCE INDEX (one_open) WHERE resource = ? AND resource_id = ?)
  UNION ALL (SELECT id, deletion_id = ? FROM onerow_job_archive FORCE INDEX (resource) WHERE resource = ? AND resource_id = ? ORDER BY id DESC LIMIT 100)
) AS jobs ORDER BY own DESC, id DESC LIMIT 1`

// ReadReport reports on a deletion, by its number, Deletion.ID; or, with 0 for that, on the deletion of a
// job. Where the audit of the job's deletion is not known it reports on the job alone. Errors:
// [queue.ErrNoJob], for what is no deletion, too. Seven statements, 8 for a job's, not of one snapshot.
func ReadReport(ctx context.Context, db onerow.DB, deletionID, jobID int64) (Report, error) {
	if deletionID != 0 {
		return readDeletion(ctx, db, deletionID)
	}
	job, err := queue.Get(ctx, db, jobID)
	if err != nil {
		return Report{}, err
	}
	if job.DeletionID != 0 {
		r, err := readDeletion(ctx, db, job.DeletionID)
		if !errors.Is(err, errNoDeletion) && (err != nil || r.Job != nil && r.Job.ID == jobID) {
			return r, err
		}
	}
	r := Report{DeletionID: job.DeletionID, Resource: job.Resource, ResourceID: job.ResourceID}
	return r, r.complete(ctx, db, jobID, true)
}

func readDeletion(ctx context.Context, db onerow.DB, deletionID int64) (Report, error) {
	r := Report{DeletionID: deletionID}
	var owner, from []byte
	var grace, job int64
	var when sql.NullInt64
	err := onerow.QueryRow(ctx, db, sqlDeletion, []any{deletionID}, &r.Resource, &r.ResourceID, &owner, &from, &grace, &when)
	if errors.Is(err, sql.ErrNoRows) {
		return Report{}, fmt.Errorf("%w: %d", errNoDeletion, deletionID)
	}
	if err == nil {
		r.Owner, r.From, r.Grace, r.RequestedAt = string(owner), string(from), time.Duration(grace)*time.Microsecond, dbtime.At(when)
		row := []any{deletionID, r.Resource, []byte(r.ResourceID)}
		err = onerow.QueryRow(ctx, db, sqlJobOfDeletion, append(row, row...), &job)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return Report{}, fmt.Errorf("cascade: report on deletion %d: %w", deletionID, err)
	}
	return r, r.complete(ctx, db, job, err == nil)
}

// complete reads what is known of the job, if there is one, and what was done.
func (r *Report) complete(ctx context.Context, db onerow.DB, jobID int64, known bool) error {
	r.Left, r.Trash, r.Actions = []queue.Parked{}, []Kept{}, []queue.Action{}
	if known {
		job, err := queue.Get(ctx, db, jobID)
		if err == nil {
			r.Job = &job
			r.Left, err = queue.ListParked(ctx, db, queue.ParkedOptions{JobID: &jobID, Limit: maxReported})
		}
		if err == nil {
			r.Trash, err = TrashOf(ctx, db, jobID)
		}
		if err == nil {
			r.Restored, err = readAll(ctx, db, fmt.Sprintf("cascade: what of job %d was restored", jobID), sqlRestoredOf, []any{jobID},
				func(rows *sql.Rows, t *Kept) error { return rows.Scan(&t.Table, &t.Rows, &t.References) })
		}
		if err != nil && !errors.Is(err, queue.ErrNoJob) { // purged this moment
			return err
		}
	}
	if r.DeletionID == 0 && jobID == 0 { // of which an action says that it has none
		return nil
	}
	var err error
	if r.Actions, err = queue.ListActions(ctx, db, r.DeletionID, jobID, maxReported); err != nil {
		return fmt.Errorf("cascade: read what was done about deletion %d: %w", r.DeletionID, err)
	}
	for _, a := range r.Actions {
		if a.Action == "delete" && a.DeletionID == r.DeletionID {
			r.Actor, r.Reason = a.Actor, a.Reason
		}
	}
	return nil
}

// sqlRestoredOf reads the job's part of the primary key.
const sqlRestoredOf = `SELECT table_name, SUM(IF(cut = '', kept_rows, 0)), SUM(IF(cut = '', 0, kept_rows)) FROM onerow_trash FORCE INDEX (PRIMARY)
WHERE job_id = ? AND step < 0 AND step > ` + trash.StepEnded + ` GROUP BY table_name ORDER BY table_name`
