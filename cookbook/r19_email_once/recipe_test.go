package r19

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe19(t *testing.T) {
	due := []string{"INSERT INTO receipt (order_id, sent) VALUES (7, 0)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: due, Calls: briefly(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: due, Calls: briefly(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Calls: briefly(Onerow)},
		AsOnce:   true,
		ByCrash:  true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// briefly: the lease has always run out when somebody else comes.
func briefly(call func(context.Context, *sql.DB, time.Duration) error) []kitchen.Call {
	return []kitchen.Call{func(ctx context.Context, db *sql.DB) error { return call(ctx, db, time.Microsecond) }}
}
