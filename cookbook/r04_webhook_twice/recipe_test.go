package r04

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

var (
	created = Event{ID: "evt_1", Order: 7, Status: "created", At: 100}
	paid    = Event{ID: "evt_2", Order: 7, Status: "paid", At: 200}
	open    = []string{"INSERT INTO purchase (id, status, status_at) VALUES (7, 'new', 0)"}
)

func TestRecipe04(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: open, Calls: delivers(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: open, Calls: delivers(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Setup: open, Calls: delivers(Onerow)},
		AsOnce:   true,
		ByCrash:  true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

func delivers(call func(context.Context, *sql.DB, Event) error) []kitchen.Call {
	return []kitchen.Call{func(ctx context.Context, db *sql.DB) error { return call(ctx, db, paid) }}
}

// An event that comes late changes nothing in the solutions, and takes the status back in the naive code.
func TestOutOfOrder(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle func(context.Context, *sql.DB, Event) error
		tables string
		want   string
	}{{"naive", Naive, "naive.sql", "created"}, {"solution", Solution, "schema.sql", "paid"}, {"onerow", Onerow, "onerow.sql", "paid"}} {
		db := onerowtest.DB(t, schema.Plan{}, append(kitchen.Statements(t, c.tables), open...)...)
		for _, e := range []Event{paid, created, paid} {
			if err := c.handle(t.Context(), db, e); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if got := dbtest.Scan[string](t, db, "SELECT status FROM purchase"); got != c.want {
			t.Errorf("%s: the order is %s, want %s", c.name, got, c.want)
		}
	}
}
