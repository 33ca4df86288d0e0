package idempotency_test

import (
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestSettings: nothing depends on these settings of the driver.
func TestSettings(t *testing.T) {
	for _, p := range [][2]string{{"clientFoundRows", "true"}, {"clientFoundRows", "false"}, {"interpolateParams", "true"}, {"interpolateParams", "false"},
		{"parseTime", "true"}, {"parseTime", "false"}, {"loc", "Asia%2FTokyo"}, {"time_zone", "%27-05:00%27"}} {
		t.Run(p[0]+"="+p[1], func(t *testing.T) {
			db, _ := open(t, dbtest.Param(p[0], p[1]))
			keys, ctx := newKeys(t, idempotency.Config{Keep: time.Hour}), t.Context()
			for _, replayed := range []bool{false, true} {
				for _, elsewhere := range []bool{false, true} {
					if elsewhere {
						keys.ForgetEnded()
					}
					out, err := idempotency.Do(ctx, db, keys, key("do"), charge(3), idempotency.Options{Payload: 1})
					if err != nil || out.Row.Amount != 3 || out.Replayed != (replayed || elsewhere) {
						t.Errorf("Do: %+v, %v", out, err)
					}
				}
			}
			claim := begun(t, db, keys, key("two"), idempotency.Options{Lease: time.Microsecond})
			leaseEnded(t, db, key("two"))
			heir := begun(t, db, keys, key("two"), idempotency.Options{Payload: "x"})
			if err := keys.Complete(ctx, db, claim, 1); !errors.Is(err, idempotency.ErrLost) {
				t.Errorf("the lost claim: %v", err)
			}
			var running *idempotency.Error
			if _, _, err := idempotency.Begin[int](ctx, db, keys, key("two")); !errors.As(err, &running) || running.Entry.Age < 0 || running.Entry.Age > time.Minute {
				t.Errorf("in progress: %+v", err)
			}
			for range 2 {
				if err := errors.Join(keys.Complete(ctx, db, heir, receipt{ID: 2})); err != nil {
					t.Error(err)
				}
			}
			e := must(keyadmin.Find(ctx, db, key("two")))
			if kept := e.ExpiresAt.Sub(e.CompletedAt); e.Status != idempotency.Completed || kept != time.Hour {
				t.Errorf("kept %s: %+v", kept, e)
			}
			if err := must(keyadmin.NewOperator(keys, "ann", "why")).Expire(ctx, db, e); err != nil {
				t.Error(err)
			}
			for _, admitted := range []bool{true, false} {
				if a := must(keys.Admit(ctx, db, key("a"), time.Minute)); a.Admitted != admitted {
					t.Errorf("Admit: %+v", a)
				}
			}
			if n := must(keyadmin.Purge(ctx, db, keys, 10)); n != 1 {
				t.Errorf("purged %d", n)
			}
		})
	}
}
