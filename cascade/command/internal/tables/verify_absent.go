package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/migrations/ddl"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// absent are the tables that are not there at all, about which nothing else is to be said.
func absent(found []live.Difference) map[string]bool {
	tables := map[string]bool{}
	for _, d := range found {
		if d.Absent {
			tables[d.Table] = true
		}
	}
	return tables
}

// inOneLine says what a database lacks that has no table of the plan, or none of the toolkit, and returns the
// other differences.
func inOneLine(plan schema.Plan, database string, found []live.Difference) (lines []string, rest []live.Difference) {
	gone := absent(found)
	var ours []string
	for _, n := range plan.Nodes() {
		ours = append(ours, n.Tables...)
	}
	toolkit := !slices.ContainsFunc([]string{"onerow_job", "onerow_worker", "onerow_deletion"}, func(name string) bool { return !gone[name] })
	if toolkit {
		lines = append(lines, fmt.Sprintf("the toolkit's tables are not there: run %s migrate up", output.ProgramName))
	}
	nothing := !slices.ContainsFunc(ours, func(name string) bool { return !gone[name] })
	if nothing {
		lines = append(lines, output.OneLine(fmt.Sprintf("none of the plan's tables is in the database %s (%s): is it the wrong one? If it is new: %s ddl prints them",
			database, strings.Join(ours, ", "), output.ProgramName)))
	}
	for _, d := range found {
		switch {
		case toolkit && ddl.Has(d.Table), nothing && slices.Contains(ours, d.Table): // said
		case gone[d.Table] && !d.Absent: // such as rights on what is not there
		default:
			rest = append(rest, d)
		}
	}
	return lines, rest
}
