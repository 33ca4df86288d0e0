package flow_test

import (
	"database/sql"
	"testing"

	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestStagesApart: requests of two stages of a flow may have the same id.
func TestStagesApart(t *testing.T) {
	db, _ := open(t)
	ctx := t.Context()
	// One has ended at the first stage; at the second it never was.
	wantOutcome(t, flow.Admitted)(flow.Claim(ctx, db, run("", "x")))
	must(flow.Finish(ctx, db, run("", "x")))
	wantOutcome(t, flow.Admitted)(flow.Claim(ctx, db, run("", "a")))
	wantOutcome(t, flow.Admitted)(flow.ClaimAfter(ctx, db, run("pay", "p"), run("", "a")))
	wantError(t, second(flow.Claim(ctx, db, run("pay", "x"))), flow.ErrOwned)
	// One has ended at the second stage, and owns the first.
	wantOutcome(t, flow.Admitted)(flow.Supersede(ctx, db, run("", "p")))
	wantError(t, second(flow.ClaimAfter(ctx, db, run("pay", "p"), run("", "p"))), flow.ErrSuperseded)
	if err := flow.Prove(ctx, db, run("", "p")); err != nil {
		t.Error(err)
	}
	wantError(t, flow.Prove(ctx, db, run("pay", "p")), flow.ErrLost)
	// One has finished the second stage, which nobody owns since, and owns the first.
	wantOutcome(t, flow.Admitted)(flow.ClaimAfter(ctx, db, run("pay", "q"), run("", "p")))
	must(flow.Finish(ctx, db, run("pay", "q")))
	wantOutcome(t, flow.Admitted)(flow.Supersede(ctx, db, run("", "q")))
	wantOutcome(t, flow.Done)(flow.ClaimAfter(ctx, db, run("pay", "q"), run("", "q")))
	if err := flow.Prove(ctx, db, run("", "q")); err != nil {
		t.Error(err)
	}
}

// TestOwnedSince: a transaction whose snapshot is older than the owner is told of it.
func TestOwnedSince(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites())
	ctx := t.Context()
	tx := must(db.BeginTx(ctx, nil))
	dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM onerow_flow")
	wantOutcome(t, flow.Admitted)(flow.Claim(ctx, db, run("", "a")))
	wantError(t, second(flow.Claim(ctx, tx, run("", "b"))), flow.ErrOwned)
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}
