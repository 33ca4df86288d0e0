package r24

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe24(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive: kitchen.Side{
			Tables: "naive.sql", Setup: []string{"INSERT INTO job (id, state) VALUES (1, 'queued')"}, Calls: briefly(Naive),
		},
		Solution: kitchen.Side{
			Tables: "schema.sql", Setup: []string{"INSERT INTO job (id, state, token, lease_until) VALUES (1, 'queued', 0, '2026-01-01')"},
			Calls: briefly(Solution), Ignore: []string{"job.token", "job.lease_until"},
		},
		Onerow:  kitchen.Side{Tables: "onerow.sql", Calls: briefly(Onerow)},
		AsOnce:  true,
		ByCrash: true,
		Table:   kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:   sql.LevelRepeatableRead,
	})
}

// briefly: the lease has always run out when somebody else asks for the job.
func briefly(call func(context.Context, *sql.DB, time.Duration) error) []kitchen.Call {
	return []kitchen.Call{func(ctx context.Context, db *sql.DB) error { return call(ctx, db, time.Microsecond) }}
}
