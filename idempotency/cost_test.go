package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// filled is a schema with as many keys of one operation in each state, a few of the finished ones expired,
// and as many admissions.
func filled(t *testing.T, rows int, level sql.IsolationLevel) string {
	db, dsn := open(t, dbtest.Isolation(level))
	dbtest.Exec(t, db, "INSERT INTO onerow_key (tenant, operation, idem_key, status, attention, expected_completion, token, call_token, locked_by, created_at, locked_at, codec, result, expires_at) "+
		cost.Numbers(rows)+`SELECT '7', 'charge', CONCAT('k', i), ELT(1 + i % 6, 'complete', 'error', 'error', 'in_progress', 'in_progress', 'in_progress'), i % 6 = 1,
		UTC_TIMESTAMP(6) + INTERVAL IF(i % 6 = 3, NULL, IF(i % 6 = 4, 3600, 0) - i) SECOND,
		1, '', 'x', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'json', '{}', UTC_TIMESTAMP(6) + INTERVAL IF(i % 6 > 2, NULL, IF(i <= 24, -i, 86400)) SECOND FROM numbers`)
	dbtest.Exec(t, db, "INSERT INTO onerow_admission (tenant, operation, idem_key, call_token, admitted_at, until_at) "+cost.Numbers(rows)+
		"SELECT '7', 'charge', CONCAT('k', i), '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL IF(i % 10 = 0, -i, 86400) SECOND FROM numbers")
	dbtest.Exec(t, db, "ANALYZE TABLE onerow_key, onerow_admission")
	return dsn
}

// TestCosts: what a call reads and locks does not depend on how many keys there are, in whatever state.
func TestCosts(t *testing.T) {
	keys := newKeys(t, idempotency.Config{})
	for _, level := range levels {
		c := cost.Compare(t, filled(t, cost.Few, level), filled(t, cost.Many(t), level), 60)
		forgetful := func(name string, call func(ctx context.Context, db *sql.DB) error) {
			c.Call(name, func(ctx context.Context, db *sql.DB) error {
				keys.ForgetEnded() // else the calls beside few rows would tell those beside many
				return call(ctx, db)
			})
		}
		do := func(id string, want error) func(ctx context.Context, db *sql.DB) error {
			return func(ctx context.Context, db *sql.DB) error {
				_, err := idempotency.Do(ctx, db, keys, key(id), func(context.Context, *onerow.Tx) (receipt, error) {
					if want != nil {
						return receipt{}, idempotency.Permanent(want)
					}
					return receipt{}, nil
				})
				return is(err, want)
			}
		}
		forgetful("do", do("a", nil))
		forgetful("replay", do("a", nil))
		c.Call("replay of what was seen", do("a", nil))
		c.Call("replay that is traced", func(ctx context.Context, db *sql.DB) error {
			return do("a", nil)(onerow.WithTracer(ctx, unheard{}), db)
		})
		forgetful("fails for good", do("c", idempotency.ErrFailed))
		forgetful("fails for good again", do("c", idempotency.ErrFailed))
		c.Call("fails for good in a transaction", func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				_, err := idempotency.Do(ctx, tx, keys, key("e"), func(context.Context, *onerow.Tx) (receipt, error) {
					return receipt{}, idempotency.Permanent(errors.New("no"))
				})
				return is(err, idempotency.ErrFailed)
			})
		})
		forgetful("one that is free", func(ctx context.Context, db *sql.DB) error {
			if _, err := db.ExecContext(ctx, "UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6) WHERE tenant = '7' AND operation = 'charge' AND idem_key = 'a'"); err != nil {
				return err
			}
			return do("a", nil)(ctx, db)
		})
		forgetful("fails for good where it is free", func(ctx context.Context, db *sql.DB) error {
			if _, err := db.ExecContext(ctx, "UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6) WHERE tenant = '7' AND operation = 'charge' AND idem_key = 'a'"); err != nil {
				return err
			}
			return do("a", errors.New("no"))(ctx, db)
		})
		forgetful("complete what is lost", func(ctx context.Context, db *sql.DB) error {
			return is(keys.Complete(ctx, db, idempotency.Claim{Key: key("a"), Token: 1}, 1), idempotency.ErrLost)
		})
		for _, two := range []struct {
			name string
			end  func(ctx context.Context, db *sql.DB, claim idempotency.Claim) error
		}{
			{"complete", func(ctx context.Context, db *sql.DB, claim idempotency.Claim) error {
				return keys.Complete(ctx, db, claim, receipt{})
			}},
			{"fail", func(ctx context.Context, db *sql.DB, claim idempotency.Claim) error {
				return keys.Fail(ctx, db, claim, errors.New("no"))
			}},
			{"release", func(ctx context.Context, db *sql.DB, claim idempotency.Claim) error {
				return keys.Release(ctx, db, claim)
			}},
		} {
			forgetful("begin, extend, own, "+two.name, func(ctx context.Context, db *sql.DB) error {
				claim, _, err := idempotency.Begin[receipt](ctx, db, keys, key(two.name))
				if err != nil {
					return err
				}
				owned := keys.Owned(ctx, db, claim, func(context.Context, *onerow.Tx) error { return nil })
				return errors.Join(keys.Extend(ctx, db, claim), owned, two.end(ctx, db, claim))
			})
		}
		c.Call("admit", func(ctx context.Context, db *sql.DB) error { return second(keys.Admit(ctx, db, key("new"), time.Hour)) })
		c.Call("admit, refused", func(ctx context.Context, db *sql.DB) error { return second(keys.Admit(ctx, db, key("k7"), time.Hour)) })
		c.Call("admit, after its window", func(ctx context.Context, db *sql.DB) error { return second(keys.Admit(ctx, db, key("k10"), time.Hour)) })
		c.Source(".", nil)
	}
}

func second[T any](_ T, err error) error { return err }

// is an error unless err is want.
func is(err, want error) error {
	if !errors.Is(err, want) {
		return fmt.Errorf("got the error %w, want %w", err, want)
	}
	return nil
}

// unheard is a tracer that keeps nothing.
type unheard struct{}

func (unheard) Start(ctx context.Context, _, _ string) context.Context { return ctx }
func (unheard) Set(context.Context, ...slog.Attr)                      {}
func (unheard) Event(context.Context, string, ...slog.Attr)            {}
func (unheard) Link(context.Context, string)                           {}
func (unheard) End(context.Context, error)                             {}
func (unheard) Traceparent(context.Context) string                     { return "" }
