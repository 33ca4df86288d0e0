package restorefuzz

import (
	"database/sql"
	"maps"
	"slices"
	"testing"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/schema"
)

var (
	root, leaf, loose = schematest.Name{Node: "a", Number: "1"}, schematest.Name{Node: "b", Number: "1"}, schematest.Name{Node: "c", Number: "1"}
	stranger          = schematest.Name{Node: "a", Number: "900"}
)

func cells(up string) row {
	return row{"t", map[string]sql.NullString{"up": {String: up, Valid: up != ""}}}
}

// good is a restore of a root and a row below it, and of a reference of another row, with nothing missing.
func good() *trial {
	before := state{root: cells(""), leaf: cells("1"), loose: cells("1")}
	after := state{loose: cells("")}
	up := func(action schema.Action) []schematest.Ref {
		return []schematest.Ref{{To: root, Action: action, Columns: []string{"up"}}}
	}
	return &trial{
		root: root, refs: map[schematest.Name][]schematest.Ref{leaf: up(schema.OnDeleteDelete), loose: up(schema.OnDeleteDetach)},
		before: before, after: after, start: after, end: maps.Clone(before), taken: map[schematest.Name]bool{}, unkept: map[string]bool{},
		copies: copies{rows: map[schematest.Name]bool{root: true, leaf: true}, live: 3},
		dry:    recover.Progress{Total: 3}, told: recover.Progress{Seen: 3, Rows: 2, References: 1},
		report: admin.Report{Job: &queue.Job{State: queue.Restored}, Restored: []admin.Kept{{Table: "t", Rows: 2}}},
	}
}

// TestJudge plants what each kind of finding is about; nothing is found where nothing is broken.
func TestJudge(t *testing.T) {
	missing := func(p *recover.Progress, table string, rows int64, why string) {
		p.Missing = append(p.Missing, recover.Missing{Table: table, Rows: rows, Why: why})
	}
	for name, c := range map[string]struct {
		plant func(t *trial)
		want  []string
	}{
		"nothing":       {func(*trial) {}, nil},
		"another value": {func(t *trial) { t.end[leaf] = cells("2") }, []string{brokenRow, brokenTold}},
		"another table": {func(t *trial) { r := cells("1"); r.table = "u"; t.end[leaf] = r }, []string{brokenRow, brokenCounts}},
		"a stranger is gone": {func(t *trial) {
			t.start = state{loose: cells(""), stranger: cells("")}
		}, []string{brokenStranger}},
		"a stranger was written": {func(t *trial) {
			t.start, t.end[stranger] = state{loose: cells(""), stranger: cells("")}, cells("1")
		}, []string{brokenStranger}},
		"from nowhere": {func(t *trial) { t.end[stranger] = cells("") }, []string{brokenStranger}},
		"below a stranger": {func(t *trial) {
			t.start, t.end[stranger] = state{loose: cells(""), stranger: cells("")}, cells("")
			t.taken[root] = true
			delete(t.end, root)
			t.end[loose] = cells("")
			t.told = recover.Progress{Seen: 3, Rows: 1, Stuck: 2, RootMissing: "taken", Missing: []recover.Missing{{Table: "a", Rows: 1, Why: "taken"}, {Table: "c", References: 1, Why: "taken"}}}
			t.report.Restored[0].Rows = 1
		}, []string{brokenBelow}},
		"it stays":          {func(t *trial) { delete(t.end, leaf); missing(&t.told, "b", 1, "no"); t.report.Restored[0].Rows = 1 }, []string{brokenStays}},
		"a reference stays": {func(t *trial) { t.end[loose] = cells("") }, []string{brokenStays, brokenTold}},
		"not told":          {func(t *trial) { delete(t.end, leaf); t.copies.rows[leaf] = false; t.report.Restored[0].Rows = 1 }, []string{brokenCounts}},
		"told without a reason": {func(t *trial) {
			delete(t.end, leaf)
			t.copies.rows[leaf] = false
			missing(&t.told, "b", 1, "")
			t.report.Restored[0].Rows = 1
		}, []string{brokenTold}},
		"the report is wrong":  {func(t *trial) { t.report.Restored = nil }, []string{brokenCounts}},
		"the root is wrong":    {func(t *trial) { t.told.RootMissing = "no" }, []string{brokenRoot}},
		"the job is wrong":     {func(t *trial) { t.report.Job.State = queue.Cancelled }, []string{brokenJob}},
		"the dry run is wrong": {func(t *trial) { missing(&t.dry, "b", 1, "no") }, []string{brokenDry}},
		"another number":       {func(t *trial) { t.dry.Total = 4 }, []string{brokenDry}},
	} {
		t.Run(name, func(t *testing.T) {
			var kinds []string
			try := good()
			c.plant(try)
			try.judge(func(kind, format string, args ...any) {
				if !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
				t.Logf(kind+": "+format, args...)
			})
			if slices.Sort(kinds); !slices.Equal(kinds, slices.Sorted(slices.Values(c.want))) {
				t.Errorf("found %q, want %q", kinds, c.want)
			}
		})
	}
}
