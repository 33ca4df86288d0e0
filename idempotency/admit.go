package idempotency

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/trace"
)

// Admission is the answer of Admit.
type Admission struct {
	Admitted bool
	// RetryAfter is how long nobody else is admitted, for one that was refused.
	RetryAfter time.Duration
}

// sqlAdmit: the primary key decides.
const sqlAdmit = `INSERT INTO onerow_admission (tenant, operation, idem_key, call_token, admitted_at, until_at)
VALUES (?, ?, ?, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND)`

// sqlAdmission reads by the primary key what is committed.
const sqlAdmission = `SELECT call_token = ?, TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), until_at) FROM onerow_admission` + atKey + ` LOCK IN SHARE MODE`

// sqlReadmit takes a window that has ended, by the primary key: of several that saw it ended one wins.
const sqlReadmit = `UPDATE onerow_admission SET call_token = ?, admitted_at = UTC_TIMESTAMP(6), until_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND` +
	atKey + ` AND until_at <= UTC_TIMESTAMP(6)`

// Admit lets one caller in for the key, and nobody else until window has passed: for duplicate deliveries
// that may simply be dropped, and to shed duplicate work. It remembers no result and does not know whether
// the one who was let in has done anything. Its keys are apart from those of Do and Begin.
//
// In a transaction it is committed with that, and others wait for it. Statements: 1 when it is the first, 2
// when it is refused, 3 after an earlier window.
func (k *Keys) Admit(ctx context.Context, db onerow.DB, key Key, window time.Duration) (_ Admission, err error) {
	ctx, span := trace.Start(ctx, "idempotency.Admit", slog.String("onerow.operation", key.Operation))
	defer span.End(&err)
	c, err := k.newCall(key, "", nil)
	if err != nil {
		return Admission{}, err
	}
	if window < time.Microsecond {
		return Admission{}, fmt.Errorf("%w: Admit for %s", ErrInvalid, window)
	}
	var a Admission
	for again := true; again; {
		err = single(ctx, db, func(db onerow.DB) (err error) { a, err = k.admit(ctx, db, c, window); return err })
		again, err = c.busy(ctx, err)
		again = again && !joined(db)
	}
	if err != nil {
		return Admission{}, err
	}
	event := "refused"
	if a.Admitted {
		event = "admitted"
	}
	k.event(event, key)
	return a, nil
}

func (k *Keys) admit(ctx context.Context, db onerow.DB, c *call, window time.Duration) (a Admission, err error) {
	_, err = db.ExecContext(ctx, sqlAdmit, c.key.args(c.token[:], micros(window))...)
	if err == nil {
		return Admission{Admitted: true}, nil
	}
	if mysqlerr.Classify(err) != mysqlerr.Duplicate {
		return a, &keyWait{err}
	}
	var mine bool
	var left int64
	err = onerow.QueryRow(ctx, db, sqlAdmission, append([]any{c.token[:]}, c.key.args()...), &mine, &left)
	switch {
	case errors.Is(err, sql.ErrNoRows): // purged in between
		return a, errFree
	case err != nil:
		return a, err
	case mine: // an attempt whose answer was lost
		return Admission{Admitted: true}, nil
	case left > 0:
		return Admission{RetryAfter: time.Duration(left) * time.Microsecond}, nil
	}
	n, err := onerow.Affected(ctx, db, sqlReadmit, append([]any{c.token[:], micros(window)}, c.key.args()...)...)
	if err != nil {
		return a, &keyWait{err}
	}
	if n == 1 {
		return Admission{Admitted: true}, nil
	}
	return a, errFree
}
