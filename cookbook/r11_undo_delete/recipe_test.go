package r11

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe11(t *testing.T) {
	rows := []string{"INSERT INTO post (id) VALUES (1)", "INSERT INTO comment (id, post_id) VALUES (1, 1), (2, 1)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive: kitchen.Side{Tables: "schema.sql", Setup: rows, Calls: []kitchen.Call{both(Naive, NaiveUndo), NaiveComment}},
		Solution: kitchen.Side{
			Tables: "schema.sql", Setup: rows, Calls: []kitchen.Call{both(Solution, SolutionUndo), SolutionComment},
		},
		Onerow: kitchen.Side{
			Tables: "onerow.sql", Plan: plan, Calls: []kitchen.Call{both(Onerow, OnerowUndo), OnerowComment}, Ignore: []string{"onerow_job_archive", "post.version"},
			Setup: []string{
				"INSERT INTO post (id, created_at, updated_at) VALUES (1, '2026-01-01', '2026-01-01')",
				"INSERT INTO comment (id, post_id, created_at, updated_at) VALUES (1, 1, '2026-01-01', '2026-01-01'), (2, 1, '2026-01-01', '2026-01-01')",
			},
		},
		Judge: onlyThat,
		Table: kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace: sql.LevelRepeatableRead,
	})
}

// both deletes and takes it back.
func both(first, second kitchen.Call) kitchen.Call {
	return func(ctx context.Context, db *sql.DB) error {
		if err := first(ctx, db); err != nil {
			return err
		}
		return second(ctx, db)
	}
}

// onlyThat wants the post back with its first comment. The second one is what another person has deleted.
func onlyThat(ctx context.Context, db *sql.DB, answers []error) error {
	if err := errors.Join(answers...); err != nil {
		return err
	}
	var seen string
	if err := db.QueryRowContext(ctx, "SELECT COALESCE(GROUP_CONCAT(id ORDER BY id), '') FROM visible").Scan(&seen); err != nil {
		return err
	}
	if seen != "1" {
		return fmt.Errorf("comment 2 was deleted by a person, and after the undo these comments are to be seen: %s", seen)
	}
	return nil
}
