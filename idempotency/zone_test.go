package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
)

// TestClocks: what the verbs write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		db, dsn := open(t, zone)
		k := newKeys(t, idempotency.Config{})
		begin := func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
			claim, _, err := idempotency.Begin[receipt](ctx, db, k, key("a"), idempotency.Lease(time.Hour), idempotency.Expect(time.Hour))
			return claim, err
		}
		empty := func(context.Context, *sql.DB) (c idempotency.Claim, err error) { return c, nil }
		var all []crashtest.Workflow
		for _, v := range append(verbs(k),
			verb{name: "extend, leased", setup: begin, call: func(ctx context.Context, db *sql.DB, c idempotency.Claim) error {
				return k.Extend(ctx, db, c, idempotency.Lease(2*time.Hour), idempotency.Expect(2*time.Hour))
			}},
			verb{name: "admit, again", setup: empty, call: func(ctx context.Context, db *sql.DB, _ idempotency.Claim) error {
				for _, window := range []time.Duration{time.Microsecond, time.Hour} {
					if a, err := k.Admit(ctx, db, key("a"), window); err != nil || !a.Admitted {
						return errors.Join(errors.New("not admitted"), err)
					}
				}
				return nil
			}},
		) {
			all = append(all, workflow(v, dsn))
		}
		return db, all
	})
}

// TestTimesInEachZone: leases, expectations, windows and expiries end when they should, a minute before as a
// minute after.
func TestTimesInEachZone(t *testing.T) {
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db, _ := open(t, zone)
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		hour := []idempotency.Option{idempotency.Lease(time.Hour), idempotency.Expect(time.Hour)}
		for _, id := range []string{"runs", "ended"} {
			begun(t, db, keys, key(id), hour...)
		}
		for _, id := range []string{"kept", "expired"} {
			must(idempotency.Do(ctx, db, keys, key(id), charge(1), idempotency.Keep(time.Hour)))
		}
		for _, id := range []string{"closed", "open"} {
			must(keys.Admit(ctx, db, key(id), time.Hour))
		}
		dbtest.Exec(t, db, `UPDATE onerow_key SET lease_until = lease_until - INTERVAL 59 MINUTE, expected_completion = expected_completion - INTERVAL 59 MINUTE,
 expires_at = expires_at - INTERVAL 59 MINUTE`)
		dbtest.Exec(t, db, `UPDATE onerow_key SET lease_until = lease_until - INTERVAL 2 MINUTE, expected_completion = expected_completion - INTERVAL 2 MINUTE,
 expires_at = expires_at - INTERVAL 2 MINUTE WHERE idem_key IN ('ended', 'expired')`)
		dbtest.Exec(t, db, "UPDATE onerow_admission SET until_at = until_at - INTERVAL 60 MINUTE + INTERVAL IF(idem_key = 'open', -1, 1) MINUTE")

		// A key that was purged and is used again must have a token above that of its first life.
		if n := dbtest.Scan[int](t, db, "SELECT MAX(ABS(TIMESTAMPDIFF(SECOND, '1970-01-01', UTC_TIMESTAMP()) - token DIV 1000000)) FROM onerow_key"); n > 600 {
			t.Errorf("a token is %d seconds from the clock", n)
		}
		if m := must(keys.Measure(ctx, db)); m.Overdue != 1 {
			t.Errorf("measured %+v", m)
		}
		for id, want := range map[string]bool{"runs": false, "ended": true} {
			if e := must(keys.Find(ctx, db, key(id))); e.Overdue != want {
				t.Errorf("%s: %+v", id, e)
			}
		}
		for id, want := range map[string]bool{"kept": false, "expired": true} {
			if e := must(keys.Find(ctx, db, key(id))); e.Expired != want {
				t.Errorf("%s: %+v", id, e)
			}
		}
		for id, want := range map[string]bool{"closed": false, "open": true} {
			a := must(keys.Admit(ctx, db, key(id), time.Hour))
			if a.Admitted != want || a.RetryAfter > time.Minute {
				t.Errorf("%s: %+v", id, a)
			}
		}
		if _, _, err := idempotency.Begin[receipt](ctx, db, keys, key("runs"), hour...); !errors.Is(err, idempotency.ErrInProgress) {
			t.Errorf("a claim whose lease runs: %v", err)
		}
		begun(t, db, keys, key("ended"), hour...)
		if n := must(keys.Purge(ctx, db, 10)); n != 1 {
			t.Errorf("purged %d", n)
		}
		if out := must(idempotency.Do(ctx, db, keys, key("kept"), charge(1))); !out.Replayed {
			t.Error("a key was forgotten before its time")
		}
		dbtest.Exec(t, db, "UPDATE onerow_admission SET until_at = UTC_TIMESTAMP(6) + INTERVAL IF(idem_key = 'open', -1, 1) MINUTE")
		if n := must(keys.Purge(ctx, db, 10)); n != 1 {
			t.Errorf("purged %d admissions", n)
		}
	})
}
