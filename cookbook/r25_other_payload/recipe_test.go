package r25

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe25(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Calls: two(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Calls: two(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Calls: two(Onerow)},
		Judge:    oneIsPaid,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// two payments come with one key: the client made it from the day, or used it again.
func two(pay func(context.Context, *sql.DB, string, Payment) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return pay(ctx, db, "k-1", Payment{30, "EUR"}) },
		func(ctx context.Context, db *sql.DB) error { return pay(ctx, db, "k-1", Payment{40, "EUR"}) },
	}
}

// oneIsPaid wants one of the two paid, and the other one refused.
func oneIsPaid(ctx context.Context, db *sql.DB, answers []error) error {
	var paid int
	if err := db.QueryRowContext(ctx, "SELECT SUM(amount) FROM payment").Scan(&paid); err != nil {
		return err
	}
	for i, amount := range []int{30, 40} {
		if amount == paid && answers[i] != nil {
			return fmt.Errorf("%d was paid, and the answer is %w", paid, answers[i])
		}
		if amount != paid && !errors.Is(answers[i], ErrOtherPayload) {
			return fmt.Errorf("%d was paid, and the request for %d was told that it succeeded", paid, amount)
		}
	}
	return nil
}

// The same request in other bytes is a repetition, another one is not.
func TestBodies(t *testing.T) {
	for name, pay := range map[string]func(context.Context, *sql.DB, string, Payment) error{"solution": Solution, "onerow": Onerow} {
		tables := map[string]string{"solution": "schema.sql", "onerow": "onerow.sql"}[name]
		db := onerowtest.DB(t, schema.Plan{}, kitchen.Statements(t, tables)...)
		for _, c := range []struct {
			body string
			want error
		}{
			{`{"amount":30,"currency":"EUR"}`, nil},
			{`{ "currency": "EUR", "amount": 30 }`, nil},
			{`{"amount":30,"currency":"USD"}`, ErrOtherPayload},
		} {
			var p Payment
			if err := json.Unmarshal([]byte(c.body), &p); err != nil {
				t.Fatal(err)
			}
			if err := pay(t.Context(), db, "k-1", p); !errors.Is(err, c.want) {
				t.Errorf("%s: %s: %v, want %v", name, c.body, err, c.want)
			}
		}
	}
}
