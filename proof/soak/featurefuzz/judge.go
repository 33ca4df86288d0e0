package featurefuzz

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fate is what becomes of a row.
type fate int

const (
	same   fate = iota
	gone        // it is not there
	cut         // it refers to nothing
	unsure      // what is above stays, but its reference may be cut
	maybe       // it is not there, or as it was
)

// expectation is what has to be, compared with an image before.
type expectation struct {
	fates   map[place]fate              // same for those that it has not
	edges   map[string][]string         // the columns that a cut sets NULL, by table
	free    map[place]map[string]bool   // columns that a trigger writes
	log     map[place]map[string][2]int // how often a trigger has noted what, at least and at most
	counted string                      // the table whose rows a trigger counts, or ""
}

// compare says what is not as expected, of rows.
func (e *expectation) compare(before, after *image) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, p := range after.twice {
		say("%s is there twice", p)
	}
	for _, p := range places(before.rows) {
		was := before.rows[p]
		is, there := after.rows[p]
		switch want := e.fates[p]; {
		case want == gone && there:
			say("%s is still there", p)
		case want == gone, want == maybe && !there:
		case !there:
			say("%s is not there", p)
		default:
			wrong = append(wrong, e.cells(p, was, is, want)...)
		}
	}
	for _, p := range places(after.rows) {
		if _, there := before.rows[p]; !there {
			say("%s is new", p)
		}
	}
	return append(wrong, e.triggers(after)...)
}

func (e *expectation) cells(p place, was, is line, want fate) (wrong []string) {
	if was.where != is.where {
		wrong = append(wrong, fmt.Sprintf("%s was in %q and is in %q", p, was.where, is.where))
	}
	for _, c := range slices.Sorted(maps.Keys(was.cells)) {
		a, b := was.cells[c], is.cells[c]
		edge := slices.Contains(e.edges[p.table], c)
		switch {
		case e.free[p][c], want == unsure && edge && !b.Valid:
		case want == cut && edge:
			if b.Valid {
				wrong = append(wrong, fmt.Sprintf("%s refers to %.80q, which is gone", p, b.String))
			}
		case a != b:
			wrong = append(wrong, fmt.Sprintf("%s: %q was %.80v and is %.80v", p, c, a, b))
		}
	}
	return wrong
}

// triggers compares what triggers have noted.
func (e *expectation) triggers(after *image) (wrong []string) {
	for _, p := range places(e.log) {
		for what, want := range e.log[p] {
			if n := after.log[p][what]; n < want[0] || n > want[1] {
				wrong = append(wrong, fmt.Sprintf("%s: the trigger of %s has run %d times, not %v", p, what, n, want))
			}
		}
	}
	for _, p := range places(after.log) {
		if _, known := e.log[p]; !known && len(e.log) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: a trigger has run: %v", p, after.log[p]))
		}
	}
	if e.counted == "" {
		return wrong
	}
	rows := 0
	for p := range after.rows {
		if p.table == e.counted {
			rows++
		}
	}
	if n := after.counts[e.counted]; n != rows {
		wrong = append(wrong, fmt.Sprintf("triggers have counted %d rows of %q, and there are %d", n, e.counted, rows))
	}
	return wrong
}

func places[V any](all map[place]V) []place {
	return slices.SortedFunc(maps.Keys(all), func(a, b place) int {
		if a.table != b.table {
			return strings.Compare(a.table, b.table)
		}
		return a.number - b.number
	})
}

// deleted says what becomes of each row when a root is deleted.
func (w *world) deleted(root int) map[*row]fate {
	fates := map[*row]fate{}
	fates[w.tables[0].rows[root]] = gone
	for _, t := range w.tables[1:] {
		for _, r := range t.rows {
			switch {
			case r.up == nil || fates[r.up] != gone:
			case t.detach:
				fates[r] = cut
			default:
				fates[r] = gone
			}
		}
	}
	if !w.has[ofRefuseDelete] {
		return fates
	}
	for _, r := range w.tables[w.at[ofRefuseDelete]].rows {
		if r.marked && fates[r] == gone {
			for up := r; up != nil && fates[up] == gone; up = up.up {
				fates[up] = same
			}
		}
	}
	// What is below a row that stays goes before it, or stays where the row is parked first.
	for _, t := range w.tables[1:] {
		for _, r := range t.rows {
			above := fates[r.up]
			switch f := fates[r]; {
			case f == gone && r.up.marked && r.up.table == w.tables[w.at[ofRefuseDelete]], f == gone && above == maybe:
				fates[r] = maybe
			case f == cut && (above == same || above == maybe):
				fates[r] = unsure
			}
		}
	}
	return fates
}

// restored says what a restore leaves as the deletion has made it, while rows are refused.
func (w *world) restored(fates map[*row]fate) map[*row]fate {
	left := map[*row]fate{}
	refuses := w.has[ofRefuseInsert] || w.has[ofBrokenCheck]
	for _, t := range w.tables {
		for _, r := range t.rows {
			stuck := refuses && r.marked && !w.has[ofRefuseDelete]
			if f := fates[r]; f == gone && (stuck || left[r.up] == gone) || f == cut && left[r.up] == gone {
				left[r] = f
			}
		}
	}
	return left
}
