package r32

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe32(t *testing.T) {
	post := []string{"INSERT INTO post (id, likes) VALUES (1, 0)"}
	table := kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Refused)
	table.MariaDB11[1] = kitchen.Refused // error 1020: the post has changed since the snapshot
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: post, Calls: two(Naive)},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: post, Calls: two(Solution)},
		Onerow:   kitchen.Side{Tables: "schema.sql", Setup: post, Calls: two(Onerow)},
		Scripts:  []string{"deadlock.sql", "repair.sql"},
		Table:    table,
		Trace:    sql.LevelRepeatableRead,
	})
}

// two users like one post.
func two(call func(context.Context, *sql.DB, int64) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, 7) },
		func(ctx context.Context, db *sql.DB) error { return call(ctx, db, 8) },
	}
}
