package flow_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/zonetest"
)

// TestClocks: what the verbs write is UTC whatever the session's time zone.
func TestClocks(t *testing.T) {
	zonetest.Clocks(t, func(t *testing.T, zone dbtest.Option) (*sql.DB, []crashtest.Workflow) {
		db, dsn := open(t, zone)
		var all []crashtest.Workflow
		for _, v := range verbs() {
			w := faulty(dsn, v.setup, v.call)
			w.Name = v.name
			all = append(all, w)
		}
		return db, all
	})
}

// TestForgetInEachZone: what ended a minute too late stays, what ended a minute before that goes.
func TestForgetInEachZone(t *testing.T) {
	zonetest.Each(t, func(t *testing.T, zone dbtest.Option) {
		db, _ := open(t, zone)
		ctx := t.Context()
		for i, old := range []time.Duration{24*time.Hour - time.Minute, 24*time.Hour + time.Minute} {
			r := run("", fmt.Sprint(i))
			must(flow.Claim(ctx, db, r))
			must(flow.Finish(ctx, db, r))
			dbtest.Exec(t, db, "UPDATE onerow_flow_request SET ended_at = ended_at - INTERVAL ? MICROSECOND WHERE request_id = ?", old.Microseconds(), fmt.Sprint(i))
		}
		if n := must(flow.Forget(ctx, db, 24*time.Hour, 10)); n != 1 {
			t.Errorf("%d were forgotten", n)
		}
		wantOutcome(t, flow.Done)(flow.Claim(ctx, db, run("", "0")))
		if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_flow_request WHERE request_id = '1'"); n != 0 {
			t.Error("it is there still")
		}
	})
}
