package flow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/flow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// TestApart: a run keeps no run of another flow waiting.
func TestApart(t *testing.T) {
	db, _ := open(t, dbtest.Isolation(sql.LevelReadCommitted))
	of := func(n int, request string) flow.Run {
		return flow.Run{Flow: fmt.Sprint("cart/", n), Stage: "price", RequestID: request}
	}
	claimed := func(ctx context.Context, db *sql.DB, n int) error { return second(flow.Claim(ctx, db, of(n, "a"))) }
	waiting := func(ctx context.Context, db *sql.DB, n int) error {
		return errors.Join(claimed(ctx, db, n), second(flow.Await(ctx, db, of(n, "a"), "price", []byte("x"))))
	}
	racetest.Apart(t, db, []string{"onerow_flow", "onerow_flow_step"}, []racetest.Verb{
		{Name: "claim", Call: func(ctx context.Context, db onerow.DB, n int) error { return second(flow.Claim(ctx, db, of(n, "a"))) }},
		{Name: "claim refused", Setup: claimed, Call: func(ctx context.Context, db onerow.DB, n int) error {
			if _, err := flow.Claim(ctx, db, of(n, "b")); !errors.Is(err, flow.ErrOwned) {
				return fmt.Errorf("not refused: %w", err)
			}
			return nil
		}},
		{Name: "finish", Setup: waiting, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(flow.Finish(ctx, db, of(n, "a")))
		}},
		{Name: "supersede", Setup: waiting, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(flow.Supersede(ctx, db, of(n, "b")))
		}},
		{Name: "await", Setup: claimed, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(flow.Await(ctx, db, of(n, "a"), "price", []byte("x")))
		}},
		{Name: "answer", Setup: waiting, Call: func(ctx context.Context, db onerow.DB, n int) error {
			id, err := flow.StepID(of(n, "a"), "price")
			return errors.Join(err, second(flow.Answer(ctx, db, id, []byte("5"))))
		}},
	})
}
