package r16

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe16(t *testing.T) {
	full := []string{"INSERT INTO stock (id, n, version) VALUES (1, 10, 1)"}
	table := kitchen.Same(kitchen.Holds, kitchen.Breaks, kitchen.Refused)
	table.MariaDB11[1] = kitchen.Refused // error 1020: the row has changed since the snapshot
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: full, Calls: []kitchen.Call{Naive}},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: full, Calls: requests(Solution)},
		Onerow:   kitchen.Side{Tables: "schema.sql", Setup: full, Calls: requests(Onerow)},
		Table:    table,
		Trace:    sql.LevelRepeatableRead,
	})
}

// requests are two customers'.
func requests(call func(context.Context, *sql.DB, string) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "ann-1") },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "bob-1") },
	}
}
