package flow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// filled is a schema with flows that run, each with a step, and one that had as many requests before, all
// finished, with a step each.
func filled(t *testing.T, rows int, level sql.IsolationLevel) string {
	db, dsn := open(t, dbtest.Isolation(level))
	const now, ago = "UTC_TIMESTAMP(6)", "UTC_TIMESTAMP(6) - INTERVAL 1 DAY"
	dbtest.Exec(t, db, "INSERT INTO onerow_flow (flow, stage, request_id, call_token, claimed_at) "+cost.Numbers(rows)+"SELECT CONCAT('f', i), 'pay', 'r', '', "+now+" FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO onerow_flow_request (flow, stage, request_id, status, admitted_at) "+cost.Numbers(rows)+"SELECT CONCAT('f', i), 'pay', 'r', 'running', "+now+" FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO onerow_flow_request (flow, stage, request_id, status, admitted_at, ended_at) "+cost.Numbers(rows)+"SELECT 'old', 'pay', CONCAT('r', i), 'finished', "+ago+", "+ago+" FROM numbers")
	steps := "INSERT INTO onerow_flow_step (step_id, created_at) " + cost.Numbers(rows) + "SELECT REPLACE(?, 'N', i), " + now + " FROM numbers"
	dbtest.Exec(t, db, steps, must(flow.StepID(flow.Run{Flow: "fN", Stage: "pay", RequestID: "r"}, "card")))
	dbtest.Exec(t, db, steps, must(flow.StepID(flow.Run{Flow: "old", Stage: "pay", RequestID: "rN"}, "card")))
	dbtest.Exec(t, db, "ANALYZE TABLE onerow_flow, onerow_flow_request, onerow_flow_step")
	return dsn
}

// TestCosts: what a call reads and locks depends neither on the other flows nor on what its own has ended.
func TestCosts(t *testing.T) {
	run := func(name, stage, request string) flow.Run {
		return flow.Run{Flow: name, Stage: stage, RequestID: request}
	}
	for _, level := range levels {
		c := cost.Compare(t, filled(t, cost.Few, level), filled(t, cost.Many(t), level), 60)
		c.Call("claim", func(ctx context.Context, db *sql.DB) error {
			return second(flow.Claim(ctx, db, run("old", "pay", "new")))
		})
		c.Call("redelivery", func(ctx context.Context, db *sql.DB) error {
			return second(flow.Claim(ctx, db, run("old", "pay", "new")))
		})
		c.Call("a stage that is owned", func(ctx context.Context, db *sql.DB) error {
			_, err := flow.Claim(ctx, db, run("f7", "pay", "other"))
			return is(err, flow.ErrOwned)
		})
		c.Call("a second stage", func(ctx context.Context, db *sql.DB) error {
			return second(flow.ClaimAfter(ctx, db, run("old", "mail", "next"), run("old", "pay", "new")))
		})
		var step string
		c.Call("await", func(ctx context.Context, db *sql.DB) error {
			s, err := flow.Await(ctx, db, run("old", "pay", "new"), "card", []byte("?"))
			step = s.ID
			return err
		})
		c.Call("answer", func(ctx context.Context, db *sql.DB) error { return second(flow.Answer(ctx, db, step, []byte("!"))) })
		c.Call("prove", func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return flow.Prove(ctx, tx, run("old", "pay", "new")) })
		})
		c.Call("prove what is lost", func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				return is(flow.Prove(ctx, tx, run("old", "pay", "r7")), flow.ErrLost)
			})
		})
		c.Call("owners", func(ctx context.Context, db *sql.DB) error { return second(flow.Owners(ctx, db, "old")) })
		c.Call("supersede", func(ctx context.Context, db *sql.DB) error {
			return second(flow.Supersede(ctx, db, run("old", "pay", "newer")))
		})
		c.Call("finish", func(ctx context.Context, db *sql.DB) error {
			return second(flow.Finish(ctx, db, run("old", "pay", "newer")))
		})
		c.Call("claim what has ended", func(ctx context.Context, db *sql.DB) error {
			return second(flow.Claim(ctx, db, run("old", "pay", "r9")))
		})
		c.Call("forget", func(ctx context.Context, db *sql.DB) error {
			n, err := flow.Forget(ctx, db, time.Hour, 3)
			if err == nil && n != 3 {
				err = fmt.Errorf("%d were forgotten", n)
			}
			return err
		})
		c.Source(".", nil)
	}
}

// is an error unless err is want.
func is(err, want error) error {
	if !errors.Is(err, want) {
		return fmt.Errorf("got the error %w, want %w", err, want)
	}
	return nil
}

// TestForgetCost: Forget reads and locks what it removes, however many requests there are, and however many
// of them are old.
func TestForgetCost(t *testing.T) {
	filled := func(n int, level sql.IsolationLevel) string {
		db, dsn := open(t, dbtest.Isolation(level))
		dbtest.Exec(t, db, "INSERT INTO onerow_flow_request (flow, stage, request_id, status, admitted_at, ended_at) "+cost.Numbers(n)+
			"SELECT CONCAT('f', i), 's', i, 'finished', UTC_TIMESTAMP(6) - INTERVAL i SECOND, UTC_TIMESTAMP(6) - INTERVAL i SECOND FROM numbers")
		dbtest.Exec(t, db, "INSERT INTO onerow_flow_step (step_id, created_at) SELECT CONCAT('''', flow, ',''', stage, ',''', request_id, ',''a'), admitted_at FROM onerow_flow_request")
		dbtest.Exec(t, db, "ANALYZE TABLE onerow_flow_request, onerow_flow_step")
		return dsn
	}
	for _, level := range levels {
		few, many := filled(cost.Few, level), filled(cost.Many(t), level)
		for _, age := range []time.Duration{time.Microsecond, 500 * time.Second} {
			for _, s := range cost.Flat(t, few, many, func(ctx context.Context, db *sql.DB) error {
				if n := must(flow.ToForget(ctx, db, age, 30)); n != 30 {
					return fmt.Errorf("%d to forget", n)
				}
				if n := must(flow.Forget(ctx, db, age, 3)); n != 3 {
					return fmt.Errorf("%d forgotten", n)
				}
				return nil
			}) {
				// At REPEATABLE READ also what was deleted before, until the server has purged it: 2 times 3.
				if t.Logf("%s: %s", level, s); s.Read > 100 || s.Locked > 7 {
					t.Errorf("%s, older than %v: %s", level, age, s)
				}
			}
		}
	}
	// The steps go with their requests.
	db := dbtest.OpenDSN(t, filled(cost.Few, sql.LevelReadCommitted))
	if n := must(flow.Forget(t.Context(), db, 500*time.Second, 1000)); n == 0 || int(n) != 1000-dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_flow_step") {
		t.Errorf("%d forgotten, and other steps", n)
	}
}
