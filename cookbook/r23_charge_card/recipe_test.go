package r23

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

var due = []string{"INSERT INTO purchase (id, paid) VALUES (7, 0)"}

func TestRecipe23(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: due, Calls: thirty(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: due, Calls: thirty(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Setup: due, Calls: thirty(Onerow)},
		AsOnce:   true,
		ByCrash:  true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// thirty is to be paid. The lease has always run out when somebody else comes.
func thirty(call func(context.Context, *sql.DB, int, time.Duration) error) []kitchen.Call {
	return []kitchen.Call{func(ctx context.Context, db *sql.DB) error { return call(ctx, db, 30, time.Microsecond) }}
}

// Another amount for the same purchase is refused, before anything is charged.
func TestOtherAmount(t *testing.T) {
	for name, call := range map[string]func(context.Context, *sql.DB, int, time.Duration) error{"schema.sql": Solution, "onerow.sql": Onerow} {
		db := onerowtest.DB(t, schema.Plan{}, append(kitchen.Statements(t, name), due...)...)
		if err := call(t.Context(), db, 30, time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := call(t.Context(), db, 40, time.Minute); !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: another amount: %v", name, err)
		}
		if n := dbtest.Scan[int](t, db, "SELECT SUM(amount) FROM provider"); n != 30 {
			t.Errorf("%s: %d were charged", name, n)
		}
	}
}
