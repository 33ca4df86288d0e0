package cascade

import (
	"context"
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/internal/cost"
)

// TestSearchIsBounded: beside many jobs, a search reads its window and no more.
func TestSearchIsBounded(t *testing.T) {
	many := crowded(t, cost.Many(t), sql.LevelReadCommitted)
	for _, typed := range []string{"project 5000001", "ben", "elsewhere", "7"} {
		for _, s := range cost.Of(t, many, func(ctx context.Context, db *sql.DB) error {
			_, err := admin.Search(ctx, db, typed, 20)
			return err
		}) {
			// Seven parts read their window, and again what they keep of it; what they find is looked up.
			if most := int64(7*3*10_000 + 10_000); s.Read > most {
				t.Errorf("%q: %d reads, want at most %d: %s", typed, s.Read, most, s.SQL)
			}
			if s.Locked > 0 {
				t.Errorf("%q locks %d rows", typed, s.Locked)
			}
		}
	}
}
