package quota_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
	"github.com/onerow/onerow/quota"
)

// TestClocks: what the verbs write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	o := order{by: "position", descending: true}
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		db, dsn := open(t, o, zone)
		var all []crashtest.Workflow
		for _, v := range verbs(o.rule(t)) {
			w := faulty(dsn, v.call)
			w.Name = v.name
			all = append(all, w)
		}
		fresh := faulty(dsn, func(ctx context.Context, db *sql.DB) error { // nothing is wrong with this owner
			_, err := o.rule(t).Recalculate(ctx, db, 9)
			return err
		})
		fresh.Name = "Recalculate, nothing to correct"
		return db, append(all, fresh)
	})
}

// TestRecheckInEachZone: an owner whose rows changed within the window is looked at, one that did before is
// not, and a change makes an owner one of the first.
func TestRecheckInEachZone(t *testing.T) {
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db, _ := open(t, order{}, zone)
		r := order{}.rule(t)
		for user := 1; user <= 3; user++ {
			setLimit(t, db, user, 1)
			add(t, db, user, 1, 2)
			recalculate(t, db, r, user)
		}
		dbtest.Exec(t, db, "UPDATE onerow_quota_owner SET changed_at = '2001-01-01' WHERE owner = '3'")
		dbtest.Exec(t, db, "UPDATE project SET is_over_quota = 0 WHERE user_id = 3")
		recalculate(t, db, r, 3) // changes rows, so the owner changed now
		dbtest.Exec(t, db, "UPDATE onerow_quota_owner SET changed_at = changed_at - INTERVAL 60 MINUTE + INTERVAL IF(owner = '1', -1, 1) MINUTE")
		dbtest.Exec(t, db, "UPDATE project SET is_over_quota = 0")
		res, err := quota.NewSweeper(db, quota.Config{Batch: 5, Recheck: time.Hour, RecheckEvery: time.Hour}, r).RunOnce(t.Context())
		if want := (quota.SweepResult{Rechecked: 2, Corrected: 2}); err != nil || res != want {
			t.Errorf("%+v, %v; want %+v", res, err, want)
		}
	})
}
