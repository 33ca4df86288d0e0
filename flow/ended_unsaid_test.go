package flow_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestEndedUnsaid: MariaDB answers some statements that it ends before their first row with OK and no row. A
// flow that is finished has no stage and no running request all the same, and a stage that is taken over has
// one.
func TestEndedUnsaid(t *testing.T) {
	const flows = 60
	db, dsn := open(t)
	pools := []*sql.DB{db}
	if dbtest.Server(t).Engine() == devdb.MariaDB { // MySQL ends only what it says that it ends
		for _, seconds := range []string{"0.00002", "0.00005", "0.0001", "0.0002"} {
			pools = append(pools, dbtest.OpenDSN(t, dsn+"&max_statement_time="+seconds))
		}
	}
	try := func(verb func(db *sql.DB) error) {
		for i := range 200 {
			if verb(pools[(i+1)%len(pools)]) == nil {
				return
			}
		}
		t.Fatal("200 tries failed")
	}
	for i := range flows {
		r := func(stage, id string) flow.Run {
			return flow.Run{Flow: fmt.Sprint("f", i), Stage: stage, RequestID: id}
		}
		for _, stage := range []string{"a", "b", "c"} {
			must(flow.Claim(t.Context(), db, r(stage, "1")))
		}
		try(func(db *sql.DB) error { return second(flow.Supersede(t.Context(), db, r("a", "2"))) })
		owned := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(stage, request_id) FROM onerow_flow WHERE flow = ?", r("", "").Flow)
		running := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(stage, request_id) FROM onerow_flow_request WHERE flow = ? AND status = 'running'", r("", "").Flow)
		if owned != "a2" || running != "a2" {
			t.Fatalf("flow %d, superseded: stages %q, running requests %q", i, owned, running)
		}
		must(flow.Claim(t.Context(), db, r("b", "2")))
		try(func(db *sql.DB) error { return second(flow.Finish(t.Context(), db, r("a", "2"))) })
		left := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM onerow_flow WHERE flow = ?", r("", "").Flow)
		open := dbtest.Scan[int64](t, db, "SELECT COUNT(*) FROM onerow_flow_request WHERE flow = ? AND status = 'running'", r("", "").Flow)
		if left != 0 || open != 0 {
			t.Fatalf("flow %d, finished: %d stages, %d running requests", i, left, open)
		}
	}
}
