// Package kitchen proves a recipe: that its naive code breaks as the recipe says, on this engine at each
// isolation level, that its solutions hold, and that its page shows what was run.
//
// Open this package when the form of a recipe changes.
package kitchen

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// Recipe is what a recipe declares about itself. Files are those of its folder.
type Recipe struct {
	// Naive is the code that breaks, Solution the same on database/sql alone, Onerow with the toolkit.
	Naive, Solution, Onerow Side
	// AsOnce: the callers sent one request several times. By default their ends must be those of a serial
	// execution.
	AsOnce bool
	// ByCrash: the naive code breaks where its process dies, by default where two callers meet.
	ByCrash bool
	// Answered: the callers do not repeat a request that the server refused, so a refusal is a wrong answer.
	Answered bool
	// Judge, if set, says what end is right in place of the comparison with a serial one.
	Judge func(ctx context.Context, db *sql.DB, answers []error) error
	// Scripts are files of SQL that two sessions run, besides solution.sql.
	Scripts []string
	// Table says what becomes of the naive code. Trace is the level whose schedule the page shows.
	Table Table
	Trace sql.IsolationLevel
}

// Side is one of the programs.
type Side struct {
	Tables string   // a file of SQL; with Plan besides the tables of the plan
	Setup  []string // what is there before
	Calls  []Call   // of two callers; one: both make it
	// Plan of the resources, of an Onerow that has some.
	Plan schema.Plan
	// Ignore are columns that are not compared.
	Ignore []string
	// Expire has the leases of a process that stopped run out.
	Expire []string

	toolkit bool // its database has the toolkit's tables
}

// Call is a request.
type Call = func(ctx context.Context, db *sql.DB) error

// Outcome is what becomes of the naive code.
type Outcome string

// The outcomes.
const (
	Breaks  Outcome = "breaks"                // some schedule or crash leaves what must not be
	Refused Outcome = "refused by the server" // no end is wrong, because the server has refused a statement
	Holds   Outcome = "works"                 // no end is wrong, and the server refused nothing
)

// Table has the outcomes at READ COMMITTED, REPEATABLE READ and SERIALIZABLE, by engine.
type Table struct{ MariaDB10, MariaDB11, MySQL [3]Outcome }

// Same is the table of a fault that no engine minds more than another.
func Same(outcomes ...Outcome) Table {
	row := [3]Outcome(outcomes)
	return Table{row, row, row}
}

var levels = [3]sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable}

func (t Table) of(engine string) [3]Outcome {
	switch engine {
	case "mariadb":
		return t.MariaDB10
	case "mariadb-11":
		return t.MariaDB11
	}
	return t.MySQL
}

// markdown is the table as the page shows it.
func (t Table) markdown() string {
	var b strings.Builder
	b.WriteString("| | READ COMMITTED | REPEATABLE READ | SERIALIZABLE |\n|---|---|---|---|\n")
	for _, row := range []struct {
		name string
		of   [3]Outcome
	}{{"MariaDB 10.11", t.MariaDB10}, {"MariaDB 11.8", t.MariaDB11}, {"MySQL 9", t.MySQL}} {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row.name, row.of[0], row.of[1], row.of[2])
	}
	return b.String()
}

var update = flag.Bool("update", false, "make the files of the recipes anew: schedules, costs, crashes, and the blocks of the pages")

// Main runs the tests of a recipe.
func Main(m *testing.M) { dbtest.Main(m) }

// engineName is the name in the files: mariadb, mariadb-11 or mysql.
func engineName(t *testing.T) string {
	t.Helper()
	db := dbtest.OpenDSN(t, dbtest.DSN(t))
	var version string
	if err := db.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	switch {
	case !strings.Contains(version, "MariaDB"):
		return "mysql"
	case strings.HasPrefix(version, "10."):
		return "mariadb"
	}
	return "mariadb-11"
}

// Cook proves the recipe in the current folder.
func Cook(t *testing.T, r Recipe) {
	t.Helper()
	engine := engineName(t)
	r.Onerow.toolkit = true
	if r.Trace == sql.LevelDefault {
		r.Trace = sql.LevelReadCommitted
	}
	t.Run("naive", func(t *testing.T) { r.breaks(t, engine) })
	t.Run("solution", func(t *testing.T) { r.holds(t, r.Solution) })
	t.Run("onerow", func(t *testing.T) { r.holds(t, r.Onerow) })
	t.Run("crash", func(t *testing.T) { r.crashes(t) })
	t.Run("cost", func(t *testing.T) { r.costs(t, engine) })
	t.Run("sql", func(t *testing.T) {
		for _, name := range append([]string{"solution.sql"}, r.Scripts...) {
			script(t, name, r.Solution)
		}
	})
	t.Run("page", func(t *testing.T) { r.page(t) })
}

// same compares a file of the recipe with what was found now, or makes it anew.
func same(t *testing.T, name, now string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(now), 0o600); err != nil { //nolint:gosec // of this folder
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(name) //nolint:gosec // of this folder
	if err != nil {
		t.Fatalf("%v: go test -update makes it", err)
	}
	if line := differs(string(kept), now); line != "" {
		t.Errorf("%s is not what was found now (go test -update writes it): %s\nnow:\n%s", name, line, now)
	}
}

// differs names the first line in which two texts differ.
func differs(kept, now string) string {
	a, b := strings.Split(kept, "\n"), strings.Split(now, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d", i+1)
		}
	}
	return ""
}
