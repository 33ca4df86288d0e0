package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// begin is a call of Begin. It says by how much its token is above that of the setup's claim.
func (h *heard) begin(k *idempotency.Keys, opts ...idempotency.Options) call {
	return func(ctx context.Context, db *sql.DB) error {
		claim, out, err := idempotency.Begin[receipt](ctx, db, k, key("a"), opts...)
		switch {
		case err != nil:
			return reason(err)
		case out != nil:
			return errReplayed
		case h.claim.Token == 0:
			h.Add("claimed")
		default:
			h.Add(fmt.Sprint("claimed +", claim.Token-h.claim.Token))
		}
		return nil
	}
}

// untouched is a condition: who took the key over has it still, in progress, unless nobody took it over.
func (h *heard) untouched(ctx context.Context, db *sql.DB) error {
	var status string
	var ahead int64
	err := onerow.QueryRow(ctx, db, "SELECT status, token - ? FROM onerow_key", []any{h.claim.Token}, &status, &ahead)
	if err == nil && len(h.List()) > 0 && (ahead != 1 || status != "in_progress") {
		err = fmt.Errorf("%q, and the key is %s, its token %d ahead", h.List(), status, ahead)
	}
	return err
}

func stepRaces(k *idempotency.Keys, h *heard) []race {
	table := setups(k)
	act := func(fn func(ctx context.Context, db *sql.DB, c idempotency.Claim) error) call {
		return func(ctx context.Context, db *sql.DB) error { return reason(fn(ctx, db, h.claim)) }
	}
	complete := act(func(ctx context.Context, db *sql.DB, c idempotency.Claim) error {
		return k.Complete(ctx, db, c, receipt{ID: 1})
	})
	release := act(func(ctx context.Context, db *sql.DB, c idempotency.Claim) error { return k.Release(ctx, db, c) })
	fail := act(func(ctx context.Context, db *sql.DB, c idempotency.Claim) error {
		return k.Fail(ctx, db, c, errOutage, idempotency.Options{Attention: true})
	})
	extend := act(func(ctx context.Context, db *sql.DB, c idempotency.Claim) error {
		return k.Extend(ctx, db, c, idempotency.Options{Lease: time.Hour})
	})
	owned := act(func(ctx context.Context, db *sql.DB, c idempotency.Claim) error {
		return k.Owned(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) error {
			if _, err := pay(ctx, tx); err != nil {
				return err
			}
			return k.Complete(ctx, tx, c, receipt{})
		})
	})
	operator := func(actor string, status idempotency.Status, fn func(o *keyadmin.Operator, ctx context.Context, db *sql.DB, seen idempotency.Entry) error) call {
		return act(func(ctx context.Context, db *sql.DB, c idempotency.Claim) error {
			o, err := keyadmin.NewOperator(k, actor, "ticket")
			if err != nil {
				return err
			}
			return fn(o, ctx, db, idempotency.Entry{Key: c.Key, Token: c.Token, Status: status})
		})
	}
	operatorRelease := func(actor string) call {
		return operator(actor, idempotency.InProgress, func(o *keyadmin.Operator, ctx context.Context, db *sql.DB, s idempotency.Entry) error {
			return o.Release(ctx, db, s)
		})
	}
	operatorComplete := operator("ann", idempotency.InProgress, func(o *keyadmin.Operator, ctx context.Context, db *sql.DB, s idempotency.Entry) error {
		return o.Complete(ctx, db, s, receipt{ID: 2})
	})
	expire := operator("ann", idempotency.Completed, func(o *keyadmin.Operator, ctx context.Context, db *sql.DB, s idempotency.Entry) error {
		return o.Expire(ctx, db, s)
	})
	admit := func(ctx context.Context, db *sql.DB) error {
		a, err := k.Admit(ctx, db, key("a"), time.Hour)
		h.Add(fmt.Sprint("admitted ", a.Admitted))
		return err
	}
	window := func(ctx context.Context, db *sql.DB) (c idempotency.Claim, err error) {
		_, err = k.Admit(ctx, db, key("a"), time.Microsecond) // over before the next statement
		return c, err
	}
	purge := func(ctx context.Context, db *sql.DB) error {
		_, err := keyadmin.Purge(ctx, db, k, 10)
		return err
	}
	// work is outside the database: it counts itself.
	var effects atomic.Int32
	work := func(ctx context.Context, db *sql.DB) error {
		claim, out, err := idempotency.Begin[receipt](ctx, db, k, key("a"))
		if err != nil || out != nil {
			return reason(err)
		}
		_, err = idempotency.Work(ctx, db, k, claim, func(context.Context) (receipt, error) {
			effects.Add(1)
			return receipt{ID: 1}, nil
		})
		return reason(err)
	}
	worked := func(ctx context.Context, db *sql.DB, answers []error) error {
		var status string
		err := onerow.QueryRow(ctx, db, "SELECT status FROM onerow_key", nil, &status)
		if n := effects.Swap(0); err == nil && (n != 1 || status != "complete") {
			err = fmt.Errorf("the work was done %d times, the key is %s", n, status)
		}
		for _, answer := range answers { // the other one, or later the result
			if answer != nil && !errors.Is(answer, idempotency.ErrInProgress) {
				err = errors.Join(err, answer)
			}
		}
		return err
	}
	unworked := func(ctx context.Context, db *sql.DB) (c idempotency.Claim, err error) {
		effects.Store(0)
		return c, nil
	}
	// stepwise is a request in two transactions. Its claim is another one at each call, after a stop too.
	stepwise := func(ctx context.Context, db *sql.DB) error {
		claim, out, err := idempotency.Begin[receipt](ctx, db, k, key("a"))
		if err != nil || out != nil {
			return reason(err)
		}
		return reason(k.Owned(ctx, db, claim, func(ctx context.Context, tx *onerow.Tx) error {
			if _, err := pay(ctx, tx); err != nil {
				return err
			}
			return k.Complete(ctx, tx, claim, receipt{})
		}))
	}
	stepped := func(ctx context.Context, db *sql.DB, answers []error) error {
		err := h.paid(1)(ctx, db)
		for _, answer := range answers { // the other one, or later the result
			if answer != nil && !errors.Is(answer, idempotency.ErrInProgress) {
				err = errors.Join(err, answer)
			}
		}
		return err
	}
	begin := h.begin(k)
	twice := func(c call) []call { return []call{c, c} }
	return []race{
		{"begin, twice", table.empty, twice(begin), false, h.Exactly("claimed"), nil},
		{"begin, three times", table.empty, []call{begin, begin, begin}, false, h.Exactly("claimed"), nil},
		{"begin, released, twice", table.released, twice(begin), false, h.Exactly("claimed +1"), nil},
		{"begin, expired, twice", table.expired, twice(begin), false, h.Exactly("claimed +1"), nil},
		{"begin, take over, twice", table.leased, twice(h.begin(k, idempotency.Options{Lease: time.Hour})), false, h.Exactly("claimed +1"), nil},
		{"begin, expired, and purge", table.expired, []call{begin, purge}, false, nil, nil},
		{"work, twice", unworked, twice(work), false, nil, worked},
		{"begin, then owned, twice, with stops", table.empty, twice(stepwise), false, nil, stepped},
		{"complete, and take over", table.leased, []call{complete, begin}, false, h.untouched, nil},
		{"fail, and take over", table.leased, []call{fail, begin}, false, h.untouched, nil},
		{"extend, and take over", table.leased, []call{extend, begin}, false, h.untouched, nil},
		{"owned, and take over", table.leased, []call{owned, begin}, false, h.untouched, nil},
		{"owned, and the operator's release", table.begun, []call{owned, operatorRelease("ann")}, false, nil, nil},
		{"complete, twice", table.begun, twice(complete), true, nil, nil},
		{"complete, and begin", table.begun, []call{complete, begin}, false, nil, nil},
		{"release, and complete", table.begun, []call{release, complete}, false, nil, nil},
		{"release, and begin", table.begun, []call{release, begin}, false, nil, nil},
		{"fail, and complete", table.begun, []call{fail, complete}, false, nil, nil},
		{"operator's release, and complete", table.begun, []call{operatorRelease("ann"), complete}, false, nil, nil},
		{"operator's release, and begin", table.begun, []call{operatorRelease("ann"), begin}, false, h.untouched, nil},
		{"operator's release, twice", table.begun, twice(operatorRelease("ann")), true, nil, nil},
		{"operator's release, by two", table.begun, []call{operatorRelease("ann"), operatorRelease("bob")}, false, nil, nil},
		{"operator's complete, and complete", table.begun, []call{operatorComplete, complete}, false, nil, nil},
		{"operator's complete, and the operator's release", table.begun, []call{operatorComplete, operatorRelease("bob")}, false, nil, nil},
		{"operator's expire, and do", table.complete, []call{expire, h.do(k, pay)}, false, nil, nil},
		{"admit, twice", table.empty, twice(admit), true, h.Exactly("admitted true", "admitted false"), nil},
		{"admit, after an earlier window, twice", window, twice(admit), true, h.Exactly("admitted true", "admitted false"), nil},
		{"admit, after an earlier window, and purge", window, []call{admit, purge}, false, h.Exactly("admitted true"), nil},
	}
}

// TestInterleaveCatchesTheNaiveTwins: the key is looked for and then inserted; the claim is looked at and
// then completed.
func TestInterleaveCatchesTheNaiveTwins(t *testing.T) {
	keys := newKeys(t, idempotency.Config{})
	h, table := &heard{}, setups(keys)
	do := func(ctx context.Context, db *sql.DB) error {
		var n int
		if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM onerow_admission", nil, &n); err != nil || n > 0 {
			return err
		}
		if _, err := db.ExecContext(ctx, "UPDATE account SET balance = balance + 5 WHERE id = 1"); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, `REPLACE INTO onerow_admission (tenant, operation, idem_key, call_token, admitted_at, until_at)
			VALUES ('7', 'charge', 'a', REPEAT('x', 16), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 DAY)`)
		return err
	}
	complete := func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			var token int64
			err := onerow.QueryRow(ctx, tx, "SELECT token FROM onerow_key WHERE status = 'in_progress'", nil, &token)
			if err != nil || token != h.claim.Token {
				return errors.Join(err, idempotency.ErrLost)
			}
			_, err = tx.ExecContext(ctx, "UPDATE onerow_key SET status = 'complete', completed_at = UTC_TIMESTAMP(6) WHERE idem_key = 'a'")
			return err
		})
	}
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			_, dsn := open(t, dbtest.Isolation(level), dbtest.StaleWrites())
			for _, twin := range []struct {
				race
				racing []string // in the order in which they come
			}{
				{race{name: "look for the key, then work", setup: table.empty, calls: []call{do, do}, once: true},
					[]string{"SELECT COUNT(*) FROM onerow_admission", "SELECT COUNT(*) FROM onerow_admission", "UPDATE account SET balance", "UPDATE account SET balance"}},
				{race{name: "look at the token, then complete", setup: table.leased, calls: []call{complete, h.begin(keys, idempotency.Options{Lease: time.Hour})}},
					[]string{"SELECT token FROM onerow_key", "UPDATE onerow_key SET status = 'in_progress'", "UPDATE onerow_key SET status = 'complete'"}},
			} {
				t.Run(twin.name, func(t *testing.T) {
					r := twin.workflow(dsn, h)
					r.Every = -1
					racetest.Caught(t, r, twin.racing...)
				})
			}
		})
	}
}
