package work

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
)

// sparedPrefix begins what is noted with a job that the plan's retention asked for and that has deleted
// nothing, see TakenBack.
const sparedPrefix = "retention: "

// TakenBack holds for an archived job a whose deletion somebody has taken back: by an undo, a restore or a
// cancel. A job that was spared is none.
const TakenBack = `a.state IN ('cancelled', 'restored') AND COALESCE(a.last_error, '') NOT LIKE '` + sparedPrefix + `%'`

// dueMore is read beside the row's age: whether a person has asked for its deletion since, which then is this
// job's, by the audit's index (resource, resource_id); when somebody has taken one back, in microseconds
// since 1970, by the archive's index (resource, resource_id); and the clock. Neither is locked.
const dueMore = `EXISTS (SELECT 1 FROM onerow_deletion AS d FORCE INDEX (resource) WHERE d.resource = ? AND d.resource_id = ? AND d.id > ? AND d.deleted_from <> '` + queue.FromDue + `'),
  (SELECT COALESCE(MAX(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', a.finished_at)), 0) FROM onerow_job_archive AS a FORCE INDEX (resource)
   WHERE a.resource = ? AND a.resource_id = ? AND ` + TakenBack + `), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`

// isDue asks, before anything is deleted, whether a row that the plan's retention has found is due still: it
// may have been written since, the plan may have changed, or somebody may have taken its deletion back.
// ready: it goes. ended: it stays, and the job has ended as cancelled. Neither: it has moved, so the pass
// begins anew.
//
// The root is locked for that, and the commit of this batch, which notes the plan that the job is begun
// under, decides: whoever writes the row before is seen, who comes later comes too late, and another attempt
// does not ask again. A root that is gone, or that a deletion hides, was deleted by somebody: then what is
// below it goes. Five statements.
func (p *pass) isDue(ctx context.Context) (ended, ready bool, err error) {
	if !p.Due {
		return false, true, nil
	}
	if !p.expected.found || p.expected.deletion.Valid {
		p.Due = false
		return false, true, nil
	}
	err = p.batch(ctx, func(ctx context.Context, tx *onerow.Tx, _ Tally) (bool, error) {
		ended = false
		why, err := p.spared(ctx, tx)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return false, errMoved
		case err != nil || why == "":
			return false, err
		}
		ended = true
		return true, p.lease.End(ctx, tx, queue.Cancelled, sparedPrefix+why)
	})
	if errors.Is(err, errMoved) {
		return false, false, nil
	}
	p.Due = p.Due && err != nil
	return ended, err == nil, err
}

var errMoved = errors.New("cascade: the root row has moved")

// spared locks the root row and says why it stays, or nothing.
func (p *pass) spared(ctx context.Context, tx *onerow.Tx) (why string, err error) {
	d := p.expected.table.Due
	if d == nil {
		return fmt.Sprintf("the plan has none for %s any more", p.expected.table.Name), nil
	}
	if d.Err != nil {
		return "", d.Err
	}
	var age sql.NullString
	var asked bool
	var back, now int64
	id := []byte(p.ResourceID)
	if err := onerow.QueryRow(ctx, tx, d.AgeSQL(p.Root, dueMore), []any{p.Resource, id, p.DeletionID, p.Resource, id}, &age, &asked, &back, &now); err != nil {
		return "", err
	}
	at := time.UnixMicro(now)
	switch cutoff := d.Cutoff(at); {
	case asked:
		return "", nil
	case d.Undated(age):
		return "its date, " + age.String + ", has no month or no day, so nobody knows how old the row is", nil
	case !d.IsDue(age, cutoff):
		return "the row is not due any more, it was written since it was found", nil
	case back > 0 && time.UnixMicro(back).Add(time.Duration(d.Policy.Keep)).After(at):
		return "somebody has taken a deletion of the row back, so it stays as if it was new", nil
	}
	return "", nil
}
