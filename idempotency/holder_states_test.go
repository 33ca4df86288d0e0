package idempotency_test

import (
	"context"
	"errors"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestHolderInEveryState: the holder's verbs, with the token that the key has, write while the claim is in
// progress, and refuse in every other state, with nothing changed.
func TestHolderInEveryState(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	row := func() string {
		return dbtest.Scan[string](t, db, `SELECT CONCAT_WS(' ', status, token, version, attention, COALESCE(HEX(result), '-'), COALESCE(error, '-'), COALESCE(expires_at, '-'),
 COALESCE(lease_until, '-'), COALESCE(expected_completion, '-'), COALESCE(completed_at, '-')) FROM onerow_key`)
	}
	open := map[string]bool{"in_progress": true, "overdue": true, "lease ended": true}
	for _, state := range keyStates {
		for verb, do := range map[string]func(c idempotency.Claim) error{
			"complete": func(c idempotency.Claim) error { return keys.Complete(ctx, db, c, receipt{ID: 2}) },
			"fail":     func(c idempotency.Claim) error { return keys.Fail(ctx, db, c, errors.New("another")) },
			"release":  func(c idempotency.Claim) error { return keys.Release(ctx, db, c) },
			"extend":   func(c idempotency.Claim) error { return keys.Extend(ctx, db, c) },
			"owned": func(c idempotency.Claim) error {
				return keys.Owned(ctx, db, c, func(context.Context, *onerow.Tx) error { return nil })
			},
		} {
			for _, old := range []bool{false, true} {
				dbtest.Exec(t, db, "DELETE FROM onerow_key")
				claim := begun(t, db, keys, key("a"), state.o)
				if state.make != nil {
					if err := state.make(t, db, keys, claim); err != nil {
						t.Fatal(err)
					}
				}
				before := row()
				if old {
					claim.Token--
				}
				err := do(claim)
				again := verb == "release" && (state.name == "released" || state.name == "released, expired") // what it did before
				if ok := !old && (open[state.name] || again); ok != (err == nil) || !ok && !errors.Is(err, idempotency.ErrLost) {
					t.Errorf("%s, %s, old token %v: %v", state.name, verb, old, err)
				}
				if written := row() != before; written && (old || !open[state.name]) {
					t.Errorf("%s, %s, old token %v: %s, was %s", state.name, verb, old, row(), before)
				}
			}
		}
	}
}
