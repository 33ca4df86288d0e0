package idempotency

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/dbtext"
)

// Operator acts on keys by hand. Each verb is conditional on the state that the operator has seen (an
// [Entry]'s key, token and status), and writes an audit row in the same transaction. If the key is not in
// that state any more, or the verb does not fit it, the answer is [ErrChanged] with what is there now, and
// nothing was changed. The same operator's verb called again for the same token is a no-op. 4 statements; 5
// when nothing is changed.
type Operator struct {
	keys          *Keys
	actor, reason string
}

// longestActor is the length of the audit's column, in characters of at least a byte.
const longestActor = 255

// Operator makes an operator. actor (up to 255 bytes) and reason (up to 16,000) go into the audit, uncut, and
// must not be empty.
func (k *Keys) Operator(actor, reason string) (*Operator, error) {
	if actor == "" || reason == "" || len(actor) > longestActor || len(reason) > longestError {
		return nil, fmt.Errorf("%w: the audit needs who acts, in 1 to %d bytes and not %d, and why, in 1 to %d and not %d",
			ErrInvalid, longestActor, len(actor), longestError, len(reason))
	}
	return &Operator{k, dbtext.Fit(actor, longestActor), dbtext.Fit(reason, longestError)}, nil
}

// atSeen is the condition of an operator's write: an expired key is absent. By the primary key.
const atSeen = atKey + ` AND token = ? AND status = ? AND COALESCE(expires_at > UTC_TIMESTAMP(6), TRUE)`

// sqlOperatorRelease gives a key in progress or with an error back.
const sqlOperatorRelease = `UPDATE onerow_key SET status = 'released', attention = 0, version = version + 1, completed_at = UTC_TIMESTAMP(6),
  expires_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, expected_completion = NULL, lease_until = NULL` + atSeen + ` AND status IN ('in_progress', 'error')`

// sqlOperatorComplete ends a key in progress or with an error with a result.
const sqlOperatorComplete = `UPDATE onerow_key SET status = 'complete', attention = 0, version = version + 1, codec = ?, is_reference = ?, result = ?, error = NULL,
  completed_at = UTC_TIMESTAMP(6), expires_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, expected_completion = NULL, lease_until = NULL` + atSeen + ` AND status IN ('in_progress', 'error')`

// sqlOperatorExpire makes a finished or released key absent; nobody needs to look at it any more.
const sqlOperatorExpire = `UPDATE onerow_key SET attention = 0, version = version + 1, expires_at = UTC_TIMESTAMP(6)` + atSeen +
	` AND status IN ('complete', 'error', 'released')`

// Release makes a key that is in progress or failed free, for the payload that it was claimed with: the work
// was not done, says the operator. To free it for another payload, expire it then. Its holder, should it
// still run, gets [ErrLost].
func (o *Operator) Release(ctx context.Context, db onerow.DB, seen Entry) error {
	return o.act(ctx, db, seen, "release", sqlOperatorRelease, micros(o.keys.cfg.Keep))
}

// Complete ends a key that is in progress or failed with a result, encoded as that of Do and Begin is: the
// work was done, says the operator, and this came of it.
func (o *Operator) Complete(ctx context.Context, db onerow.DB, seen Entry, result any) error {
	s, err := o.keys.encode(ctx, db, seen.Key, result, nil)
	if err != nil {
		return err
	}
	return o.act(ctx, db, seen, "complete", sqlOperatorComplete, s.form(), s.reference, s.data, micros(o.keys.cfg.Keep))
}

// Expire makes a finished or released key absent now: the next call does the work anew, with whatever payload
// it has. It does not alarm any more. A key in progress does not expire; release it first.
func (o *Operator) Expire(ctx context.Context, db onerow.DB, seen Entry) error {
	return o.act(ctx, db, seen, "expire", sqlOperatorExpire)
}

// sqlAudit: its primary key is in nobody's way, a token has an action once.
const sqlAudit = `INSERT INTO onerow_key_audit (tenant, operation, idem_key, token, action, seen_status, actor, reason, acted_at)
VALUES (?, ?, ?, ?, ?, ?, ` + dbtext.Param + `, ` + dbtext.Param + `, UTC_TIMESTAMP(6))`

// sqlAudited reads one audit row by its primary key. Names are compared byte by byte.
const sqlAudited = `SELECT CAST(actor AS BINARY) = UNHEX(?) FROM onerow_key_audit` + atKey + ` AND token = ? AND action = ? LOCK IN SHARE MODE`

// act runs the conditional write, which decides, and the audit. An unknown COMMIT is run again: the
// write waits at the row until the lost attempt has ended, and then the audit says
// whether it was this operator's.
func (o *Operator) act(ctx context.Context, db onerow.DB, seen Entry, action, query string, args ...any) error {
	if err := seen.Key.Check(); err != nil {
		return err
	}
	changed := false
	err := onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		changed = false
		n, err := onerow.Affected(ctx, tx, query, append(args[:len(args):len(args)], seen.Key.args(seen.Token, string(seen.Status))...)...)
		if err != nil {
			return err
		}
		if n == 0 {
			return o.changed(ctx, tx, seen, action)
		}
		changed = true
		_, err = tx.ExecContext(ctx, sqlAudit, seen.Key.args(seen.Token, action, string(seen.Status), dbtext.Arg(o.actor), dbtext.Arg(o.reason))...)
		return err
	})
	if err == nil && changed {
		o.keys.cfg.Log.InfoContext(ctx, "idempotency: an operator's action", append(attrs(seen.Key, seen.Token, seen.Status, nil), "action", action, "actor", o.actor, "reason", o.reason)...)
	}
	return err
}

func (o *Operator) changed(ctx context.Context, tx *onerow.Tx, seen Entry, action string) error {
	var mine bool
	err := onerow.QueryRow(ctx, tx, sqlAudited, append([]any{dbtext.Arg(o.actor)}, seen.Key.args(seen.Token, action)...), &mine)
	if mine || err != nil && !isNoRows(err) {
		return err
	}
	r, err := read(ctx, tx, sqlReadCurrent, seen.Key)
	if err != nil {
		return err
	}
	e := &Error{Kind: ErrChanged, Key: seen.Key}
	if r == nil {
		e.text = fmt.Sprintf("the key %s was seen %s with the token %d and is gone", seen.Key, seen.Status, seen.Token)
		return e
	}
	e.Entry = r.Entry
	e.text = fmt.Sprintf("the key %s was seen %s with the token %d and is now %s with %d; the action does not fit, look again",
		seen.Key, seen.Status, seen.Token, r.Status, r.Token)
	return e
}

// Audited is one action of an operator.
type Audited struct {
	Key    Key       `json:"key"`
	Token  int64     `json:"token"`
	Action string    `json:"action"` // release, complete or expire
	Seen   Status    `json:"seen"`
	Actor  string    `json:"actor"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// sqlAudits reads by the primary key.
const sqlAudits = `SELECT token, action, seen_status, CAST(actor AS BINARY), CAST(reason AS BINARY), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', acted_at) FROM onerow_key_audit` +
	atKey + ` ORDER BY token, action`

// Audit returns what operators did to a key, in the order of its tokens. One statement.
func (k *Keys) Audit(ctx context.Context, db onerow.DB, key Key) ([]Audited, error) {
	var list []Audited
	err := single(ctx, db, func(db onerow.DB) error {
		list = nil
		return onerow.Query(ctx, db, sqlAudits, key.args(), func(rows *sql.Rows) error {
			a := Audited{Key: key}
			err := rows.Scan(&a.Token, &a.Action, &a.Seen, &a.Actor, &a.Reason, (*moment)(&a.At))
			list = append(list, a)
			return err
		})
	})
	return list, err
}
