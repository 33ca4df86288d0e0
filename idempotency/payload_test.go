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
	"github.com/onerow/onerow/idempotency/keyadmin"
)

// payloadStates bring a key that was begun with the payload 1 into each state in which it can be claimed, and
// say whether it still knows its payload.
var payloadStates = []struct {
	name  string
	knows bool
	make  func(t *testing.T, db *sql.DB, k *idempotency.Keys, o *keyadmin.Operator, c idempotency.Claim) error
}{
	{"released by its holder", true, func(t *testing.T, db *sql.DB, k *idempotency.Keys, _ *keyadmin.Operator, c idempotency.Claim) error {
		return k.Release(t.Context(), db, c)
	}},
	{"not done", true, func(t *testing.T, db *sql.DB, k *idempotency.Keys, _ *keyadmin.Operator, c idempotency.Claim) error {
		no := errors.New("no route")
		_, err := idempotency.Work(t.Context(), db, k, c, func(context.Context) (receipt, error) { return receipt{}, idempotency.NotDone(no) })
		if errors.Is(err, no) {
			return nil
		}
		return err
	}},
	{"released by an operator", true, func(t *testing.T, db *sql.DB, _ *idempotency.Keys, o *keyadmin.Operator, c idempotency.Claim) error {
		return o.Release(t.Context(), db, idempotency.Entry{Key: c.Key, Token: c.Token, Status: idempotency.InProgress})
	}},
	{"failed, then released by an operator", true, func(t *testing.T, db *sql.DB, k *idempotency.Keys, o *keyadmin.Operator, c idempotency.Claim) error {
		return errors.Join(k.Fail(t.Context(), db, c, errors.New("x")), o.Release(t.Context(), db, idempotency.Entry{Key: c.Key, Token: c.Token, Status: idempotency.Failed}))
	}},
	{"its lease ended", true, func(t *testing.T, db *sql.DB, k *idempotency.Keys, _ *keyadmin.Operator, c idempotency.Claim) error {
		err := k.Extend(t.Context(), db, c, idempotency.Options{Lease: time.Microsecond})
		leaseEnded(t, db, c.Key)
		return err
	}},
	{"complete and expired", false, func(t *testing.T, db *sql.DB, k *idempotency.Keys, o *keyadmin.Operator, c idempotency.Claim) error {
		return errors.Join(k.Complete(t.Context(), db, c, receipt{}), o.Expire(t.Context(), db, idempotency.Entry{Key: c.Key, Token: c.Token, Status: idempotency.Completed}))
	}},
	{"failed and expired", false, func(t *testing.T, db *sql.DB, k *idempotency.Keys, o *keyadmin.Operator, c idempotency.Claim) error {
		return errors.Join(k.Fail(t.Context(), db, c, errors.New("x"), idempotency.Options{Attention: true}),
			o.Expire(t.Context(), db, idempotency.Entry{Key: c.Key, Token: c.Token, Status: idempotency.Failed}))
	}},
	{"released and expired", false, func(t *testing.T, db *sql.DB, k *idempotency.Keys, o *keyadmin.Operator, c idempotency.Claim) error {
		return errors.Join(k.Release(t.Context(), db, c), o.Expire(t.Context(), db, idempotency.Entry{Key: c.Key, Token: c.Token, Status: idempotency.Released}))
	}},
}

// TestFreeKeyKeepsItsPayload: a key that is free because its work was not done is for the same payload only,
// for every verb that claims; an expired one is as if it had never been.
func TestFreeKeyKeepsItsPayload(t *testing.T) {
	eachLevel(t, func(t *testing.T, db *sql.DB) {
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		ann := must(keyadmin.NewOperator(keys, "ann", "ticket 12"))
		claims := map[string]func(k idempotency.Key, opts ...idempotency.Options) error{
			"Begin": func(k idempotency.Key, opts ...idempotency.Options) error {
				_, out, err := idempotency.Begin[receipt](ctx, db, keys, k, opts...)
				if err == nil && out != nil {
					err = fmt.Errorf("answered with %+v", out)
				}
				return err
			},
			"Do": func(k idempotency.Key, opts ...idempotency.Options) error {
				_, err := idempotency.Do(ctx, db, keys, k, charge(999), opts...)
				return err
			},
			"Do, undone": func(k idempotency.Key, opts ...idempotency.Options) error {
				_, err := idempotency.Do(ctx, db, keys, k, func(context.Context, *onerow.Tx) (receipt, error) { return receipt{}, idempotency.ErrUndone }, opts...)
				return err
			},
			"Do, joined": func(k idempotency.Key, opts ...idempotency.Options) error {
				return onerow.InTx(ctx, db, func(c context.Context, tx *onerow.Tx) error {
					_, err := idempotency.Do(c, tx, keys, k, charge(999), opts...)
					return err
				})
			},
		}
		for n, state := range payloadStates {
			for verb, claim := range claims {
				for _, seen := range []bool{false, true}[:1+n%2] {
					name := fmt.Sprintf("%s, %s, seen %t", state.name, verb, seen)
					k := key(fmt.Sprintf("%d %s %t", n, verb, seen))
					if err := state.make(t, db, keys, ann, begun(t, db, keys, k, idempotency.Options{Payload: 1})); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if !seen {
						keys.ForgetEnded()
					}
					before := charges(t, db)
					err := claim(k, idempotency.Options{Payload: 999})
					if !state.knows {
						if err != nil {
							t.Errorf("%s: another payload: %v", name, err)
						}
						continue
					}
					var mismatch *idempotency.Error
					if !errors.As(err, &mismatch) || charges(t, db) != before {
						t.Errorf("%s: another payload: %v, %d charges", name, err, charges(t, db)-before)
					}
					if err := claim(k, idempotency.Options{Payload: 1}); err != nil {
						t.Errorf("%s: the same payload: %v", name, err)
					}
				}
			}
		}
	})
}

// TestClaimWithoutPayload: who claims a free key and gives no payload does not make it forget the one it has.
func TestClaimWithoutPayload(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	for _, undone := range []bool{false, true} {
		k := key(fmt.Sprint("do ", undone))
		if err := keys.Release(ctx, db, begun(t, db, keys, k, idempotency.Options{Payload: 1})); err != nil {
			t.Fatal(err)
		}
		must(idempotency.Do(ctx, db, keys, k, func(ctx context.Context, tx *onerow.Tx) (receipt, error) {
			if undone {
				return receipt{}, idempotency.ErrUndone
			}
			return charge(1)(ctx, tx)
		}))
		if _, err := idempotency.Do(ctx, db, keys, k, charge(999), idempotency.Options{Payload: 999}); !errors.Is(err, idempotency.ErrMismatch) {
			t.Errorf("undone %t: %v", undone, err)
		}
	}
	k := key("begin")
	if err := keys.Release(ctx, db, begun(t, db, keys, k, idempotency.Options{Payload: 1})); err != nil {
		t.Fatal(err)
	}
	if err := keys.Release(ctx, db, begun(t, db, keys, k)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := idempotency.Begin[receipt](ctx, db, keys, k, idempotency.Options{Payload: 999}); !errors.Is(err, idempotency.ErrMismatch) {
		t.Errorf("begin: %v", err)
	}
	// An expired key has no payload: the next one counts, or none.
	if err := must(keyadmin.NewOperator(keys, "ann", "x")).Expire(ctx, db, must(keyadmin.Find(ctx, db, k))); err != nil {
		t.Fatal(err)
	}
	if err := keys.Complete(ctx, db, begun(t, db, keys, k), receipt{ID: 5}); err != nil {
		t.Fatal(err)
	}
	if _, out, err := idempotency.Begin[receipt](ctx, db, keys, k, idempotency.Options{Payload: 999}); err != nil || out == nil {
		t.Errorf("expired, then claimed without a payload: %+v, %v", out, err)
	}
}

// TestReleasedExpires: a released key lives as long as a finished one.
func TestReleasedExpires(t *testing.T) {
	db, _ := open(t)
	for keep, want := range map[time.Duration]time.Duration{0: 0, time.Hour: time.Hour} {
		keys, ctx := newKeys(t, idempotency.Config{Keep: keep}), t.Context()
		byHolder, byAnn := begun(t, db, keys, key(fmt.Sprint("holder ", keep))), begun(t, db, keys, key(fmt.Sprint("operator ", keep)))
		ann := must(keyadmin.NewOperator(keys, "ann", "x"))
		if err := errors.Join(keys.Release(ctx, db, byHolder), ann.Release(ctx, db, idempotency.Entry{Key: byAnn.Key, Token: byAnn.Token, Status: idempotency.InProgress})); err != nil {
			t.Fatal(err)
		}
		for _, c := range []idempotency.Claim{byHolder, byAnn} {
			e := must(keyadmin.Find(ctx, db, c.Key))
			if got := e.ExpiresAt.Sub(e.CompletedAt); e.ExpiresAt.IsZero() != (want == 0) || want != 0 && got != want {
				t.Errorf("keep %s: %+v", keep, e)
			}
		}
	}
}
