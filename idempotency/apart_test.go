package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// TestApart: a call keeps none with another key waiting, whatever the state of either.
func TestApart(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelReadCommitted))
	k := newKeys(t, idempotency.Config{})
	of := func(n int) idempotency.Key { return key(fmt.Sprint("k", n)) }
	do := func(opts ...idempotency.Options) func(context.Context, onerow.DB, int) error {
		return func(ctx context.Context, db onerow.DB, n int) error {
			return second(idempotency.Do(ctx, db, k, of(n), charge(1), opts...))
		}
	}
	done := func(ctx context.Context, db *sql.DB, n int) error { return do()(ctx, db, n) }
	expired := func(ctx context.Context, db *sql.DB, n int) error {
		return do(idempotency.Options{Keep: time.Microsecond})(ctx, db, n)
	}
	claims := map[int]idempotency.Claim{}
	begin := func(ctx context.Context, db onerow.DB, n int) (err error) {
		claims[n], _, err = idempotency.Begin[receipt](ctx, db, k, of(n))
		return err
	}
	held := func(ctx context.Context, db *sql.DB, n int) error { return begin(ctx, db, n) }
	admit := func(ctx context.Context, db onerow.DB, n int) error {
		return second(k.Admit(ctx, db, of(n), time.Microsecond))
	}
	admitted := func(ctx context.Context, db *sql.DB, n int) error { return admit(ctx, db, n) }
	racetest.Apart(t, db, []string{"onerow_key", "onerow_admission"}, []racetest.Verb{
		{Name: "do", Call: do()},
		{Name: "do, replay", Setup: done, Call: do()},
		{Name: "do, expired", Setup: expired, Call: do()},
		{Name: "begin", Call: begin},
		{Name: "complete", Setup: held, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return k.Complete(ctx, db, claims[n], receipt{ID: 1})
		}},
		{Name: "fail", Setup: held, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return k.Fail(ctx, db, claims[n], errors.New("refused"))
		}},
		{Name: "release", Setup: held, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return k.Release(ctx, db, claims[n])
		}},
		{Name: "admit", Call: admit},
		{Name: "admit, again", Setup: admitted, Call: admit},
	})
}
