package work

import (
	"testing"

	"github.com/onerow/onerow/cascade/internal/graph"
)

// TestPortions: the width follows what is below the rows.
func TestPortions(t *testing.T) {
	node := new(graph.Node)
	rows := func(n int) group {
		return group{src: &graph.Source{Table: &graph.Table{Node: node}}, rows: make([]graph.Row, n)}
	}
	p := portions{[]group{rows(100), rows(3)}, map[*graph.Node]int{}}
	for i, step := range []struct {
		out         outcome
		width, rest int
		clear       bool
	}{
		{outcome{full: true}, 50, 103, false},
		{outcome{full: true}, 25, 103, false},
		{outcome{next: 1, leaves: 40}, 46, 78, false},              // 25 rows had 40, so 75 of 100 are below 46
		{outcome{next: 1, leaves: 0}, 184, 32, false},              // nothing was below them: no more than 4 times as many
		{outcome{full: true, next: 1, leaves: 100}, 184, 3, false}, // the rest of the group fitted, what was behind it did not
		{outcome{full: true, next: 0}, 1, 3, false},                // three rows, of which some has many
		{outcome{full: true, next: 0}, 1, 3, true},                 // the first has
		{outcome{next: 1, leaves: 100}, 1, 2, false},               // and has been cleared
		{outcome{next: 1, leaves: 100}, 1, 1, false},               //
		{outcome{full: true, next: 1, leaves: 100}, 1, 0, false},   // the root has many, after the last row
		{outcome{full: true}, 1, 0, true},
	} {
		now, rest := p.next()
		if clear := p.took(now, rest, step.out, 100); clear != step.clear {
			t.Errorf("step %d: clear is %t", i, clear)
		}
		left := 0
		for _, g := range p.groups {
			left += len(g.rows)
		}
		if width := p.widths[node]; width != step.width || left != step.rest {
			t.Errorf("step %d: the width is %d and %d rows are left, want %d and %d", i, width, left, step.width, step.rest)
		}
	}
}
