package flow

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/trace"
)

// Outcome of a [Claim] or [Supersede].
type Outcome string

// The outcomes. Done is the one with which there is nothing to do.
const (
	// Admitted: the request owns the stage from now on.
	Admitted Outcome = "admitted"
	// Redelivered: the request owns the stage already. Run all of its work again; each part of
	// it is idempotent.
	Redelivered Outcome = "redelivered"
	// Done: the request has finished the flow. Drop the message.
	Done Outcome = "done"
)

// Result is the answer of [Claim], [Supersede] and [Finish]. Replayed says that an earlier call did it.
type Result struct {
	onerow.Result[Run]
	Outcome Outcome
}

// sqlClaim decides: the primary key (flow, stage) admits one request id. Another call waits
// here until the first has ended. It locks its own new row.
const sqlClaim = `INSERT INTO onerow_flow (flow, stage, request_id, call_token, claimed_at) VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6))`

// sqlAdmit: the primary key refuses an id that has ended before. An insert and not a
// read, because a snapshot may be older than the end.
const sqlAdmit = `INSERT INTO onerow_flow_request (flow, stage, request_id, status, admitted_at) VALUES (?, ?, ?, 'running', UTC_TIMESTAMP(6))`

// Claim admits the request to its stage. The outcome is Admitted, Redelivered or Done;
// a stage that belongs to another request is [ErrOwned], and a request that was
// superseded [ErrSuperseded]. Neither error has written anything.
//
// On a pool it is a transaction of its own, run again when the server refuses it and also
// when the answer to COMMIT is lost. On a transaction it is a part of that.
func Claim(ctx context.Context, db onerow.DB, r Run) (Result, error) {
	if err := r.check(); err != nil {
		return Result{}, err
	}
	return r.own(ctx, db, "claim", r.claim)
}

// ClaimAfter is [Claim], and admits the request only while cause, the run whose message it is, owns its own
// stage. One statement more, the first.
func ClaimAfter(ctx context.Context, db onerow.DB, r, cause Run) (_ Result, err error) {
	ctx, span := trace.Start(ctx, "flow.Claim", slog.String("onerow.flow", r.Flow))
	defer span.End(&err)
	if err := errors.Join(r.check(), cause.check()); err != nil {
		return Result{}, err
	}
	return r.own(ctx, db, "claim", func(ctx context.Context, tx *onerow.Tx, token []byte) (Result, error) {
		if err := Prove(ctx, tx, cause); err != nil {
			return Result{}, err
		}
		return r.claim(ctx, tx, token)
	})
}

// savepoint is where a verb that fails in a caller's transaction goes back to: its owner may commit. No verb
// of this package calls another.
const savepoint = "onerow_flow"

// own runs a verb that makes the run an owner.
func (r Run) own(ctx context.Context, db onerow.DB, verb string, fn func(context.Context, *onerow.Tx, []byte) (Result, error)) (Result, error) {
	token := make([]byte, 16)
	rand.Read(token) // never an error
	var res Result
	err := onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		return tx.Savepoint(ctx, savepoint, func() (err error) {
			res, err = fn(ctx, tx, token)
			return err
		})
	})
	if err != nil {
		return Result{}, r.wrap(verb, err)
	}
	res.Row = r
	return res, nil
}

func (r Run) claim(ctx context.Context, tx *onerow.Tx, token []byte) (res Result, err error) {
	_, err = tx.ExecContext(ctx, sqlClaim, r.Flow, r.Stage, r.RequestID, token)
	switch {
	case mysqlerr.Classify(err) == mysqlerr.Duplicate:
		return r.owned(ctx, tx, token)
	case err != nil:
		return res, fmt.Errorf("claim: %w", err)
	}
	_, err = tx.ExecContext(ctx, sqlAdmit, r.Flow, r.Stage, r.RequestID)
	switch {
	case mysqlerr.Classify(err) == mysqlerr.Duplicate:
		return r.ended(ctx, tx, true)
	case err != nil:
		return res, fmt.Errorf("admit: %w", err)
	}
	return admitted(true), nil
}

func admitted(now bool) Result {
	if now {
		return Result{onerow.Result[Run]{Changed: true}, Admitted}
	}
	return Result{onerow.Result[Run]{Replayed: true}, Redelivered}
}

// By the primary key. sqlOwner is a current read of the row that refused the INSERT; sqlTrace
// a plain one, because the request may well have no row, and a locking read would lock its gap.
const (
	sqlOwner = `SELECT request_id, call_token, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', claimed_at) FROM onerow_flow
 WHERE flow = ? AND stage = ? LOCK IN SHARE MODE`
	sqlTrace = `SELECT status, COALESCE(superseded_by, '') FROM onerow_flow_request WHERE flow = ? AND stage = ? AND request_id = ?`
)

// owned answers a claim of a stage that has an owner: the same request, or another.
func (r Run) owned(ctx context.Context, tx *onerow.Tx, called []byte) (res Result, err error) {
	owner := &OwnedError{Run: r}
	var token []byte
	var since int64
	err = onerow.QueryRow(ctx, tx, sqlOwner, []any{r.Flow, r.Stage}, &owner.Owner, &token, &since)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return res, errMoved
	case err != nil:
		return res, fmt.Errorf("read the owner: %w", err)
	case owner.Owner == r.RequestID:
		return admitted(string(token) == string(called)), nil
	}
	owner.Since = time.UnixMicro(since).UTC()
	lost := &LostError{Run: r}
	err = onerow.QueryRow(ctx, tx, sqlTrace, []any{r.Flow, r.Stage, r.RequestID}, &lost.Status, &lost.By)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return res, fmt.Errorf("ask what became of the request: %w", err)
	case lost.Status == Finished:
		return Result{onerow.Result[Run]{Replayed: true}, Done}, nil
	case lost.Status == Superseded:
		return res, lost
	}
	return res, owner
}

// sqlUnclaim: by the primary key, the row that this transaction inserted.
const sqlUnclaim = `DELETE s FROM onerow_flow AS s WHERE flow = ? AND stage = ? AND request_id = ?`

// ended answers for a request id that was admitted earlier. claimed says that this
// transaction inserted the stage's row, which is taken back unless the request is still
// running (its stage row was lost outside this package).
func (r Run) ended(ctx context.Context, tx *onerow.Tx, claimed bool) (res Result, err error) {
	lost := &LostError{Run: r}
	err = onerow.QueryRow(ctx, tx, sqlStatus, []any{r.Flow, r.Stage, r.RequestID}, &lost.Status, &lost.By)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return res, errMoved
	case err != nil:
		return res, fmt.Errorf("ask what became of the request: %w", err)
	case lost.Status == Running:
		return admitted(false), nil
	}
	if claimed {
		if _, err := tx.ExecContext(ctx, sqlUnclaim, r.Flow, r.Stage, r.RequestID); err != nil {
			return res, fmt.Errorf("take the claim back: %w", err)
		}
	}
	if lost.Status == Superseded {
		return res, lost
	}
	return Result{onerow.Result[Run]{Replayed: true}, Done}, nil
}
