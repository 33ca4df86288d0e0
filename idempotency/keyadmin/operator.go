package keyadmin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/internal/dbtext"
)

// ErrChanged means that a key is not in the state that the operator saw. The detail is [ChangedError].
var ErrChanged = answers.New(409, "the key has changed; look at it again", "keyadmin: the key has changed since it was seen")

// ChangedError says what an operator saw, and what is there now.
type ChangedError struct {
	Seen idempotency.Entry
	Now  idempotency.Entry // the zero Entry where the row is gone
}

// Error says both.
func (e *ChangedError) Error() string {
	if e.Now.Token == 0 {
		return fmt.Sprintf("keyadmin: the key %s was seen %s with the token %d and is gone", e.Seen.Key, e.Seen.Status, e.Seen.Token)
	}
	return fmt.Sprintf("keyadmin: the key %s was seen %s with the token %d and is now %s with %d; the action does not fit, look again",
		e.Seen.Key, e.Seen.Status, e.Seen.Token, e.Now.Status, e.Now.Token)
}

// Unwrap returns [ErrChanged].
func (e *ChangedError) Unwrap() error { return ErrChanged }

// Operator acts on keys by hand. Each verb is conditional on the state that the operator has seen (an entry's
// key, token and status), and writes an audit row in the same transaction. If the key is not in that state
// any more, or the verb does not fit it, the answer is [ErrChanged], and nothing was changed. The same
// operator's verb called again for the same token is a no-op. 4 statements; 5 when nothing is changed.
type Operator struct {
	keys          *idempotency.Keys
	actor, reason string
}

// How many bytes of an actor and a reason are stored. The columns have 255 characters, and 65,535 bytes.
const (
	longestActor  = 255
	longestReason = 16000
)

// NewOperator makes an operator. actor (up to 255 bytes) and reason (up to 16,000) go into the audit, uncut,
// and must not be empty.
func NewOperator(keys *idempotency.Keys, actor, reason string) (*Operator, error) {
	if actor == "" || reason == "" || len(actor) > longestActor || len(reason) > longestReason {
		return nil, fmt.Errorf("%w: the audit needs who acts, in 1 to %d bytes and not %d, and why, in 1 to %d and not %d",
			idempotency.ErrInvalid, longestActor, len(actor), longestReason, len(reason))
	}
	return &Operator{keys, dbtext.Fit(actor, longestActor), dbtext.Fit(reason, longestReason)}, nil
}

// atSeen is the condition of an operator's write: an expired key is absent. By the primary key.
const atSeen = atKey + ` AND token = ? AND status = ? AND COALESCE(expires_at > UTC_TIMESTAMP(6), TRUE)`

// sqlRelease gives a key in progress or with an error back.
const sqlRelease = `UPDATE onerow_key SET status = 'released', attention = 0, version = version + 1, completed_at = UTC_TIMESTAMP(6),
  expires_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, expected_completion = NULL, lease_until = NULL` + atSeen + ` AND status IN ('in_progress', 'error')`

// sqlComplete ends a key in progress or with an error with a result.
const sqlComplete = `UPDATE onerow_key SET status = 'complete', attention = 0, version = version + 1, codec = 'json/1', result = ?, is_reference = ?, error = NULL,
  completed_at = UTC_TIMESTAMP(6), expires_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, expected_completion = NULL, lease_until = NULL` + atSeen + ` AND status IN ('in_progress', 'error')`

// sqlExpire makes a finished or released key absent; nobody needs to look at it any more.
const sqlExpire = `UPDATE onerow_key SET attention = 0, version = version + 1, expires_at = UTC_TIMESTAMP(6)` + atSeen +
	` AND status IN ('complete', 'error', 'released')`

// Release makes a key that is in progress or failed free, for the payload that it was claimed with: the work
// was not done, says the operator. To free it for another payload, expire it then. Its holder, should it
// still run, gets idempotency.ErrLost.
func (o *Operator) Release(ctx context.Context, db onerow.DB, seen idempotency.Entry) error {
	return o.act(ctx, db, seen, "release", sqlRelease, o.keep())
}

// Complete ends a key that is in progress or failed with a result, encoded as that of Do and Begin is: the
// work was done, says the operator, and this came of it.
func (o *Operator) Complete(ctx context.Context, db onerow.DB, seen idempotency.Entry, result any) error {
	data, isReference, err := o.keys.Encode(ctx, db, seen.Key, result)
	if err != nil {
		return err
	}
	return o.act(ctx, db, seen, "complete", sqlComplete, data, isReference, o.keep())
}

// keep is Config.Keep as an argument of INTERVAL ? MICROSECOND, NULL for ever.
func (o *Operator) keep() any {
	if keep := o.keys.Config().Keep; keep > 0 {
		return max(keep.Microseconds(), 1)
	}
	return nil
}

// Expire makes a finished or released key absent now: the next call does the work anew, with whatever payload
// it has. It does not alarm any more. A key in progress does not expire; release it first.
func (o *Operator) Expire(ctx context.Context, db onerow.DB, seen idempotency.Entry) error {
	return o.act(ctx, db, seen, "expire", sqlExpire)
}

// sqlAudit: its primary key is in nobody's way, a token has an action once.
const sqlAudit = `INSERT INTO onerow_key_audit (tenant, operation, idem_key, token, action, seen_status, actor, reason, acted_at)
VALUES (?, ?, ?, ?, ?, ?, ` + dbtext.Param + `, ` + dbtext.Param + `, UTC_TIMESTAMP(6))`

// sqlAudited reads one audit row by its primary key. Names are compared byte by byte.
const sqlAudited = `SELECT CAST(actor AS BINARY) = UNHEX(?) FROM onerow_key_audit` + atKey + ` AND token = ? AND action = ? LOCK IN SHARE MODE`

// act runs the conditional write, which decides, and the audit. An unknown COMMIT is run again: the write
// waits at the row until the lost attempt has ended, and then the audit says whether it was this operator's.
func (o *Operator) act(ctx context.Context, db onerow.DB, seen idempotency.Entry, action, query string, args ...any) error {
	if err := seen.Key.Check(); err != nil {
		return err
	}
	changed := false
	err := onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		changed = false
		n, err := onerow.Affected(ctx, tx, query, append(args[:len(args):len(args)], keyArgs(seen.Key, seen.Token, string(seen.Status))...)...)
		if err != nil {
			return err
		}
		if n == 0 {
			return o.changed(ctx, tx, seen, action)
		}
		changed = true
		_, err = tx.ExecContext(ctx, sqlAudit, keyArgs(seen.Key, seen.Token, action, string(seen.Status), dbtext.Arg(o.actor), dbtext.Arg(o.reason))...)
		return err
	})
	if err == nil && changed {
		o.keys.Config().Log.InfoContext(ctx, "idempotency: an operator's action", slog.String("tenant", seen.Key.Tenant), slog.String("operation", seen.Key.Operation),
			slog.String("key", seen.Key.ID), slog.String("status", string(seen.Status)), slog.Int64("token", seen.Token), slog.String("action", action),
			slog.String("actor", o.actor), slog.String("reason", o.reason))
	}
	return err
}

// changed is [ChangedError], or nil where this operator's same action has changed the key before.
func (o *Operator) changed(ctx context.Context, tx *onerow.Tx, seen idempotency.Entry, action string) error {
	var mine bool
	err := onerow.QueryRow(ctx, tx, sqlAudited, append([]any{dbtext.Arg(o.actor)}, keyArgs(seen.Key, seen.Token, action)...), &mine)
	if mine || err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	now, err := entries(ctx, tx, atKey+` LOCK IN SHARE MODE`, keyArgs(seen.Key)...)
	if err != nil {
		return err
	}
	return &ChangedError{Seen: seen, Now: append(now, idempotency.Entry{})[0]}
}

// Audited is one action of an operator.
type Audited struct {
	Key    idempotency.Key    `json:"key"`
	Token  int64              `json:"token"`
	Action string             `json:"action"` // release, complete or expire
	Seen   idempotency.Status `json:"seen"`
	Actor  string             `json:"actor"`
	Reason string             `json:"reason"`
	At     time.Time          `json:"at"`
}

// sqlAudits reads by the primary key.
const sqlAudits = `SELECT token, action, seen_status, CAST(actor AS BINARY), CAST(reason AS BINARY), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', acted_at) FROM onerow_key_audit` +
	atKey + ` ORDER BY token, action`

// Audit returns what operators did to a key, in the order of its tokens. One statement.
func Audit(ctx context.Context, db onerow.DB, key idempotency.Key) (list []Audited, err error) {
	err = onerow.Alone(ctx, db, func(ctx context.Context, db onerow.DB) error {
		list = nil
		return onerow.Query(ctx, db, sqlAudits, keyArgs(key), func(rows *sql.Rows) error {
			a, at := Audited{Key: key}, int64(0)
			err := rows.Scan(&a.Token, &a.Action, &a.Seen, &a.Actor, &a.Reason, &at)
			a.At = time.UnixMicro(at).UTC()
			list = append(list, a)
			return err
		})
	})
	return list, err
}
