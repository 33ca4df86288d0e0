package featurefuzz

import (
	"database/sql"
	"strings"
	"testing"
)

// sample is an image of a root and two rows below it, as it is before the deletion.
func sample() *image {
	cell := func(text string) sql.NullString { return sql.NullString{String: text, Valid: true} }
	m := &image{rows: map[place]line{}, log: map[place]map[string]int{}, counts: map[string]int{"t": 2}}
	m.rows[place{"root", 0}] = line{"root", map[string]sql.NullString{"id": cell("30"), "v": {}}}
	for i := range 2 {
		m.rows[place{"t", i}] = line{"t", map[string]sql.NullString{"id": cell("31"), "up": cell("30"), "v": cell("ff")}}
	}
	return m
}

// TestCompare: each error that is planted is seen, and nothing else.
func TestCompare(t *testing.T) {
	one, other := place{"t", 0}, place{"t", 1}
	set := func(column, text string) func(*image) {
		return func(m *image) { m.rows[one].cells[column] = sql.NullString{String: text, Valid: text != ""} }
	}
	nothing := func(*image) {}
	edges := map[string][]string{"t": {"up"}}
	for name, c := range map[string]struct {
		expect expectation
		change func(*image)
		want   string // "" nothing is wrong
	}{
		"the same":             {expectation{}, nothing, ""},
		"a byte":               {expectation{}, set("v", "fe"), `"v" was`},
		"NULL":                 {expectation{}, set("v", ""), `"v" was`},
		"a byte that is free":  {expectation{free: map[place]map[string]bool{one: {"v": true}}}, set("v", "fe"), ""},
		"lost":                 {expectation{}, func(m *image) { delete(m.rows, one) }, "is not there"},
		"twice":                {expectation{}, func(m *image) { m.twice = append(m.twice, one) }, "twice"},
		"new":                  {expectation{}, func(m *image) { m.rows[place{"t", 9}] = line{} }, "is new"},
		"elsewhere":            {expectation{}, func(m *image) { l := m.rows[one]; l.where = "u"; m.rows[one] = l }, "was in"},
		"not gone":             {expectation{fates: map[place]fate{one: gone}}, nothing, "still there"},
		"gone":                 {expectation{fates: map[place]fate{one: gone}}, func(m *image) { delete(m.rows, one) }, ""},
		"the other is gone":    {expectation{fates: map[place]fate{one: gone}}, func(m *image) { delete(m.rows, other); delete(m.rows, one) }, "is not there"},
		"not cut":              {expectation{fates: map[place]fate{one: cut}, edges: edges}, nothing, "refers to"},
		"cut":                  {expectation{fates: map[place]fate{one: cut}, edges: edges}, set("up", ""), ""},
		"cut for nothing":      {expectation{edges: edges}, set("up", ""), `"up" was`},
		"maybe gone":           {expectation{fates: map[place]fate{one: maybe}}, func(m *image) { delete(m.rows, one) }, ""},
		"maybe, changed":       {expectation{fates: map[place]fate{one: maybe}}, set("v", "fe"), `"v" was`},
		"maybe cut":            {expectation{fates: map[place]fate{one: unsure}, edges: edges}, set("up", ""), ""},
		"maybe cut, another's": {expectation{fates: map[place]fate{one: unsure}, edges: edges}, set("up", "99"), `"up" was`},
		"a count":              {expectation{counted: "t"}, func(m *image) { m.counts["t"] = 1 }, "counted 1"},
		"a trigger twice": {expectation{log: map[place]map[string][2]int{one: {"delete": {1, 1}}}}, func(m *image) {
			m.log[one] = map[string]int{"delete": 2}
		}, "run 2 times"},
		"a trigger never": {expectation{log: map[place]map[string][2]int{one: {"delete": {1, 1}}}}, nothing, "run 0 times"},
		"a trigger of another": {expectation{log: map[place]map[string][2]int{one: {"delete": {0, 0}}}}, func(m *image) {
			m.log[other] = map[string]int{"delete": 1}
		}, "a trigger has run"},
	} {
		after := sample()
		c.change(after)
		wrong := c.expect.compare(sample(), after)
		if c.want == "" && len(wrong) > 0 || c.want != "" && (len(wrong) != 1 || !strings.Contains(wrong[0], c.want)) {
			t.Errorf("%s: %q", name, wrong)
		}
	}
}

// TestMissing: a feature that has not worked, or has not been refused, is told.
func TestMissing(t *testing.T) {
	all := []feature{{name: "works"}, {name: "does not"}, {name: "is refused", refused: true}, {name: "is not", refused: true}, {name: "either", either: true}}
	tally := newTally()
	tally.add([]string{"works", "is not"}, true, "")
	tally.add([]string{"does not"}, false, "")
	tally.add([]string{"is refused", "either"}, false, "why")
	if got := strings.Join(tally.missing(all), ", "); got != "does not, is not" {
		t.Error(got)
	}
}

// TestFates: what a trigger refuses stays with all above it, and what is cut is not below it.
func TestFates(t *testing.T) {
	root, mid, low, side := &table{name: "root"}, &table{name: "mid"}, &table{name: "low"}, &table{name: "side", detach: true}
	mid.parent, low.parent, side.parent = root, mid, root
	w := &world{tables: []*table{root, mid, low, side}, has: map[string]bool{}, at: map[string]int{ofRefuseDelete: 2}}
	add := func(t *table, up *row, marked bool) *row {
		r := &row{table: t, number: len(t.rows), up: up, marked: marked}
		t.rows = append(t.rows, r)
		return r
	}
	top := add(root, nil, false)
	a, b := add(mid, top, false), add(mid, top, false)
	refusing, under, beside := add(low, a, true), add(low, b, false), add(side, top, false)
	if f := w.deleted(0); f[top] != gone || f[a] != gone || f[refusing] != gone || f[beside] != cut {
		t.Error(f)
	}
	w.has[ofRefuseDelete] = true
	if f := w.deleted(0); f[top] != same || f[a] != same || f[b] != gone || f[refusing] != same || f[under] != gone || f[beside] != unsure {
		t.Error(f)
	}
	w.has = map[string]bool{ofRefuseInsert: true}
	if left := w.restored(w.deleted(0)); len(left) != 1 || left[refusing] != gone {
		t.Error(left)
	}
	refusing.marked, a.marked = false, true
	if left := w.restored(w.deleted(0)); len(left) != 2 || left[a] != gone || left[refusing] != gone {
		t.Error(left)
	}
}
