package serial

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// sqlInsertClaim decides: of two calls with one key the primary key lets one in, and
// the other waits here until the first has ended. It locks only its own new row, so
// nobody who waits here keeps the counter from others.
const sqlInsertClaim = `INSERT INTO onerow_serial_claim (series, claim_key, amount, call_token, claimed_at)
 VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6))`

// sqlAdvance locks the counter exclusively, by the primary key, until the transaction
// ends; that is the queue of the series. It is a current read and a write in one, and
// its answer carries the new counter, whatever this transaction's snapshot is.
const sqlAdvance = `INSERT INTO onerow_serial (series, first_no, next_no) VALUES (?, ?, LAST_INSERT_ID(? + ?))
 ON DUPLICATE KEY UPDATE next_no = LAST_INSERT_ID(next_no + ?)`

// sqlSetRange: by the primary key, on the row that this transaction has locked. The unique key
// (series, from_no) would refuse a number that is given twice.
const sqlSetRange = `UPDATE onerow_serial_claim SET from_no = ?, to_no = ? WHERE series = ? AND claim_key = ? AND from_no IS NULL`

// Claim gives amount numbers, 1 to 1,000,000,000, of the series to key, 1 to 255
// bytes. The same key gets the same range again; Replayed says so.
//
// On a transaction it is a part of that: the numbers are the caller's when it
// commits, and until then every other claim of this series waits. If Claim fails
// there, the transaction must be rolled back unless the error is ErrMismatch,
// ErrVoided or ErrInvalidArgument, which have written nothing. On a pool it is a transaction
// of its own, run again when the server refuses it and also when the answer to
// COMMIT is lost.
//
// Three statements, two for a replay; on a pool BEGIN and COMMIT besides.
// Errors: [ErrInvalidArgument], [ErrMismatch], [ErrVoided].
func (s *Series) Claim(ctx context.Context, db onerow.DB, key string, amount int64) (onerow.Result[Claim], error) {
	var res onerow.Result[Claim]
	if err := s.checkKey(key); err != nil {
		return res, err
	}
	if amount < 1 || amount > maxAmount {
		return res, fmt.Errorf("%w: claim %q of series %q asks for %d numbers, 1 to %d are given", ErrInvalidArgument, key, s.name, amount, maxAmount)
	}
	var token [16]byte
	rand.Read(token[:]) // never an error
	err := onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		res, err = s.claim(ctx, tx, key, amount, token[:])
		return err
	})
	switch {
	case err == nil:
		return res, nil
	case errors.Is(err, ErrMismatch) || errors.Is(err, ErrVoided): // they say all
		return onerow.Result[Claim]{}, err
	}
	return onerow.Result[Claim]{}, fmt.Errorf("serial: claim %q of series %q: %w", key, s.name, err)
}

func (s *Series) claim(ctx context.Context, tx *onerow.Tx, key string, amount int64, token []byte) (onerow.Result[Claim], error) {
	_, err := tx.ExecContext(ctx, sqlInsertClaim, s.name, key, amount, token)
	switch {
	case mysqlerr.Classify(err) == mysqlerr.Duplicate:
		return s.replay(ctx, tx, key, amount, token)
	case err != nil:
		return onerow.Result[Claim]{}, fmt.Errorf("insert the claim: %w", err)
	}
	return s.draw(ctx, tx, key, amount)
}

// draw moves the counter on and writes the range into the claim.
func (s *Series) draw(ctx context.Context, tx *onerow.Tx, key string, amount int64) (res onerow.Result[Claim], err error) {
	answer, err := tx.ExecContext(ctx, sqlAdvance, s.name, s.first, s.first, amount, amount)
	if err != nil {
		return res, fmt.Errorf("move the counter on: %w", err)
	}
	next, err := answer.LastInsertId()
	if err != nil {
		return res, fmt.Errorf("read the counter: %w", err)
	}
	n, err := onerow.Affected(ctx, tx, sqlSetRange, next-amount, next-1, s.name, key)
	if err != nil {
		return res, fmt.Errorf("write the range: %w", err)
	}
	if n != 1 {
		return res, errMoved
	}
	res.Row = Claim{Series: s.name, Key: key, From: next - amount, To: next - 1}
	res.Changed = true
	return res, nil
}

// sqlReadClaim: by the primary key; a current read, because the snapshot may be older
// than the row that refused the INSERT, which holds this lock already.
const sqlReadClaim = `SELECT amount, from_no, to_no, voided_at IS NOT NULL, COALESCE(CAST(void_reason AS BINARY), ''), call_token
 FROM onerow_serial_claim WHERE series = ? AND claim_key = ? LOCK IN SHARE MODE`

// replay answers a call whose key has a claim.
func (s *Series) replay(ctx context.Context, tx *onerow.Tx, key string, amount int64, token []byte) (res onerow.Result[Claim], err error) {
	var has int64
	var from, to sql.NullInt64
	var owner []byte
	claim := Claim{Series: s.name, Key: key}
	err = onerow.QueryRow(ctx, tx, sqlReadClaim, []any{s.name, key}, &has, &from, &to, &claim.Voided, &claim.VoidReason, &owner)
	switch {
	case errors.Is(err, sql.ErrNoRows): // its transaction was rolled back since
		return res, errMoved
	case err != nil:
		return res, fmt.Errorf("read the claim: %w", err)
	}
	claim.From, claim.To = from.Int64, to.Int64
	switch {
	case has != amount:
		return res, &MismatchError{Claim: claim, Amount: amount}
	case claim.Voided:
		return res, &VoidedError{Claim: claim}
	case !from.Valid:
		// A caller committed its transaction although Claim had failed in it: the claim
		// has no numbers yet.
		return s.draw(ctx, tx, key, amount)
	}
	// The token is this call's own: it is an earlier attempt of the same call.
	mine := string(owner) == string(token)
	return onerow.Result[Claim]{Row: claim, Changed: mine, Replayed: !mine}, nil
}
