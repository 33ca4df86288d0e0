package keyadmin_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestPurgeOneAtATime: a limit is one, of several audits of one key too, and what is not old does not wait to
// be purged.
func TestPurgeOneAtATime(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	o := must(keyadmin.NewOperator(keys, "ann", "ticket"))
	for range 2 {
		claim := begun(t, db, keys, key("a"))
		for _, err := range []error{
			o.Complete(ctx, db, idempotency.Entry{Key: key("a"), Token: claim.Token, Status: idempotency.InProgress}, 1),
			o.Expire(ctx, db, idempotency.Entry{Key: key("a"), Token: claim.Token, Status: idempotency.Completed}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for left := int64(4); left > 0; left-- {
		if n := must(keyadmin.AuditsToPurge(ctx, db, time.Microsecond, 10)); n != left {
			t.Errorf("%d audits to purge, want %d", n, left)
		}
		if n := must(keyadmin.PurgeAudits(ctx, db, time.Microsecond, 1)); n != 1 {
			t.Errorf("%d audits were purged", n)
		}
	}
	must(keyadmin.Purge(ctx, db, keys, 10))
	must(keys.Admit(ctx, db, key("stays"), time.Hour))
	if n := must(keyadmin.ToPurge(ctx, db, 10)); n != 0 {
		t.Errorf("%d to purge", n)
	}
}

// TestOperatorSees: an operator acts on what he has seen, and a repeated call knows its own audit from one of
// an earlier claim, in a transaction whose snapshot is older too.
func TestOperatorSees(t *testing.T) {
	for _, level := range levels {
		db, _ := open(t, dbtest.Isolation(level), dbtest.StaleWrites())
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		o := must(keyadmin.NewOperator(keys, "ann", "ticket"))
		first := begun(t, db, keys, key("a"))
		seen := idempotency.Entry{Key: key("a"), Token: first.Token, Status: idempotency.InProgress}
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM onerow_key_audit")
			if err := o.Release(ctx, db, seen); err != nil {
				return err
			}
			return o.Release(ctx, tx, seen)
		})
		if err != nil {
			t.Errorf("released twice: %v", err)
		}
		second := begun(t, db, keys, key("a"))
		if err := keys.Fail(ctx, db, second, errors.New("refused")); err != nil {
			t.Fatal(err)
		}
		seen.Token = second.Token
		for name, err := range map[string]error{
			"release": o.Release(ctx, db, seen), "complete": o.Complete(ctx, db, seen, 1), "expire": o.Expire(ctx, db, seen),
		} {
			if !errors.Is(err, keyadmin.ErrChanged) {
				t.Errorf("%s of what has failed meanwhile: %v", name, err)
			}
		}
	}
}

// TestAttentionIsAsked: an error that nobody needs to look at is in no list and in no gauge of those that
// somebody does.
func TestAttentionIsAsked(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	for id, opts := range map[string][]idempotency.Options{"plain": nil, "look": {idempotency.Options{Attention: true}}} {
		if err := keys.Fail(ctx, db, begun(t, db, keys, key(id)), errors.New("refused"), opts...); err != nil {
			t.Fatal(err)
		}
	}
	for state, want := range map[keyadmin.ListOptions]int{{Status: idempotency.Failed, Waiting: true}: 1, {Status: idempotency.Failed}: 2} {
		if list := must(keyadmin.List(ctx, db, state)); len(list) != want {
			t.Errorf("%+v: %+v", state, list)
		}
	}
	if m := must(keyadmin.Measure(ctx, db, keys)); m.Errored != 1 {
		t.Errorf("%+v", m)
	}
}
