package r01

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe01(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Calls: []kitchen.Call{func(ctx context.Context, db *sql.DB) error { return Naive(ctx, db, "ann@example.com") }}},
		Solution: kitchen.Side{Tables: "schema.sql", Calls: []kitchen.Call{found(Solution)}},
		Onerow:   kitchen.Side{Plan: plan, Calls: []kitchen.Call{found(Onerow)}},
		AsOnce:   true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Refused),
		Trace:    sql.LevelRepeatableRead,
	})
}

// found wants an id, too.
func found(call func(context.Context, *sql.DB, string) (int64, error)) kitchen.Call {
	return func(ctx context.Context, db *sql.DB) error {
		id, err := call(ctx, db, "ann@example.com")
		if err == nil && id == 0 {
			return errors.New("no id")
		}
		return err
	}
}

// TestPrograms01: the solution in other languages.
func TestPrograms01(t *testing.T) {
	var emails []string
	for i := range 200 {
		emails = append(emails, fmt.Sprintf("u%d@example.com", i))
	}
	kitchen.Programs(t, kitchen.Side{Tables: "schema.sql"}, "account", emails, 200, "SELECT COUNT(*) FROM account", "200")
}
