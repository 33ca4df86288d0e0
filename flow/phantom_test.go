package flow_test

import (
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestClaimedUnderTheEnd: a stage is claimed, by a run that is still the owner, while Supersede or Finish
// waits for that run. It ends too, also where its row is behind what the server has read already (READ
// COMMITTED).
func TestClaimedUnderTheEnd(t *testing.T) {
	for _, verb := range []string{"supersede", "finish"} {
		for _, level := range levels {
			t.Run(verb+level.String(), func(t *testing.T) {
				db, _ := open(t, dbtest.Isolation(level))
				ctx, cause, child := t.Context(), run("m", "m1"), run("c", "c1")
				must(flow.Claim(ctx, db, run("", "a")))
				must(flow.Claim(ctx, db, cause))
				tx := must(db.BeginTx(ctx, nil))
				if err := flow.Prove(ctx, tx, cause); err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() {
					if verb == "finish" {
						done <- second(flow.Finish(ctx, db, run("", "a")))
						return
					}
					done <- second(flow.Supersede(ctx, db, run("", "b")))
				}()
				// Most likely it waits for the stage m; whatever it does, the end is the same.
				looks := 0
				dbtest.Eventually(t, 20*time.Second, func() (bool, string) {
					looks++
					return looks == 20, "waiting"
				})
				_, err := flow.ClaimAfter(ctx, tx, child, cause)
				if err == nil {
					err = tx.Commit()
				} else if rerr := tx.Rollback(); rerr != nil {
					t.Fatal(rerr)
				}
				if err != nil && !onerow.Retryable(err) { // refused by the server, where gaps are locked
					t.Fatal(err)
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				wantError(t, flow.Prove(ctx, db, child), flow.ErrLost)
				wantError(t, flow.Prove(ctx, db, cause), flow.ErrLost)
				if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_flow WHERE stage <> ''"); n != 0 {
					t.Fatalf("%d stages survive", n)
				}
			})
		}
	}
}
