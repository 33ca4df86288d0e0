package r31

import (
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe31(t *testing.T) {
	old := []string{"INSERT INTO project (id, title, version) VALUES (1, 'Old', 1)"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "schema.sql", Setup: old, Calls: []kitchen.Call{Naive, Rename}},
		Solution: kitchen.Side{Tables: "schema.sql", Setup: old, Calls: []kitchen.Call{Solution, Rename}},
		Onerow: kitchen.Side{
			Setup: []string{"INSERT INTO project (id, title, created_at, updated_at) VALUES (1, 'Old', '2026-01-01', '2026-01-01')"},
			Plan:  plan, Calls: []kitchen.Call{Onerow, OnerowRename},
		},
		Table: kitchen.Table{
			MariaDB10: [3]kitchen.Outcome{kitchen.Breaks, kitchen.Refused, kitchen.Refused}, // the rename, error 1213
			MariaDB11: [3]kitchen.Outcome{kitchen.Breaks, kitchen.Holds, kitchen.Refused},   // the rename, error 1020
			MySQL:     [3]kitchen.Outcome{kitchen.Breaks, kitchen.Holds, kitchen.Holds},
		},
		Trace: sql.LevelReadCommitted,
	})
}
