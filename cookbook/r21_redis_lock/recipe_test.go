package r21

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe21(t *testing.T) {
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Calls: two(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Calls: two(Solution)},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Calls: two(Onerow)},
		Judge:    oneRuns,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}

// two people start an export. The lock has always run out when the second one asks for it.
func two(call func(context.Context, *sql.DB, string, time.Duration) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "ann-1", time.Microsecond) },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, "bob-1", time.Microsecond) },
	}
}

// oneRuns wants as many exports as were begun, and one at most. Who did not get the lock has begun none.
func oneRuns(ctx context.Context, db *sql.DB, answers []error) error {
	begun := 0
	for _, err := range answers {
		if err == nil {
			begun++
		}
	}
	var running int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM export WHERE finished_at IS NULL").Scan(&running); err != nil {
		return err
	}
	if running != begun || running > 1 {
		return fmt.Errorf("%d exports run, and %d callers were told that theirs does", running, begun)
	}
	if begun == 0 {
		return errors.Join(answers...)
	}
	return nil
}
