package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// verb is one verb under crashtest: the state before it and the call.
type verb struct {
	name   string
	setup  func(ctx context.Context, db *sql.DB) (idempotency.Claim, error)
	call   func(ctx context.Context, db *sql.DB, claim idempotency.Claim) error
	once   bool
	points int // at least
	check  func(ctx context.Context, db *sql.DB) error
}

// pay moves an amount to the account and inserts the charge: not idempotent by itself.
func pay(ctx context.Context, tx *onerow.Tx) (receipt, error) {
	if _, err := tx.ExecContext(ctx, "UPDATE account SET balance = balance + 5 WHERE id = 1"); err != nil {
		return receipt{}, err
	}
	return charge(5)(ctx, tx)
}

func verbs(k *idempotency.Keys) []verb {
	empty := func(context.Context, *sql.DB) (c idempotency.Claim, err error) { k.ForgetEnded(); return c, nil }
	begin := func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
		k.ForgetEnded()
		claim, _, err := idempotency.Begin[receipt](ctx, db, k, key("a"))
		return claim, err
	}
	released := func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
		claim, err := begin(ctx, db)
		return claim, errors.Join(err, k.Release(ctx, db, claim))
	}
	leased := func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
		k.ForgetEnded()
		claim, _, err := idempotency.Begin[receipt](ctx, db, k, key("a"), idempotency.Options{Lease: time.Microsecond})
		return claim, err
	}
	seen := func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
		claim, err := begin(ctx, db)
		return claim, errors.Join(err, k.Complete(ctx, db, claim, receipt{ID: 1}, idempotency.Options{Keep: time.Hour}))
	}
	complete := func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
		defer k.ForgetEnded()
		return seen(ctx, db)
	}
	expired := func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
		defer k.ForgetEnded()
		claim, err := begin(ctx, db)
		return claim, errors.Join(err, k.Complete(ctx, db, claim, receipt{ID: 1}, idempotency.Options{Keep: time.Microsecond}))
	}
	// What the last call of Do was answered, which is the receipt of the charge that is there, or of the one
	// before.
	var last onerow.Result[receipt]
	paid := func(ctx context.Context, db *sql.DB) error {
		var charges int
		var made receipt
		err := onerow.QueryRow(ctx, db, "SELECT COUNT(*), COALESCE(MAX(id), 0), COALESCE(MAX(amount), 0) FROM charge", nil, &charges, &made.ID, &made.Amount)
		if err == nil && (charges != 1 || last.Row != made) {
			err = fmt.Errorf("answered %+v, and there are %d charges, the last is %+v", last, charges, made)
		}
		return err
	}
	replayed := func(ctx context.Context, db *sql.DB) error {
		var charges int
		err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM charge", nil, &charges)
		if err == nil && (charges != 0 || !last.Replayed || last.Row != receipt{ID: 1}) {
			err = fmt.Errorf("answered %+v, and there are %d charges", last, charges)
		}
		return err
	}
	do := func(fn func(context.Context, *onerow.Tx) (receipt, error), want error) func(context.Context, *sql.DB, idempotency.Claim) error {
		return func(ctx context.Context, db *sql.DB, _ idempotency.Claim) error {
			out, err := idempotency.Do(ctx, db, k, key("a"), fn)
			switch {
			case want == nil && err == nil:
				last = out
			case want != nil && errors.Is(err, want) && strings.Contains(err.Error(), "refused"):
				return nil
			case want != nil && err == nil:
				err = fmt.Errorf("answered %+v, want %w", out, want)
			}
			return err
		}
	}
	permanent := func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
		r, err := pay(ctx, tx)
		if err != nil {
			return r, err
		}
		return r, idempotency.Permanent(errors.New("refused"))
	}
	undone := func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
		_, err := pay(ctx, tx)
		return receipt{ID: 1}, errors.Join(err, idempotency.ErrUndone)
	}
	kept := func(ctx context.Context, db *sql.DB) error {
		var charges int
		err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM charge", nil, &charges)
		if err == nil && (charges != 0 || last.Row != receipt{ID: 1}) {
			err = fmt.Errorf("answered %+v, and there are %d charges", last, charges)
		}
		return err
	}
	again := func(opts ...idempotency.Options) func(context.Context, *sql.DB, idempotency.Claim) error {
		return func(ctx context.Context, db *sql.DB, _ idempotency.Claim) error {
			_, _, err := idempotency.Begin[receipt](ctx, db, k, key("a"), opts...)
			if errors.Is(err, idempotency.ErrInProgress) { // its own, begun by the call that was cut
				return nil
			}
			return err
		}
	}
	operator := func(act func(o *keyadmin.Operator, ctx context.Context, db *sql.DB, seen idempotency.Entry) error, status idempotency.Status) func(context.Context, *sql.DB, idempotency.Claim) error {
		return func(ctx context.Context, db *sql.DB, claim idempotency.Claim) error {
			o, err := keyadmin.NewOperator(k, "ann", "ticket")
			if err != nil {
				return err
			}
			return act(o, ctx, db, idempotency.Entry{Key: claim.Key, Token: claim.Token, Status: status})
		}
	}
	return []verb{
		{"do", empty, do(pay, nil), false, 50, paid},
		{"do, replay", complete, do(pay, nil), false, 30, replayed},
		{"do, replay of what was seen", seen, do(pay, nil), false, 8, replayed},
		{"do, failed", empty, do(permanent, idempotency.ErrFailed), false, 45, nil},
		{"do, failed, expired", expired, do(permanent, idempotency.ErrFailed), false, 70, nil},
		{"do, undone", empty, do(undone, nil), false, 45, kept},
		{"do, expired, undone", expired, do(undone, nil), false, 70, kept},
		{"do, expired", expired, do(pay, nil), false, 80, paid},
		{"begin", empty, again(), false, 8, nil},
		{"begin, released", released, again(), false, 25, nil},
		{"begin, take over", leased, again(), false, 25, nil},
		{"complete", begin, func(ctx context.Context, db *sql.DB, c idempotency.Claim) error {
			return k.Complete(ctx, db, c, receipt{ID: 1})
		}, false, 8, nil},
		{"fail", begin, func(ctx context.Context, db *sql.DB, c idempotency.Claim) error {
			return k.Fail(ctx, db, c, errors.New("x"), idempotency.Options{Attention: true})
		}, false, 8, nil},
		{"release", begin, func(ctx context.Context, db *sql.DB, c idempotency.Claim) error { return k.Release(ctx, db, c) }, false, 8, nil},
		{"extend", begin, func(ctx context.Context, db *sql.DB, c idempotency.Claim) error { return k.Extend(ctx, db, c) }, false, 8, nil},
		{"owned, completed inside", begin, func(ctx context.Context, db *sql.DB, c idempotency.Claim) error {
			err := k.Owned(ctx, db, c, func(ctx context.Context, tx *onerow.Tx) error {
				r, err := pay(ctx, tx)
				if err != nil {
					return err
				}
				r.ID = 0 // the result must be the same when it is done again
				return k.Complete(ctx, tx, c, r)
			})
			var lost *idempotency.Error
			if errors.As(err, &lost) && lost.Entry.Token == c.Token && lost.Entry.Status == idempotency.Completed {
				return nil // by the call that got no answer
			}
			return err
		}, false, 45, nil},
		{"admit", empty, func(ctx context.Context, db *sql.DB, _ idempotency.Claim) error {
			_, err := k.Admit(ctx, db, key("a"), time.Hour)
			return err
		}, false, 8, nil},
		{"purge", expired, func(ctx context.Context, db *sql.DB, _ idempotency.Claim) error {
			_, err := keyadmin.Purge(ctx, db, k, 10)
			return err
		}, false, 25, nil},
		{"operator's release", begin, operator((func(o *keyadmin.Operator, ctx context.Context, db *sql.DB, s idempotency.Entry) error {
			return o.Release(ctx, db, s)
		}), idempotency.InProgress), false, 30, nil},
		{"operator's complete", begin, operator((func(o *keyadmin.Operator, ctx context.Context, db *sql.DB, s idempotency.Entry) error {
			return o.Complete(ctx, db, s, receipt{ID: 2})
		}), idempotency.InProgress), false, 30, nil},
		{"operator's expire", complete, operator((func(o *keyadmin.Operator, ctx context.Context, db *sql.DB, s idempotency.Entry) error {
			return o.Expire(ctx, db, s)
		}), idempotency.Completed), false, 30, nil},
		{"find, list and measure", complete, func(ctx context.Context, db *sql.DB, _ idempotency.Claim) error {
			_, err := keyadmin.Find(ctx, db, key("a"))
			_, lerr := keyadmin.List(ctx, db, keyadmin.ListOptions{Status: idempotency.InProgress, Waiting: true})
			_, merr := keyadmin.Measure(ctx, db, k)
			return errors.Join(err, lerr, merr)
		}, false, 25, nil},
	}
}

func workflow(v verb, dsn string) crashtest.Workflow {
	var claim idempotency.Claim
	return crashtest.Workflow{
		Name: v.name, DSN: dsn,
		Empty: []string{"onerow_key", "onerow_key_audit", "onerow_admission", "charge"},
		Setup: func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "UPDATE account SET balance = 0")
			if err == nil {
				claim, err = v.setup(ctx, db)
			}
			return err
		},
		Call:   func(ctx context.Context, db *sql.DB) error { return v.call(ctx, db, claim) },
		Check:  v.check,
		Tables: []string{"onerow_key", "onerow_key_audit", "onerow_admission", "charge", "account"},
		// The result of Do holds the id of its charge.
		Ignore: []string{"onerow_key.token", "onerow_key.call_token", "onerow_key.version", "onerow_key.result", "onerow_key_audit.token", "onerow_admission.call_token"},
		Once:   v.once,
	}
}

// TestCrashTogether does so where statements travel together, with the verbs that have transactions.
func TestCrashTogether(t *testing.T) {
	t.Parallel()
	_, dsn := open(t, dbtest.Isolation(levels[0]))
	for _, v := range verbs(newKeys(t, idempotency.Config{})) {
		if (strings.HasPrefix(v.name, "do") || strings.HasPrefix(v.name, "owned")) && v.name != "do, replay of what was seen" {
			t.Run(v.name, func(t *testing.T) {
				report := crashtest.Run(t, racetest.Share(racetest.Together(workflow(v, dsn))))
				racetest.HasPackets(t, report.Statements)
			})
		}
	}
}

// TestCrash fails every verb at every statement, on both isolation levels.
func TestCrash(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel() // most of the time is spent waiting until the server has ended a session
			_, dsn := open(t, dbtest.Isolation(level))
			total := 0
			for _, v := range verbs(newKeys(t, idempotency.Config{})) {
				t.Run(v.name, func(t *testing.T) {
					report := crashtest.Run(t, racetest.Share(workflow(v, dsn)))
					if report.FaultPoints < racetest.Least(v.points) {
						t.Errorf("%d fault points, want at least %d", report.FaultPoints, v.points)
					}
					total += report.FaultPoints
				})
			}
			t.Logf("%s: %d fault points", level, total)
		})
	}
}
