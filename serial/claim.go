package serial

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/packet"
	"github.com/onerow/onerow/internal/trace"
)

// sqlInsertClaim decides, except where the claim and its COMMIT are one packet (sqlInsertRange): of two calls
// with one key the primary key lets one in, and the other waits here until the first has ended. It comes
// first and locks only its own new row, so a call that waits here does not keep the counter from others.
const sqlInsertClaim = `INSERT INTO onerow_serial_claim (series, claim_key, amount, call_token, claimed_at)
 VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6))`

// sqlAdvance locks the counter exclusively, by the primary key, until the transaction ends; that is the queue
// of the series. It is a current read and a write in one, and its answer carries the first number of the
// range, whatever this transaction's snapshot is. The sum is of signed numbers, so that beyond the last one
// it is an error in every sql_mode (1690), and not the last one again.
const sqlAdvance = `INSERT INTO onerow_serial (series, first_no, next_no) VALUES (?, ?, CAST(LAST_INSERT_ID(?) AS SIGNED) + ?)
 ON DUPLICATE KEY UPDATE next_no = CAST(LAST_INSERT_ID(next_no) AS SIGNED) + ?`

// sqlSetRange: by the primary key, on the row that this transaction has locked, right after sqlAdvance. The
// unique key (series, from_no) would refuse a number that is given twice.
const sqlSetRange = `UPDATE onerow_serial_claim SET from_no = LAST_INSERT_ID(), to_no = LAST_INSERT_ID() + ? WHERE series = ? AND claim_key = ? AND from_no IS NULL`

// sqlInsertRange decides in the place of sqlInsertClaim where the claim and its COMMIT are one packet,
// right after sqlAdvance. There the counter is locked first: a second call with the same key waits at the
// counter, is refused here, and finds its numbers in another transaction.
const sqlInsertRange = `INSERT INTO onerow_serial_claim (series, claim_key, amount, call_token, from_no, to_no, claimed_at)
 VALUES (?, ?, ?, ?, LAST_INSERT_ID(), LAST_INSERT_ID() + ?, UTC_TIMESTAMP(6))`

// Claim gives amount numbers, 1 to 1,000,000,000, of the series to key, 1 to 255
// bytes. The same key gets the same range again, whoever gives it; Replayed says so.
//
// On a transaction it is a part of that: the numbers are the caller's when it commits, and until then every
// other claim of this series waits. If Claim fails there, the transaction must be rolled back unless the
// error is ErrMismatch, ErrVoided or ErrInvalidArgument, which have written nothing. On a pool it is a
// transaction of its own, run again when the server refuses it and also when the answer to COMMIT is lost.
//
// Three statements, two for a replay; on a pool BEGIN and COMMIT besides, or two of them in one packet where
// the pool is of [pool.Open]. Errors: [ErrInvalidArgument], [ErrMismatch], [ErrVoided], [ErrExhausted].
func (s *Series) Claim(ctx context.Context, db onerow.DB, key string, amount int64) (onerow.Result[Claim], error) {
	return s.ClaimWith(ctx, db, key, amount)
}

// ClaimWith is Claim with the statements that use the numbers, which are run where they are given and not
// where the same key gets them again. In the first of them LAST_INSERT_ID() is the first number:
//
//	INSERT INTO invoice (no, about) VALUES (LAST_INSERT_ID(), ?)
//
// On a pool of [pool.Open] all of it is one packet, and the series is held for no round trip.
func (s *Series) ClaimWith(ctx context.Context, db onerow.DB, key string, amount int64, use ...onerow.Stmt) (_ onerow.Result[Claim], err error) {
	ctx, span := trace.Start(ctx, "serial.Claim", slog.String("onerow.series", s.name))
	defer span.End(&err)
	var res onerow.Result[Claim]
	if err := s.checkKey(key); err != nil {
		return res, err
	}
	if amount < 1 || amount > maxAmount {
		return res, fmt.Errorf("%w: claim %q of series %q asks for %d numbers, 1 to %d are given", ErrInvalidArgument, key, s.name, amount, maxAmount)
	}
	c := &call{s: s, key: key, amount: amount, use: use, onePacket: true}
	rand.Read(c.token[:]) // never an error
	err = onerow.InIdempotentTx(ctx, db, c.run)
	if c.wasPacket && err != nil && !onerow.Retryable(err) && !errors.Is(err, onerow.ErrOutcomeUnknown) {
		c.onePacket, c.taken = false, mysqlerr.Classify(err) == mysqlerr.Duplicate // one by one they find out why
		err = packet.KeepUnknown(ctx, err, onerow.InIdempotentTx(ctx, db, c.run))
	}
	switch {
	case err == nil && c.wasPacket:
		return c.claimed(), nil
	case err == nil:
		return c.res, nil
	case errors.Is(err, ErrMismatch) || errors.Is(err, ErrVoided): // they say all
		return res, err
	}
	return res, fmt.Errorf("serial: claim %q of series %q: %w", key, s.name, err)
}

type call struct {
	s         *Series
	key       string
	amount    int64
	token     [16]byte
	use       []onerow.Stmt
	from      int64
	res       onerow.Result[Claim]
	onePacket bool // all of it, with COMMIT, may be one packet
	wasPacket bool // it was, in the last run
	taken     bool // the key may have its numbers
}

func (c *call) run(ctx context.Context, tx *onerow.Tx) (err error) {
	if c.wasPacket = c.onePacket && tx.Together() && !tx.Joined(); c.wasPacket {
		return packet.ExecLast(ctx, tx, append([]onerow.Stmt{c.advance(), {
			Query: sqlInsertRange, Args: []any{c.s.name, c.key, c.amount, c.token[:], c.amount - 1},
		}}, c.use...)...)
	}
	if c.taken {
		c.res, err = c.replay(ctx, tx)
		c.taken = false // it was another unique key, or the claim is gone
		return err
	}
	c.res, err = c.claim(ctx, tx)
	return err
}

// claim inserts the claim first, so that one that is refused has written nothing.
func (c *call) claim(ctx context.Context, tx *onerow.Tx) (onerow.Result[Claim], error) {
	insert := onerow.Stmt{Query: sqlInsertClaim, Args: []any{c.s.name, c.key, c.amount, c.token[:]}}
	err := packet.ExecAll(ctx, tx, append([]onerow.Stmt{insert}, c.draw()...)...)
	if mysqlerr.Classify(err) == mysqlerr.Duplicate {
		return c.replay(ctx, tx)
	}
	return c.drawn(ctx, tx, err)
}

func (c *call) advance() onerow.Stmt {
	return onerow.Stmt{Query: sqlAdvance, Args: []any{c.s.name, c.s.first, c.s.first, c.amount, c.amount}, ID: &c.from}
}

// draw moves the counter on and writes the range into the claim.
func (c *call) draw() []onerow.Stmt {
	return []onerow.Stmt{c.advance(), {Query: sqlSetRange, Args: []any{c.amount - 1, c.s.name, c.key}, One: true}}
}

// outOfRange is the server's error for a sum that no BIGINT can hold.
const outOfRange = 1690

// drawn is the end of a draw.
func (c *call) drawn(ctx context.Context, tx *onerow.Tx, err error) (res onerow.Result[Claim], _ error) {
	switch {
	case errors.Is(err, onerow.ErrNotOneRow):
		return res, errMoved
	case mysqlerr.Number(err) == outOfRange:
		return res, fmt.Errorf("%w: %d more would be beyond the largest one, %d: %w", ErrExhausted, c.amount, int64(math.MaxInt64)-1, err)
	case err != nil:
		return res, fmt.Errorf("draw the numbers: %w", err)
	}
	if err := packet.ExecLast(ctx, tx, c.use...); err != nil {
		return res, fmt.Errorf("use the numbers: %w", err)
	}
	return c.claimed(), nil
}

func (c *call) claimed() onerow.Result[Claim] {
	return onerow.Result[Claim]{Row: Claim{Series: c.s.name, Key: c.key, From: c.from, To: c.from + c.amount - 1}, Changed: true}
}

// sqlReadClaim: by the primary key; a current read, because the snapshot may be older
// than the row that refused the INSERT, which holds this lock already.
const sqlReadClaim = `SELECT amount, from_no, to_no, voided_at IS NOT NULL, COALESCE(CAST(void_reason AS BINARY), ''), call_token
 FROM onerow_serial_claim WHERE series = ? AND claim_key = ? LOCK IN SHARE MODE`

// replay answers a call whose key has a claim.
func (c *call) replay(ctx context.Context, tx *onerow.Tx) (res onerow.Result[Claim], err error) {
	var has int64
	var from, to sql.NullInt64
	var owner []byte
	claim := Claim{Series: c.s.name, Key: c.key}
	err = onerow.QueryRow(ctx, tx, sqlReadClaim, []any{c.s.name, c.key}, &has, &from, &to, &claim.Voided, &claim.VoidReason, &owner)
	switch {
	case errors.Is(err, sql.ErrNoRows): // its transaction was rolled back since
		return res, errMoved
	case err != nil:
		return res, fmt.Errorf("read the claim: %w", err)
	}
	claim.From, claim.To = from.Int64, to.Int64
	switch {
	case has != c.amount:
		return res, &ClaimError{fmt.Errorf("%w: %q of series %q has the numbers %d to %d and cannot have %d numbers; use another key for another event",
			ErrMismatch, c.key, c.s.name, claim.From, claim.To, c.amount), claim}
	case claim.Voided:
		return res, &ClaimError{fmt.Errorf("%w: %d to %d of series %q, claimed as %q: %s; use another key to claim anew",
			ErrVoided, claim.From, claim.To, c.s.name, c.key, claim.VoidReason), claim}
	case !from.Valid:
		// A caller committed its transaction although Claim had failed in it: the claim has no numbers yet.
		return c.drawn(ctx, tx, packet.ExecAll(ctx, tx, c.draw()...))
	}
	// The token is this call's own: it is an earlier attempt of the same call.
	mine := string(owner) == string(c.token[:])
	return onerow.Result[Claim]{Row: claim, Changed: mine, Replayed: !mine}, nil
}
