package idempotency_test

import (
	"context"
	"errors"
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

// TestRoundTrips holds how many a call takes where statements travel together.
func TestRoundTrips(t *testing.T) {
	_, dsn := open(t)
	db, c := racetest.CountedTogether(t, dsn)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	expect := func(what string, want int, call func() error) {
		t.Helper()
		racetest.RoundTrips(t, c, what, want, call)
	}
	do := func(id string) func() error {
		return func() error {
			_, err := idempotency.Do(ctx, db, keys, key(id), charge(1))
			return err
		}
	}
	const fn = 1 // the statement of charge
	expect("Do", 2+fn, do("a"))
	expect("Do, replay of what was seen", 1, do("a"))
	keys.ForgetEnded()
	expect("Do, replay", 2, do("a"))
	var claim idempotency.Claim
	expect("Begin", 1, func() (err error) {
		claim, _, err = idempotency.Begin[receipt](ctx, db, keys, key("d"))
		return err
	})
	expect("Owned", 2+fn, func() error {
		return keys.Owned(ctx, db, claim, func(ctx context.Context, tx *onerow.Tx) error { _, err := charge(1)(ctx, tx); return err })
	})
	expect("Complete", 1, func() error { return keys.Complete(ctx, db, claim, receipt{ID: 1}) })
}

// TestStatements holds the counts that doc.go states.
func TestStatements(t *testing.T) {
	plain, dsn := open(t)
	db, c := racetest.Counted(t, dsn)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	expect := func(what string, want int, call func() error) {
		t.Helper()
		log, err := crashtest.Count(c, call)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(log) != want {
			t.Errorf("%s: %d statements, doc.go says %d:\n%s", what, len(log), want, log)
		}
	}
	fails := func(err, want error) error {
		if !errors.Is(err, want) {
			return errors.Join(errors.New("not as expected"), err)
		}
		return nil
	}
	do := func(db onerow.DB, id string, fn func(context.Context, *onerow.Tx) (receipt, error), opts ...idempotency.Options) error {
		_, err := idempotency.Do(ctx, db, keys, key(id), fn, opts...)
		return err
	}
	permanent := func(context.Context, *onerow.Tx) (receipt, error) {
		return receipt{}, idempotency.Permanent(errors.New("no"))
	}
	const fn = 1 // the statement of charge
	expect("Do", 4+fn, func() error { return do(db, "a", charge(1)) })
	expect("Do, replay of what was seen", 1, func() error { return do(db, "a", charge(1)) })
	keys.ForgetEnded()
	expect("Do, replay", 4, func() error { return do(db, "a", charge(1)) })
	if err := do(plain, "payload", charge(1), idempotency.Options{Payload: 1}); err != nil {
		t.Fatal(err)
	}
	expect("Do, another payload than was seen", 2, func() error {
		return fails(do(db, "payload", charge(1), idempotency.Options{Payload: 2}), idempotency.ErrMismatch)
	})
	keys.ForgetEnded()
	expect("Do, another payload", 5, func() error {
		return fails(do(db, "payload", charge(1), idempotency.Options{Payload: 2}), idempotency.ErrMismatch)
	})
	expect("Do, failed", 4, func() error { return fails(do(db, "d", permanent), idempotency.ErrFailed) })
	expect("Do, failed before, as was seen", 2, func() error { return fails(do(db, "d", permanent), idempotency.ErrFailed) })
	keys.ForgetEnded()
	expect("Do, failed before", 5, func() error { return fails(do(db, "d", permanent), idempotency.ErrFailed) })
	expect("Do, undone", 4+fn, func() error {
		return do(db, "undone", func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
			r, err := charge(1)(ctx, tx)
			return r, errors.Join(err, idempotency.ErrUndone)
		})
	})
	dbtest.Exec(t, plain, "UPDATE onerow_key SET expires_at = UTC_TIMESTAMP(6)")
	expect("Do, free, that was seen to have ended", 1+9+fn, func() error { return do(db, "d", charge(1)) })
	expect("Do, free", 9+fn, func() error { return do(db, "a", charge(1)) })
	asked := 0 // on a pool without the guard
	if version := dbtest.Scan[string](t, plain, "SELECT VERSION()"); !strings.Contains(version, "MariaDB") {
		asked = 1
	}
	tx := must(db.BeginTx(ctx, nil))
	expect("Do in a transaction", 4+fn+asked, func() error { return do(tx, "e", charge(1)) })
	expect("Do in a transaction, replay", 3+asked, func() error { return do(tx, "e", charge(1)) })
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}

	var claim idempotency.Claim
	begin := func(opts ...idempotency.Options) (err error) {
		claim, _, err = idempotency.Begin[receipt](ctx, db, keys, key("f"), opts...)
		return err
	}
	expect("Begin", 1, func() error { return begin(idempotency.Options{Lease: time.Hour}) })
	expect("Extend", 1, func() error { return keys.Extend(ctx, db, claim) })
	expect("Owned", 3, func() error {
		return keys.Owned(ctx, db, claim, func(context.Context, *onerow.Tx) error { return nil })
	})
	expect("Release", 1, func() error { return keys.Release(ctx, db, claim) })
	old := claim
	expect("Begin, free", 3, func() error { return begin() })
	expect("Complete, lost", 2, func() error { return fails(keys.Complete(ctx, db, old, 1), idempotency.ErrLost) })
	expect("Owned, lost", 4, func() error { return fails(keys.Owned(ctx, db, old, nil), idempotency.ErrLost) })
	held := claim
	expect("Begin, in progress", 2, func() error { return fails(begin(), idempotency.ErrInProgress) })
	expect("Complete", 1, func() error { return keys.Complete(ctx, db, held, receipt{}) })
	expect("Begin, replay of what was seen", 1, func() error { return begin() })
	keys.ForgetEnded()
	expect("Begin, replay", 2, func() error { return begin() })

	admit := func() error { _, err := keys.Admit(ctx, db, key("a"), time.Hour); return err }
	expect("Admit", 1, admit)
	expect("Admit, refused", 2, admit)
	dbtest.Exec(t, plain, "UPDATE onerow_admission SET until_at = UTC_TIMESTAMP(6)")
	expect("Admit, after a window", 3, admit)
	dbtest.Exec(t, plain, "UPDATE onerow_admission SET until_at = UTC_TIMESTAMP(6)")
	expect("Purge", 4, func() error { _, err := keyadmin.Purge(ctx, db, keys, 1000); return err })
	expect("Purge of nothing", 2, func() error { _, err := keyadmin.Purge(ctx, db, keys, 1000); return err })
	expect("List", 1, func() error {
		_, err := keyadmin.List(ctx, db, keyadmin.ListOptions{Status: idempotency.InProgress, Waiting: true})
		return err
	})
	expect("Measure", 1, func() error { _, err := keyadmin.Measure(ctx, db, keys); return err })
	ann, seen := must(keyadmin.NewOperator(keys, "ann", "why")), must(keyadmin.Find(ctx, db, key("f")))
	expect("Expire", 4, func() error { return ann.Expire(ctx, db, seen) })
	expect("Expire again", 4, func() error { return ann.Expire(ctx, db, seen) })
}
