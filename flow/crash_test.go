package flow_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

var compared = []string{"onerow_flow", "onerow_flow_request", "onerow_flow_step", "cart"}

func faulty(dsn string, setup, call func(context.Context, *sql.DB) error) crashtest.Workflow {
	return crashtest.Workflow{
		DSN:   dsn,
		Empty: compared,
		Setup: func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "INSERT INTO cart VALUES (42, 0, 1)")
			return errors.Join(err, setup(ctx, db))
		},
		Call:   call,
		Tables: compared,
		Ignore: []string{"onerow_flow.call_token", "onerow_flow.version", "cart.version"},
	}
}

func claimed(ctx context.Context, db *sql.DB) error { return second(flow.Claim(ctx, db, run("", "a"))) }

func staged(ctx context.Context, db *sql.DB) error {
	return errors.Join(claimed(ctx, db), second(flow.Claim(ctx, db, run("pay", "a2"))))
}

func waiting(ctx context.Context, db *sql.DB) error {
	return errors.Join(claimed(ctx, db), second(flow.Await(ctx, db, run("", "a"), "price", nil)))
}

// validate is the whole of a message's work: claim, a conditional write, finish.
func validate(ctx context.Context, db *sql.DB) error {
	a := run("", "a")
	res, err := flow.Claim(ctx, db, a)
	if err != nil || res.Outcome == flow.Done {
		return err
	}
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := flow.Prove(ctx, tx, a); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE cart SET total = total + 5 WHERE id = 42"); err != nil {
			return err
		}
		return second(flow.Finish(ctx, tx, a)) // the work and the end in one commit: once
	})
}

func nothing(context.Context, *sql.DB) error { return nil }

// verb is a verb under faults: the state before it, the call, and how many fault points it has at least.
type verb struct {
	name  string
	setup func(context.Context, *sql.DB) error
	call  func(context.Context, *sql.DB) error
	min   int
}

func verbs() []verb {
	a := run("", "a")
	step := must(flow.StepID(a, "price"))
	return []verb{
		{"claim", nothing, claimed, 35},
		{"claim after", claimed, func(ctx context.Context, db *sql.DB) error {
			return second(flow.ClaimAfter(ctx, db, run("pay", "a2"), a))
		}, 45},
		{"claim refused", claimed, func(ctx context.Context, db *sql.DB) error {
			if _, err := flow.Claim(ctx, db, run("", "b")); !errors.Is(err, flow.ErrOwned) {
				return errors.Join(errors.New("not refused"), err)
			}
			return nil
		}, 35},
		{"supersede", staged, func(ctx context.Context, db *sql.DB) error { return second(flow.Supersede(ctx, db, run("", "b"))) }, 60},
		{"supersede nobody", nothing, func(ctx context.Context, db *sql.DB) error { return second(flow.Supersede(ctx, db, a)) }, 35},
		{"finish", staged, func(ctx context.Context, db *sql.DB) error { return second(flow.Finish(ctx, db, a)) }, 45},
		{"await", claimed, func(ctx context.Context, db *sql.DB) error {
			return second(flow.Await(ctx, db, a, "price", []byte("x")))
		}, 35},
		{"answer", waiting, func(ctx context.Context, db *sql.DB) error { return second(flow.Answer(ctx, db, step, []byte("5"))) }, 45},
		{"a conditional write", claimed, func(ctx context.Context, db *sql.DB) error {
			owns, args := a.Owns()
			return second(onerow.Affected(ctx, db, "UPDATE cart SET total = 7, version = version + 1 WHERE id = 42 AND "+owns, args...))
		}, 8},
		{"a whole run", nothing, validate, 80},
		{"forget and owners", func(ctx context.Context, db *sql.DB) error {
			return errors.Join(waiting(ctx, db), second(flow.Finish(ctx, db, a)))
		}, func(ctx context.Context, db *sql.DB) error {
			return errors.Join(second(flow.Forget(ctx, db, -time.Second, 10)), second(flow.Owners(ctx, db, "cart/42")))
		}, 40},
	}
}

// TestSurvivesFaults fails every verb at every statement.
func TestSurvivesFaults(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			_, dsn := open(t, dbtest.Isolation(level))
			for _, v := range verbs() {
				t.Run(v.name, func(t *testing.T) {
					w := faulty(dsn, v.setup, v.call)
					// "forget" finds nothing when it comes again: fewer statements, the same tables.
					if report := crashtest.Run(t, racetest.Share(w)); report.FaultPoints < racetest.Least(v.min) {
						t.Errorf("only %d fault points", report.FaultPoints)
					}
				})
			}
		})
	}
}

// TestFaultsCatchTheNaiveTwin: the id is reset before the last work is done, and a redelivery then runs all
// of it again, or nothing.
func TestFaultsCatchTheNaiveTwin(t *testing.T) {
	_, dsn := open(t)
	report, err := crashtest.Explore(t.Context(), faulty(dsn, claimed, func(ctx context.Context, db *sql.DB) error {
		var n int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM onerow_flow WHERE request_id = 'a'").Scan(&n); err != nil || n == 0 {
			return err
		}
		if _, err := db.ExecContext(ctx, "DELETE FROM onerow_flow WHERE request_id = 'a'"); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "UPDATE cart SET total = total + 5 WHERE id = 42")
		return err
	}))
	var failures *crashtest.Failures
	if !errors.As(err, &failures) {
		t.Fatalf("not caught: %v", err)
	}
	if first := failures.List[0]; !strings.Contains(first.Diff, "table cart") {
		t.Errorf("no difference in table cart:\n%s", first)
	}
	t.Logf("%s: %d of them caught it", report, len(failures.List))
}

// TestStatements holds the counts that doc.go states, BEGIN and COMMIT added.
func TestStatements(t *testing.T) {
	_, dsn := open(t)
	db, c := racetest.Counted(t, dsn)
	ctx, a, b := t.Context(), run("", "a"), run("", "b")
	expect := func(what string, want int, call func() error) {
		t.Helper()
		log, err := crashtest.Count(c, call)
		if err != nil && !errors.Is(err, flow.ErrOwned) && !errors.Is(err, flow.ErrLost) || len(log) != want {
			t.Errorf("%s: %d statements, want %d, %v:\n%s", what, len(log), want, err, log)
		}
	}
	claim := func(r flow.Run) func() error {
		return func() error { return second(flow.Claim(ctx, db, r)) }
	}
	expect("claim", 4, claim(a))
	expect("redelivered", 4, claim(a))
	expect("refused", 5, claim(b))
	expect("after", 5, func() error { return second(flow.ClaimAfter(ctx, db, run("pay", "x"), a)) })
	expect("prove", 1, func() error { return flow.Prove(ctx, db, a) })
	expect("prove, lost", 2, func() error { return flow.Prove(ctx, db, b) })
	expect("await", 4, func() error { return second(flow.Await(ctx, db, a, "s", nil)) })
	expect("await again", 5, func() error { return second(flow.Await(ctx, db, a, "s", nil)) })
	expect("answer", 5, func() error { return second(flow.Answer(ctx, db, must(flow.StepID(a, "s")), nil)) })
	supersede := func() error { return second(flow.Supersede(ctx, db, b)) }
	expect("supersede", 7, supersede)
	expect("supersede again", 5, supersede)
	expect("finish", 5, func() error { return second(flow.Finish(ctx, db, b)) })
	expect("finish again", 4, func() error { return second(flow.Finish(ctx, db, b)) })
	expect("done", 6, claim(b))
}
