package lost

import (
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// orphanTables counts what was found by the table that refers to it.
type orphanTables map[string]orphanCount

type orphanCount struct {
	missing, rows int64
	atLeast       bool
}

func (t orphanTables) add(o inspect.Orphan) {
	n := t[o.Table]
	t[o.Table] = orphanCount{n.missing + 1, n.rows + o.Rows, n.atLeast || o.AtLeast}
}

// lines are one for each table, if there are several.
func (t orphanTables) lines() (lines []string) {
	if len(t) < 2 {
		return nil
	}
	for _, table := range slices.Sorted(maps.Keys(t)) {
		n := t[table]
		lines = append(lines, fmt.Sprintf("%s: %s, referred to by %s", output.Printable(table), output.Plural(n.missing, "missing row"), output.AtLeast(n.rows, n.atLeast, "row")))
	}
	return lines
}

// sqlText is text as [inspect.Orphan] has it in Values.
var sqlText = regexp.MustCompile(`_utf8mb4 x'([0-9a-f]*)'`)

// readable is SQL with its text as a person reads it.
func readable(sql string) string {
	return sqlText.ReplaceAllStringFunc(sql, func(literal string) string {
		text, err := hex.DecodeString(sqlText.FindStringSubmatch(literal)[1])
		if err != nil {
			return literal
		}
		return "'" + string(text) + "'"
	})
}

// orphanLine is the line of a missing row.
func orphanLine(o inspect.Orphan) string {
	what := output.RowName(queue.Job{Resource: o.Resource, ResourceID: o.ID})
	if o.ID == "" {
		what = output.Shorten(output.Printable(o.Resource+" with "+strings.Join(o.Columns, ", ")+" = "+readable(o.Values)), 80)
	}
	line := fmt.Sprintf("%s is missing: %s of %s", what, output.AtLeast(o.Rows, o.AtLeast, "row"), output.Printable(o.Table))
	if o.ReportOnly != "" {
		line += "; nothing can be queued: " + output.Printable(o.ReportOnly)
	}
	return line
}

// summary is a line for each table where there are several, and one for all.
func (s *orphanSearch) summary() string {
	line, full := "no row is missing", s.Limit > 0 && s.found >= int(s.Limit) && !s.complete
	switch {
	case s.found > 0:
		line = output.Plural(s.found, "missing row")
	case s.cut:
		line = "no missing row found so far"
	case !s.searched && s.After == "":
		line += ": foreign keys guard every reference that this command looks at; there was nothing to search"
	}
	if s.Enqueue && s.found > 0 {
		line += fmt.Sprintf("; %s queued", output.Plural(s.done.Queued, "job")) +
			shell.Some(", %s open already", s.done.Open) + shell.Some(", %s there after all", s.done.Returned) +
			shell.Some(", %s that cannot be queued", s.done.ReportOnly) + shell.Some(", %s not queued yet", len(s.waiting))
	}
	switch {
	case !s.cut && !full:
	case s.position != "" && (s.cut || s.position != s.After):
		line += "; go on with --after " + s.position
	case full && (s.cut || !s.Enqueue): // what was queued is not found again
		line += "; there may be more: raise --limit"
	case full || s.found > 0:
		line += "; there may be more: run it again"
	}
	return strings.Join(append(s.tables.lines(), line), "\n")
}
