package flow

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/errtext"
)

const (
	maxFlow    = 255
	maxStage   = 64
	maxRequest = 255
	maxBlob    = 1<<24 - 1
)

// Run is a request's hold of a stage: a value, to be made from a message wherever one arrives.
type Run struct {
	// Flow is what is worked on, 1 to 255 bytes: "cart/42".
	Flow string
	// Stage is the part of it, up to 64 bytes; empty where a flow has one.
	Stage string
	// RequestID is the id of the message that started the stage, 1 to 255 bytes; see [Open].
	RequestID string
}

func (r Run) check() error {
	switch {
	case r.Flow == "" || len(r.Flow) > maxFlow:
		return fmt.Errorf("%w: the name of a flow has %d bytes, 1 to %d fit", ErrInvalidArgument, len(r.Flow), maxFlow)
	case len(r.Stage) > maxStage:
		return fmt.Errorf("%w: a stage of flow %q has %d bytes, %d fit", ErrInvalidArgument, r.Flow, len(r.Stage), maxStage)
	case r.RequestID == "" || len(r.RequestID) > maxRequest:
		return fmt.Errorf("%w: a request id of flow %q has %d bytes, 1 to %d fit", ErrInvalidArgument, r.Flow, len(r.RequestID), maxRequest)
	}
	return nil
}

func (r Run) wrap(verb string, err error) error {
	if err == nil || errors.Is(err, ErrOwned) || errors.Is(err, ErrLost) { // they say all
		return err
	}
	return errtext.Wrap(err, "flow: %s stage %q of flow %q for request %q", verb, r.Stage, r.Flow, r.RequestID)
}

// Status is what became of a request id.
type Status string

// The statuses of an admitted request id. The last two are final.
const (
	Running    Status = "running"
	Finished   Status = "finished"
	Superseded Status = "superseded"
)

// sqlProve locks the stage's row, by the primary key, until the transaction ends, so that Finish and
// Supersede wait. It always changes the row, so no affected row means: not the owner.
const sqlProve = `UPDATE onerow_flow SET version = version + 1 WHERE flow = ? AND stage = ? AND request_id = ?`

// Prove proves that the request owns its stage, until the transaction ends. Make it the first statement of
// every transaction that writes for the flow: the others then commit only while the request is the owner.
// Otherwise the error is [ErrLost], with the reason; roll back and stop. One statement, two when it is lost.
//
// Two transactions of one stage wait for each other, so keep them short. On a pool it proves nothing about
// what follows.
func Prove(ctx context.Context, tx onerow.DB, r Run) error {
	if err := r.check(); err != nil {
		return err
	}
	n, err := onerow.Affected(ctx, tx, sqlProve, r.Flow, r.Stage, r.RequestID)
	if err == nil && n == 0 {
		err = r.lost(ctx, tx)
	}
	return r.wrap("prove", err)
}

// sqlStatus: the primary key; a current read, for transactions with an old snapshot.
const sqlStatus = `SELECT status, COALESCE(superseded_by, '') FROM onerow_flow_request
 WHERE flow = ? AND stage = ? AND request_id = ? LOCK IN SHARE MODE`

// lost says why the request is not the owner.
func (r Run) lost(ctx context.Context, db onerow.DB) error {
	lost := &LostError{Run: r}
	err := onerow.QueryRow(ctx, db, sqlStatus, []any{r.Flow, r.Stage, r.RequestID}, &lost.Status, &lost.By)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("ask what became of the request: %w", err)
	}
	if lost.Status == Running { // without a stage row, it never was more than a trace
		lost.Status = ""
	}
	return lost
}

// Owns is the proof as a condition for an UPDATE or a DELETE of the application's own:
//
//	owns, args := run.Owns()
//	n, err := onerow.Affected(ctx, db, "UPDATE cart SET total = ?, version = version + 1 WHERE id = ? AND "+owns,
//		append([]any{total, id}, args...)...)
//
// It holds a share lock on the stage's row until the write's transaction ends. No affected row means that the
// request is not the owner, or that there is no such row; see [Prove] for the reason. The write must change
// its row, whatever the driver counts. Not in one transaction with Prove.
func (r Run) Owns() (condition string, args []any) {
	return `EXISTS (SELECT 1 FROM onerow_flow WHERE flow = ? AND stage = ? AND request_id = ? LOCK IN SHARE MODE)`,
		[]any{r.Flow, r.Stage, r.RequestID}
}
