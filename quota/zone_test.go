package quota_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/zonetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/schema"
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

// TestOrderedByTimestamp: rows are ordered by their moments, in an hour that the session's zone reads
// twice, too.
func TestOrderedByTimestamp(t *testing.T) {
	zone := zonetest.Clockwork(t, dbtest.Open(t))
	plan := schema.Plan{Resources: []schema.Resource{{
		Name: "project", Owner: "user_id", Quota: schema.Quota{Flag: "is_over_quota", By: "seen"},
		Columns: []schema.Column{{Name: "seen", Type: "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP"}},
	}}}
	db, ctx := dbtest.OpenDSN(t, dbtest.DSN(t, dbtest.Zone(zone))), t.Context()
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range plan.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	for _, at := range []string{"01:30", "00:30", "01:45", "00:15"} {
		dbtest.Exec(t, db, ident.InUTC("INSERT INTO project (user_id, seen, created_at, updated_at) VALUES (1, ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))"), "2026-10-25 "+at)
	}
	for limit, want := range []string{"1,1,1,1", "1,1,1,0", "1,0,1,0", "0,0,1,0", "0,0,0,0"} {
		r, err := quota.New(plan, "project", quota.LimitQuery(fmt.Sprintf("SELECT %d WHERE ? IS NOT NULL", limit)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Recalculate(ctx, db, 1); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := onerow.QueryRow(ctx, db, "SELECT GROUP_CONCAT(is_over_quota ORDER BY id) FROM project", nil, &got); err != nil || got != want {
			t.Errorf("limit %d: over are %s, want %s: %v", limit, got, want, err)
		}
	}
}
