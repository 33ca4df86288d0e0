package flow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func wantOutcome(t testing.TB, want flow.Outcome) func(flow.Result, error) {
	return func(res flow.Result, err error) {
		t.Helper()
		if err != nil || res.Outcome != want || res.Changed != (want == flow.Admitted) || res.Replayed == res.Changed {
			t.Fatalf("%+v, %v, want %s", res, err, want)
		}
	}
}

// TestLife: each arrow of the diagram, on a pool and joined, with the driver's settings that are most in the
// way.
func TestLife(t *testing.T) {
	for _, setting := range []string{"true", "false"} {
		for _, level := range levels {
			t.Run(setting+level.String(), func(t *testing.T) {
				db, _ := open(t, dbtest.Isolation(level), dbtest.Param("clientFoundRows", setting), dbtest.Param("interpolateParams", setting))
				ctx := t.Context()
				a, b, c := run("", "a"), run("", "b"), run("", "c")
				wantError(t, flow.Prove(ctx, db, a), flow.ErrLost)
				wantOutcome(t, flow.Admitted)(flow.Claim(ctx, db, a))
				wantOutcome(t, flow.Redelivered)(flow.Claim(ctx, db, a))
				_, err := flow.Claim(ctx, db, b)
				var owned *flow.OwnedError
				if wantError(t, err, flow.ErrOwned); !errors.As(err, &owned) || owned.Owner != "a" || time.Since(owned.Since).Abs() > 2*time.Hour {
					t.Fatal(err)
				}
				if err := flow.Prove(ctx, db, a); err != nil {
					t.Fatal(err)
				}
				wantOutcome(t, flow.Admitted)(flow.ClaimAfter(ctx, db, run("pay", "a2"), a))
				wantOutcome(t, flow.Admitted)(flow.Supersede(ctx, db, b))
				wantOutcome(t, flow.Redelivered)(flow.Supersede(ctx, db, b))
				wantOutcome(t, flow.Redelivered)(flow.Claim(ctx, db, b))
				for _, old := range []flow.Run{a, run("pay", "a2")} {
					err := flow.Prove(ctx, db, old)
					var lost *flow.LostError
					if wantError(t, err, flow.ErrSuperseded); !errors.As(err, &lost) || lost.By != "b" || !errors.Is(err, flow.ErrLost) {
						t.Fatal(err)
					}
					wantError(t, second(flow.Finish(ctx, db, old)), flow.ErrSuperseded)
					wantError(t, second(flow.Claim(ctx, db, old)), flow.ErrSuperseded)
				}
				wantError(t, second(flow.Supersede(ctx, db, a)), flow.ErrSuperseded)
				wantError(t, second(flow.ClaimAfter(ctx, db, run("pay", "a3"), a)), flow.ErrSuperseded)
				wantOutcome(t, flow.Admitted)(flow.ClaimAfter(ctx, db, run("pay", "b2"), b))
				if all := must(flow.Owners(ctx, db, "cart/42")); len(all) != 2 || all[1].Run != run("pay", "b2") {
					t.Fatalf("%+v", all)
				}

				// The owner of any stage finishes all.
				tx := must(db.BeginTx(ctx, nil))
				dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM onerow_flow") // takes the snapshot
				res, err := flow.Finish(ctx, tx, run("pay", "b2"))
				if err != nil || !res.Changed || res.Outcome != flow.Done {
					t.Fatal(res, err)
				}
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
				for _, r := range []flow.Run{b, run("pay", "b2")} {
					wantOutcome(t, flow.Done)(flow.Finish(ctx, db, r))
					wantOutcome(t, flow.Done)(flow.Claim(ctx, db, r))
					wantOutcome(t, flow.Done)(flow.Supersede(ctx, db, r))
					wantError(t, flow.Prove(ctx, db, r), flow.ErrFinished)
				}
				wantError(t, second(flow.Claim(ctx, db, a)), flow.ErrSuperseded)
				if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_flow"); n != 0 {
					t.Fatalf("%d stages left", n)
				}
				wantOutcome(t, flow.Admitted)(flow.Claim(ctx, db, c))
				wantOutcome(t, flow.Done)(flow.Claim(ctx, db, b)) // while another runs
				wantError(t, second(flow.Claim(ctx, db, a)), flow.ErrSuperseded)

				// Ended ids are kept for a while.
				if n := must(flow.Forget(ctx, db, time.Hour, 100)); n != 0 {
					t.Fatal(n)
				}
				if n := must(flow.Forget(ctx, db, -time.Second, 100)); n != 4 {
					t.Fatal(n)
				}
				wantOutcome(t, flow.Redelivered)(flow.Claim(ctx, db, c))
				wantError(t, second(flow.Claim(ctx, db, b)), flow.ErrOwned)
			})
		}
	}
}

// TestOldSnapshot: a finish that commits after a caller's snapshot is not missed.
func TestOldSnapshot(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites())
	ctx, a := t.Context(), run("", "a")
	must(flow.Claim(ctx, db, a))
	tx := must(db.BeginTx(ctx, nil))
	dbtest.Scan[int](t, tx, "SELECT COUNT(*) FROM onerow_flow_request")
	must(flow.Finish(ctx, db, a))
	wantOutcome(t, flow.Done)(flow.Claim(ctx, tx, a))
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_flow"); n != 0 {
		t.Fatalf("%d stages", n)
	}
}

func TestSteps(t *testing.T) {
	db, _ := open(t)
	ctx, a, b := t.Context(), run("", "req,a'%"), run("", "b")
	wantError(t, second(flow.Await(ctx, db, a, "price", nil)), flow.ErrLost)
	must(flow.Claim(ctx, db, a))
	step := must(flow.Await(ctx, db, a, "price", []byte("what?")))
	if step.Replayed || step.Answered {
		t.Fatalf("%+v", step)
	}
	if r, name, err := flow.ParseStepID(step.ID); err != nil || r != a || name != "price" {
		t.Fatal(r, name, err)
	}
	if again := must(flow.Await(ctx, db, a, "price", []byte("other"))); !again.Replayed || string(again.Asked) != "what?" || again.ID != step.ID {
		t.Fatalf("%+v", again)
	}
	got := must(flow.Answer(ctx, db, step.ID, []byte("5")))
	if got.Replayed || !got.Answered || string(got.Answer) != "5" || string(got.Asked) != "what?" || got.Run != a {
		t.Fatalf("%+v", got)
	}
	if got = must(flow.Answer(ctx, db, step.ID, []byte("6"))); !got.Replayed || string(got.Answer) != "5" {
		t.Fatalf("%+v", got)
	}
	if again := must(flow.Await(ctx, db, a, "price", nil)); !again.Answered || string(again.Answer) != "5" {
		t.Fatalf("%+v", again)
	}
	wantError(t, second(flow.Answer(ctx, db, must(flow.StepID(a, "other")), nil)), flow.ErrNoStep)

	// The new run's step is another one, and the old one's answers are recognised.
	stale := must(flow.Await(ctx, db, a, "stock", nil))
	must(flow.Supersede(ctx, db, b))
	fresh := must(flow.Await(ctx, db, b, "stock", nil))
	if fresh.Replayed || fresh.ID == stale.ID {
		t.Fatalf("%+v", fresh)
	}
	_, err := flow.Answer(ctx, db, stale.ID, []byte("old"))
	var lost *flow.LostError
	if wantError(t, err, flow.ErrSuperseded); !errors.As(err, &lost) || lost.Run != a || lost.By != "b" {
		t.Fatal(err)
	}
	if got = must(flow.Answer(ctx, db, fresh.ID, nil)); !got.Answered || len(got.Answer) != 0 {
		t.Fatalf("%+v", got)
	}
	must(flow.Finish(ctx, db, b))
	wantError(t, second(flow.Answer(ctx, db, fresh.ID, nil)), flow.ErrFinished)
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_flow_step"); n != 3 {
		t.Fatal(n)
	}
	must(flow.Forget(ctx, db, -time.Second, 1))
	if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_flow_step"); n != 1 {
		t.Fatalf("%d steps after the first run is forgotten", n)
	}
	for _, id := range []string{"", "x", "'a,'b,'c", "1,2,3,4", "','b,'c,'d"} {
		wantError(t, second(flow.Answer(ctx, db, id, nil)), flow.ErrInvalidArgument)
	}
}

func TestArguments(t *testing.T) {
	db, _ := open(t)
	ctx, long := t.Context(), strings.Repeat("x", 256)
	for _, r := range []flow.Run{{}, {Flow: "f"}, {Flow: long, RequestID: "r"}, {Flow: "f", RequestID: long}, {Flow: "f", Stage: long, RequestID: "r"}} {
		for _, err := range []error{
			second(flow.Claim(ctx, db, r)), second(flow.ClaimAfter(ctx, db, run("", "a"), r)), second(flow.Supersede(ctx, db, r)),
			second(flow.Finish(ctx, db, r)), flow.Prove(ctx, db, r), second(flow.Await(ctx, db, r, "s", nil)),
		} {
			wantError(t, err, flow.ErrInvalidArgument)
		}
	}
	wantError(t, second(flow.StepID(run("", "a"), strings.Repeat("s", 600))), flow.ErrInvalidArgument)
	wantError(t, second(flow.Await(ctx, db, run("", "a"), "s", make([]byte, 1<<24))), flow.ErrInvalidArgument)
}

// TestConditionalWrites: old and new runs write at once, by both ways of proof; what an old run wrote never
// follows what the new one did.
func TestConditionalWrites(t *testing.T) {
	for _, level := range levels {
		for _, way := range []string{"prove", "owns"} {
			t.Run(way+level.String(), func(t *testing.T) {
				db, _ := open(t, dbtest.Isolation(level))
				ctx := t.Context()
				write := func(r flow.Run, total int64) error {
					if way == "owns" {
						owns, args := r.Owns()
						n, err := onerow.Affected(ctx, db, "UPDATE cart SET total = ?, version = version + 1 WHERE id = 42 AND "+owns, append([]any{total}, args...)...)
						if err == nil && n == 0 {
							err = flow.Prove(ctx, db, r)
						}
						return err
					}
					return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
						if err := flow.Prove(ctx, tx, r); err != nil {
							return err
						}
						return second(onerow.Affected(ctx, tx, "UPDATE cart SET total = ?, version = version + 1 WHERE id = 42", total))
					})
				}
				var wg sync.WaitGroup
				errs := make(chan error, 64)
				for i := range int64(6) {
					wg.Go(func() {
						for n := range int64(5) {
							id := 1 + i + 6*n
							r := run("", fmt.Sprint(id))
							if _, err := flow.Supersede(ctx, db, r); err != nil {
								errs <- err
								return
							}
							for range 3 {
								err := write(r, id)
								if errors.Is(err, flow.ErrSuperseded) {
									break
								}
								if err != nil && !onerow.Retryable(err) {
									errs <- err
									return
								}
							}
						}
					})
				}
				wg.Wait()
				close(errs)
				for err := range errs {
					t.Error(err)
				}
				// Whoever owns it now writes last; nobody else can.
				owner := must(flow.Owners(ctx, db, "cart/42"))[0].Run
				if err := write(owner, 1000); err != nil {
					t.Fatal(err)
				}
				for id := range int64(30) {
					if r := run("", fmt.Sprint(id+1)); r != owner {
						wantError(t, write(r, -1), flow.ErrSuperseded)
					}
				}
				if got := dbtest.Scan[int64](t, db, "SELECT total FROM cart"); got != 1000 {
					t.Fatal(got)
				}
				if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_flow_request WHERE status = 'running'"); n != 1 {
					t.Fatalf("%d requests run", n)
				}
			})
		}
	}
}

// TestSupersedeWaits: a transaction that has proven its ownership commits before the takeover.
func TestSupersedeWaits(t *testing.T) {
	for _, way := range []string{"prove", "owns"} {
		for _, level := range levels {
			t.Run(way+level.String(), func(t *testing.T) {
				db, _ := open(t, dbtest.Isolation(level))
				ctx, a := t.Context(), run("", "a")
				must(flow.Claim(ctx, db, a))
				tx := must(db.BeginTx(ctx, nil))
				if way == "prove" {
					if err := flow.Prove(ctx, tx, a); err != nil {
						t.Fatal(err)
					}
				} else {
					owns, args := a.Owns()
					dbtest.Exec(t, tx, "UPDATE cart SET total = 1, version = version + 1 WHERE id = 42 AND "+owns, args...)
				}
				done := make(chan error, 1)
				go func() { done <- second(flow.Supersede(ctx, db, run("", "b"))) }()
				// Forty looks, each some milliseconds: it has every chance to be early.
				looks := 0
				dbtest.Eventually(t, 10*time.Second, func() (bool, string) {
					select {
					case err := <-done:
						t.Fatalf("taken over under the old run's transaction: %v", err)
					default:
					}
					looks++
					return looks == 40, "waiting"
				})
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// TestRace: 32 messages claim one stage; redeliveries pass, the others are refused, and one finishes.
func TestRace(t *testing.T) {
	for _, level := range levels {
		db, _ := open(t, dbtest.Isolation(level))
		ctx := t.Context()
		var wg sync.WaitGroup
		var mu sync.Mutex
		passed := map[string]int{}
		for i := range 32 {
			wg.Go(func() {
				r := run("", fmt.Sprint(i%8))
				res, err := flow.Claim(ctx, db, r)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && (res.Outcome == flow.Admitted) == (passed[r.RequestID+"admitted"] == 0):
					passed[r.RequestID]++
					if res.Outcome == flow.Admitted {
						passed[r.RequestID+"admitted"]++
					}
				case err == nil: // a redelivery may be told before the admission
					passed[r.RequestID]++
				case !errors.Is(err, flow.ErrOwned):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		owner := must(flow.Owners(ctx, db, "cart/42"))[0]
		if passed[owner.RequestID] != 4 || passed[owner.RequestID+"admitted"] > 1 || len(passed) > 2 {
			t.Fatalf("%+v, owner %+v", passed, owner)
		}
	}
}
