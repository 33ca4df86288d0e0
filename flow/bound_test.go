package flow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestEndsEnd: where something keeps a request running, Finish and Supersede say so instead of trying for
// ever.
func TestEndsEnd(t *testing.T) {
	db, _ := open(t)
	must(flow.Claim(t.Context(), db, run("", "old")))
	// A request without a stage, as one has that is claimed while the stages end.
	dbtest.Exec(t, db, "INSERT INTO onerow_flow_request (flow, stage, request_id, status, admitted_at) VALUES (?, 'b', 'odd', 'running', UTC_TIMESTAMP(6))", run("", "old").Flow)
	dbtest.Exec(t, db, "CREATE TRIGGER never BEFORE UPDATE ON onerow_flow_request FOR EACH ROW SET NEW.status = 'running'")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, err := range []error{
		second(flow.Finish(ctx, db, run("", "old"))),
		second(flow.Supersede(ctx, db, run("", "new"))),
	} {
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
}
