package r18

import (
	"database/sql"
	"testing"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe18(t *testing.T) {
	due := []string{"INSERT INTO cron (name, last_day) VALUES ('report', '2020-01-01')"}
	kitchen.Cook(t, kitchen.Recipe{
		Naive:    kitchen.Side{Tables: "naive.sql", Setup: due, Calls: []kitchen.Call{Naive}, Ignore: []string{"cron.last_day", "report.day"}},
		Solution: kitchen.Side{Tables: "schema.sql", Calls: []kitchen.Call{Solution}, Ignore: []string{"cron_run.day", "report.day"}},
		Onerow:   kitchen.Side{Tables: "onerow.sql", Calls: []kitchen.Call{Onerow}, Ignore: []string{"report.day"}},
		AsOnce:   true,
		Table:    kitchen.Same(kitchen.Breaks, kitchen.Breaks, kitchen.Breaks),
		Trace:    sql.LevelRepeatableRead,
	})
}
