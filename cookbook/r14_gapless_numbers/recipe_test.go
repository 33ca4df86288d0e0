package r14

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

// counter is how a series begins.
var counter = []string{"INSERT INTO series (name, last_no) VALUES ('invoice', 0)"}

func TestRecipe14(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Calls: orders(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: counter, Calls: orders(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Calls: orders(Onerow)},
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Refused),
		Trace:    sql.LevelRepeatableRead,
	})
}

// orders are two, invoiced at the same moment.
func orders(call func(context.Context, *sql.DB, int64) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, 1) },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, 2) },
	}
}

// TestPrograms14: the solution in other languages.
func TestPrograms14(t *testing.T) {
	var orders []string
	for i := range 200 {
		orders = append(orders, fmt.Sprint(5000-7*i))
	}
	kitchen.Programs(t, kitchen.Side{Tables: "schema.sql", Setup: counter}, "invoice", orders, 200,
		"SELECT CONCAT(COUNT(*), ' ', MIN(no), ' ', MAX(no), ' ', COUNT(DISTINCT no)) FROM invoice", "200 1 200 200")
}
