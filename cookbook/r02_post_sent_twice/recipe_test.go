package r02

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe02(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Calls: pays(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Calls: pays(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Calls: pays(Onerow)},
		AsOnce:   true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Refused),
		Trace:    sql.LevelRepeatableRead,
	})
}

// pays wants a payment, too.
func pays(pay func(context.Context, *sql.DB, string, int) (int64, error)) []kitchen.Call {
	return []kitchen.Call{func(ctx context.Context, db *sql.DB) error {
		payment, err := pay(ctx, db, "k-1", 30)
		if err == nil && payment == 0 {
			return errors.New("no payment")
		}
		return err
	}}
}

// The same key gets the same payment, and is refused with another amount.
func TestAnswers(t *testing.T) {
	for name, pay := range map[string]func(context.Context, *sql.DB, string, int) (int64, error){"solution": Solution, "onerow": Onerow} {
		db := onerowtest.DB(t, schema.Plan{}, kitchen.Statements(t, "schema.sql")...)
		first, err := pay(t.Context(), db, "k-1", 30)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := pay(t.Context(), db, "k-1", 30); again != first || err != nil {
			t.Errorf("%s: %d, then %d, %v", name, first, again, err)
		}
		if _, err := pay(t.Context(), db, "k-1", 31); !errors.Is(err, ErrOtherPayload) && !errors.Is(err, idempotency.ErrMismatch) {
			t.Errorf("%s: another amount: %v", name, err)
		}
	}
}

// TestPrograms02: the solution in other languages.
func TestPrograms02(t *testing.T) {
	arguments := []string{"30"}
	for i := range 200 {
		arguments = append(arguments, fmt.Sprint("key-", i))
	}
	kitchen.Programs(t, kitchen.Side{Tables: "schema.sql"}, "payment", arguments, 200,
		"SELECT CONCAT((SELECT COUNT(*) FROM payment), ' ', COUNT(DISTINCT payment_id)) FROM request", "200 200")
}
