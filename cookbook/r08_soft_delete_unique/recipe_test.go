package r08

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe08(t *testing.T) {
	deleted := []string{"INSERT INTO project (team_id, name, made_by, deleted_at) VALUES (1, 'Report', 'old', '2020-01-01 00:00:00')"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: deleted, Calls: two(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: deleted, Calls: two(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Plan: plan, Calls: two(Onerow)},
		Judge:    oneHasIt,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// two people of one team give a project the same name.
func two(call func(context.Context, *sql.DB, string) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "ann") },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "bob") },
	}
}

// oneHasIt wants one live project, and the other one told.
func oneHasIt(ctx context.Context, db *sql.DB, answers []error) error {
	var live int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM live_project WHERE name = 'Report'").Scan(&live); err != nil {
		return err
	}
	if live != 1 {
		return fmt.Errorf("%d live projects have the name", live)
	}
	if told := errors.Join(answers...); !errors.Is(told, ErrTaken) || answers[0] != nil && answers[1] != nil {
		return fmt.Errorf("the answers are %v", answers)
	}
	return nil
}
