package repo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/schema"
)

// ErrNoDeletion means: no deletion of that number was ever logged.
var ErrNoDeletion = answers.New(404, "no such deletion", "repo: no such deletion")

// Restored is the answer of [Restore].
type Restored struct {
	// DeletionID is the deletion that was taken back.
	DeletionID int64
	// Resource and Key name the row; the key is encoded, see [onerow.EncodeKey].
	Resource, Key string
	// State is where the row is now. Empty: it is gone, or its table is not one that the
	// toolkit made, whose rows stay where they are during the grace period.
	State schema.State
	// Name is the name that the row has now, empty where rows have no names. OldName is
	// the one that it was deleted under; another one means that it was taken meanwhile.
	Name, OldName string
	// Changed says whether this call took the deletion back; false means that it was taken back before.
	Changed bool
}

// Renamed says whether the row came back under another name.
func (r Restored) Renamed() bool { return r.OldName != "" && r.Name != r.OldName }

// anyRepo is the repository of a resource whose struct is not known here: of its keys, its name and, first,
// its state. It serves the verbs that move rows, which copy all columns of the declaration in SQL.
func anyRepo(plan schema.Plan, resource string) (*untyped, error) {
	r, err := declared(plan, resource)
	if err != nil {
		return nil, err
	}
	fields := []reflect.StructField{{Name: "State", Type: reflect.TypeFor[string](), Tag: `db:"-"`}}
	add := func(column string, typ reflect.Type) {
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("F", len(fields)), Type: typ, Tag: reflect.StructTag(fmt.Sprintf("db:%q", column))})
	}
	for _, column := range append([]string{r.res.ID}, r.home...) {
		add(column, reflect.TypeFor[any]())
	}
	if r.res.Named() {
		add(r.res.Label.Column, reflect.TypeFor[string]())
	}
	r.typ = reflect.StructOf(fields)
	if r.fields, err = mapFields(r.typ, r.res); err != nil {
		return nil, err
	}
	r.fields.state = []int{0}
	r.prepare()
	return r, nil
}

// sqlDeletion reads by the primary key; a logged deletion never changes. It is a current
// read, for the snapshot of a caller's transaction may be older than the deletion.
const sqlDeletion = `SELECT resource, resource_id FROM onerow_deletion WHERE id = ? LOCK IN SHARE MODE`

// sqlLockJob locks the deletion's open job by the unique key one_open, exclusively at
// once: Cancel follows, and a share lock that turns exclusive deadlocks.
const sqlLockJob = `SELECT deletion_id FROM onerow_job WHERE resource = ? AND resource_id = ? FOR UPDATE`

// Restore takes back a deletion whose grace period has not ended, by the deletion's number, for a caller that
// has the plan and not the row's Go type: exactly what [Of.CancelDelete] does, and only if it is this
// deletion that hides the row. A row that is not hidden, because its job was queued from the command line or
// its table is not the toolkit's, stays where it is; only the job is cancelled. A deletion that was already
// taken back is a success that changes nothing.
//
// Errors: [ErrNoDeletion]; [ErrTooLate] when a worker has the job, or had it; [queue.ErrOtherDeletion] when
// another deletion hides the row or has the open job; [schema.ErrUnknownResource]; those of [Of.Activate],
// and [onerow.ErrOutcomeUnknown], after which it may simply be called again.
//
// Atomic: job, row and quota mark. Statements on a pool: 1 to read the deletion, then those of CancelDelete
// and 1 more.
func Restore(ctx context.Context, db onerow.DB, plan schema.Plan, deletionID int64) (Restored, error) {
	out := Restored{DeletionID: deletionID}
	logged, err := found(onerow.QueryRow(ctx, db, sqlDeletion, []any{deletionID}, &out.Resource, &out.Key))
	if err != nil {
		return Restored{}, errtext.Wrap(err, "repo: read deletion %d", deletionID)
	}
	if !logged {
		return Restored{}, fmt.Errorf("%w: %d", ErrNoDeletion, deletionID)
	}
	node, err := plan.Node(out.Resource)
	if err != nil {
		return Restored{}, errtext.Wrap(err, "repo: undo deletion %d of %s %s", deletionID, out.Resource, out.Key)
	}
	if node.Managed {
		back, err := restoreRow(ctx, db, plan, out)
		if !errors.Is(err, onerow.ErrInvalidKey) {
			return back, err
		}
		// No row can have this id, so none is hidden: there is a job alone.
	}
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		out.Changed, err = cancelJob(ctx, tx, out)
		return err
	})
	if err != nil {
		return Restored{}, errtext.Wrap(err, "repo: undo deletion %d of %s %s", deletionID, out.Resource, out.Key)
	}
	return out, nil
}

// restoreRow is Restore for a row of the toolkit's tables.
func restoreRow(ctx context.Context, db onerow.DB, plan schema.Plan, want Restored) (Restored, error) {
	r, err := anyRepo(plan, want.Resource)
	if err != nil {
		return Restored{}, err
	}
	id, err := r.decodeID(want.Key)
	if err != nil {
		return Restored{}, errtext.Wrap(err, "repo: undo deletion %d", want.DeletionID)
	}
	var out Restored
	var d cancelling
	c := call{verb: fmt.Sprintf("undo deletion %d of", want.DeletionID), id: id}
	res, err := r.bringBack(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) (b back, err error) {
		b, out, err = r.restoreTx(ctx, tx, id, want, &d)
		return b, err
	})
	if err = r.hold(ctx, db, d, err); err != nil {
		return Restored{}, err
	}
	if res.row.IsValid() {
		out.State = schema.State(res.row.Field(0).String())
	}
	if res.row.IsValid() && r.res.Named() {
		out.Name = r.label(res.row)
	}
	return out, nil
}

// restoreTx locks the row where a deletion would have hidden it, so that no other
// deletion can take this one's place, and then does what CancelDelete does.
func (r *untyped) restoreTx(ctx context.Context, tx *onerow.Tx, id any, want Restored, c *cancelling) (b back, out Restored, err error) {
	out, *c = want, cancelling{}
	h, found, err := r.lock(ctx, tx, schema.Archived, id)
	switch {
	case err != nil:
		return b, out, err
	case found && h.deletionID == want.DeletionID:
		out.Changed, out.OldName = true, h.label
		b, err = r.cancelTx(ctx, tx, id, c)
		return b, out, err
	case found && h.deletionID != 0:
		return b, out, fmt.Errorf("%w: deletion %d hides it; undo that one", queue.ErrOtherDeletion, h.deletionID)
	}
	changed, jobErr := cancelJob(ctx, tx, want)
	if jobErr != nil && !errors.Is(jobErr, ErrTooLate) && !errors.Is(jobErr, queue.ErrOtherDeletion) {
		return b, out, jobErr
	}
	out.Changed = changed
	res, err := r.answerNotHidden(ctx, tx, id)
	gone := errors.Is(err, ErrTooLate) || errors.Is(err, onerow.ErrNotFound)
	switch {
	case err != nil && !gone: // errMoved among others: a move or a deletion got in between
		return b, out, err
	case jobErr != nil:
		return b, out, jobErr
	}
	// Nothing hides the row, or it is gone by another deletion: this one is taken back.
	return back{answer: &res}, out, nil
}

// cancelJob cancels the deletion's job and says whether that changed anything; an
// earlier cancel is a success. Four statements, 2 when there is no open job.
func cancelJob(ctx context.Context, tx *onerow.Tx, d Restored) (changed bool, err error) {
	var open int64
	if _, err = found(onerow.QueryRow(ctx, tx, sqlLockJob, []any{d.Resource, []byte(d.Key)}, &open)); err != nil {
		return false, err
	}
	changed = open == d.DeletionID
	err = queue.Cancel(ctx, tx, d.Resource, d.Key, d.DeletionID)
	switch {
	case err == nil:
		return changed, nil
	case errors.Is(err, queue.ErrTooLate) && open != 0 && !changed:
		return false, fmt.Errorf("%w: the open job of %s %s belongs to deletion %d; undo that one", queue.ErrOtherDeletion, d.Resource, d.Key, open)
	case errors.Is(err, queue.ErrTooLate):
		return false, errtext.Errorf("%w: %w", ErrTooLate, err)
	}
	return false, err
}

const cancellingText = "somebody cancels it: run cascade-worker cancel again if nobody does, or retry the job to let the deletion go on"

// CancelJob ends a deletion that has begun, or not yet: what its job has deleted stays gone, unless
// recover.Job brings it back, what is left stays, and the row itself returns to where it was, as by
// [Restore]. It is for operators: what is below the row is a part of what was. The job says what is gone,
// by table; see also admin.TrashOf. A job that was cancelled before is a success that changes nothing.
//
// Errors: those of [queue.HoldJob] and of [Restore]; after one of Restore the job is held, no worker
// takes it, and CancelJob may be called again.
//
// Atomic are the hold, and the return of the row with the job's end and its quota mark. It may be called
// again after any error or crash.
func CancelJob(ctx context.Context, db *sql.DB, plan schema.Plan, jobID int64) (Restored, queue.Job, error) {
	job, err := queue.HoldJob(ctx, db, jobID, cancellingText)
	if err != nil {
		return Restored{}, job, err
	}
	back := Restored{DeletionID: job.DeletionID, Resource: job.Resource, Key: job.ResourceID}
	switch {
	case job.DeletionID == 0: // queued by SQL of the application's own
		err = queue.Cancel(ctx, db, job.Resource, job.ResourceID, 0)
		back.Changed = err == nil && job.State.Open()
	case job.State == queue.Cancelled, job.State == queue.Restored:
	default:
		back, err = Restore(ctx, db, plan, job.DeletionID)
	}
	if err != nil {
		return back, job, errtext.Wrap(err, "repo: job %d is held, but could not be cancelled", jobID)
	}
	job, err = queue.Get(ctx, db, jobID)
	return back, job, err
}
