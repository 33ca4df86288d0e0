package idempotency_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
)

// TestClocks: what the verbs write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		db, dsn := open(t, zone)
		k := newKeys(t, idempotency.Config{})
		begin := func(ctx context.Context, db *sql.DB) (idempotency.Claim, error) {
			claim, _, err := idempotency.Begin[receipt](ctx, db, k, key("a"), idempotency.Options{Lease: time.Hour, Expected: time.Hour})
			return claim, err
		}
		empty := func(context.Context, *sql.DB) (c idempotency.Claim, err error) { return c, nil }
		var all []crashtest.Workflow
		for _, v := range append(verbs(k),
			verb{name: "extend, leased", setup: begin, call: func(ctx context.Context, db *sql.DB, c idempotency.Claim) error {
				return k.Extend(ctx, db, c, idempotency.Options{Lease: 2 * time.Hour, Expected: 2 * time.Hour})
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

// TestEndsInEachZone: what ended is kept for as long as it was said to be, whoever ended it; and audits are
// purged a minute after their time, not before.
func TestEndsInEachZone(t *testing.T) {
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db, _ := open(t, zone)
		keys, ctx := newKeys(t, idempotency.Config{Keep: time.Hour}), t.Context()
		o := must(keyadmin.NewOperator(keys, "ann", "ticket"))
		seen := func(id string) idempotency.Entry {
			c := begun(t, db, keys, key(id))
			return idempotency.Entry{Key: c.Key, Token: c.Token, Status: idempotency.InProgress}
		}
		for _, err := range []error{
			keys.Complete(ctx, db, begun(t, db, keys, key("complete")), receipt{ID: 1}),
			keys.Fail(ctx, db, begun(t, db, keys, key("fail")), errors.New("refused")),
			keys.Release(ctx, db, begun(t, db, keys, key("release"))),
			o.Release(ctx, db, seen("operator's release")),
			o.Complete(ctx, db, seen("operator's complete"), receipt{ID: 1}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		query := "SELECT COALESCE(GROUP_CONCAT(idem_key), '') FROM onerow_key WHERE ABS(TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), expires_at) - 3600) > 600"
		if late := dbtest.Scan[string](t, db, query); late != "" {
			t.Errorf("not kept for an hour: %s", late)
		}
		dbtest.Exec(t, db, "UPDATE onerow_key_audit SET acted_at = acted_at - INTERVAL 24 HOUR + INTERVAL IF(action = 'release', -1, 1) MINUTE")
		if n := must(keyadmin.AuditsToPurge(ctx, db, 24*time.Hour, 10)); n != 1 {
			t.Errorf("%d audits are old", n)
		}
		if n := must(keyadmin.PurgeAudits(ctx, db, 24*time.Hour, 10)); n != 1 {
			t.Errorf("%d audits were purged", n)
		}
		if left := must(keyadmin.Audit(ctx, db, key("operator's complete"))); len(left) != 1 {
			t.Errorf("%d audits are left", len(left))
		}
	})
}

// TestTimesInEachZone: leases, expectations, windows and expiries end when they should, a minute before as a
// minute after.
func TestTimesInEachZone(t *testing.T) {
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db, _ := open(t, zone)
		keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
		hour := []idempotency.Options{{Lease: time.Hour, Expected: time.Hour}}
		for _, id := range []string{"runs", "ended"} {
			begun(t, db, keys, key(id), hour...)
		}
		for _, id := range []string{"kept", "expired"} {
			must(idempotency.Do(ctx, db, keys, key(id), charge(1), idempotency.Options{Keep: time.Hour}))
		}
		must(idempotency.Do(ctx, db, keys, key("last"), charge(1)))
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
		if m := must(keyadmin.Measure(ctx, db, keys)); m.Overdue != 1 {
			t.Errorf("measured %+v", m)
		}
		for id, want := range map[string]bool{"runs": false, "ended": true} {
			if e := must(keyadmin.Find(ctx, db, key(id))); e.Overdue != want {
				t.Errorf("%s: %+v", id, e)
			}
		}
		if list := must(keyadmin.List(ctx, db, keyadmin.ListOptions{Status: idempotency.InProgress, Waiting: true})); len(list) != 1 || list[0].Key != key("ended") {
			t.Errorf("overdue: %+v", list)
		}
		for id, want := range map[string]bool{"kept": false, "expired": true} {
			if e := must(keyadmin.Find(ctx, db, key(id))); e.Expired != want {
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
		if n := must(keyadmin.Purge(ctx, db, keys, 10)); n != 1 {
			t.Errorf("purged %d", n)
		}
		if out := must(idempotency.Do(ctx, db, keys, key("kept"), charge(1))); !out.Replayed {
			t.Error("a key was forgotten before its time")
		}
		dbtest.Exec(t, db, "UPDATE onerow_admission SET until_at = UTC_TIMESTAMP(6) + INTERVAL IF(idem_key = 'open', -1, 1) MINUTE")
		if n := must(keyadmin.Purge(ctx, db, keys, 10)); n != 1 {
			t.Errorf("purged %d admissions", n)
		}
	})
}
