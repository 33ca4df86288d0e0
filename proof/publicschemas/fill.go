package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/schematest"
)

// filler makes rows that all foreign keys and unique keys allow, in memory.
type filler struct {
	c    *contents
	r    *rand.Rand
	want int                        // rows in each table, where its keys allow it
	soft []schematest.ForeignKey    // references that are not declared
	seen map[string]map[string]bool // by unique key, what it has
}

// tries are how many rows in a row are refused before a table is full: a key may be of one ENUM.
const tries = 40

// fill makes the rows of all tables. A foreign key that may be NULL waits until all tables have theirs, where
// it would close a circle.
func (f *filler) fill() error {
	f.seen = map[string]map[string]bool{}
	done := map[string]bool{}
	var later []schematest.ForeignKey
	for len(done) < len(f.c.tables) {
		t, waits := f.next(done)
		if t == nil {
			return fmt.Errorf("foreign keys that are NOT NULL go round in a circle")
		}
		done[t.name] = true
		later = append(later, waits...)
		f.table(t, waits)
	}
	for _, k := range later {
		f.again(k, 2)
	}
	for _, k := range f.c.keys {
		if k.Child == k.Parent {
			f.again(k, 8) // circles of rows, and rows that refer to themselves
		}
	}
	for _, k := range f.soft {
		f.again(k, 1)
	}
	return nil
}

// next is a table whose parents are filled, and those of its keys that have to wait.
func (f *filler) next(done map[string]bool) (*table, []schematest.ForeignKey) {
	var best *table
	var least []schematest.ForeignKey
	for _, t := range f.c.tables {
		if done[t.name] {
			continue
		}
		var waits []schematest.ForeignKey
		possible := true
		for _, k := range f.keys(t) {
			if !done[k.Parent] && k.Parent != t.name {
				waits, possible = append(waits, k), possible && t.mayBeNull(k.Columns)
			}
		}
		if possible && (best == nil || len(waits) < len(least)) {
			best, least = t, waits
		}
	}
	return best, least
}

func (f *filler) keys(t *table) (keys []schematest.ForeignKey) {
	for _, k := range f.c.keys {
		if k.Child == t.name {
			keys = append(keys, k)
		}
	}
	return keys
}

func (t *table) mayBeNull(columns []string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { return !t.column(c).nullable })
}

// table fills a table, the foreign keys that wait left NULL.
func (f *filler) table(t *table, waits []schematest.ForeignKey) {
	refused := 0
	for n := 0; len(t.rows) < f.want && refused < tries; n++ {
		r := f.plain(t, n)
		if !f.refer(t, r, waits) || !f.free(t, r, nil) {
			refused++
			continue
		}
		refused = 0
		f.note(t, r, true)
		t.rows = append(t.rows, r)
	}
}

// plain is a row whose references are not set yet.
func (f *filler) plain(t *table, n int) row {
	r := row{}
	for i := range t.columns {
		c := &t.columns[i]
		single := slices.ContainsFunc(t.unique, func(u []string) bool { return len(u) == 1 && u[0] == c.name })
		key := single || slices.ContainsFunc(t.unique, func(u []string) bool { return u[len(u)-1] == c.name })
		switch {
		case c.computed:
		case !key && len(t.rows) > 0 && f.shared(t, c.name) && f.r.IntN(3) == 0: // a foreign key to a column that is not unique
			r[c.name] = t.rows[f.r.IntN(len(t.rows))][c.name]
		case c.nullable && f.r.IntN(4) == 0:
			r[c.name] = nil
		default:
			r[c.name] = c.random(f.r, n, key)
		}
	}
	return r
}

// shared says whether rows refer to the column, alone.
func (f *filler) shared(t *table, column string) bool {
	return slices.ContainsFunc(f.c.keys, func(k schematest.ForeignKey) bool {
		return k.Parent == t.name && slices.Equal(k.References, []string{column})
	})
}

// refer sets the references of a row; of two that share a column, the second one has to agree.
func (f *filler) refer(t *table, r row, waits []schematest.ForeignKey) bool {
	set := map[string]bool{}
	for _, k := range f.keys(t) {
		null := t.mayBeNull(k.Columns) && f.r.IntN(3) == 0
		if slices.ContainsFunc(waits, func(w schematest.ForeignKey) bool { return slices.Equal(w.Columns, k.Columns) && w.Parent == k.Parent }) {
			null = true
		}
		var above []row
		for _, p := range f.c.table(k.Parent).rows {
			if !null && agrees(r, p, k, set) {
				above = append(above, p)
			}
		}
		if len(above) == 0 && k.Parent == t.name && !t.mayBeNull(k.Columns) && agrees(r, r, k, set) {
			above = []row{r} // the first one is its own
		}
		for i, c := range k.Columns {
			switch {
			case len(above) == 0 && set[c]:
				if !t.mayBeNull(k.Columns) {
					return false
				}
			case len(above) == 0 && !t.column(c).nullable:
				return false
			case len(above) == 0:
				r[c] = nil
			default:
				if i == 0 {
					above = []row{above[f.r.IntN(1+f.r.IntN(len(above)))]} // the first ones have most below them
				}
				r[c] = above[0][k.References[i]]
			}
			set[c] = true
		}
		if len(above) == 0 && !slices.ContainsFunc(k.Columns, func(c string) bool { return r[c] == nil }) {
			return false // another reference holds its columns
		}
	}
	return true
}

// agrees says whether the row above has what columns are already set to.
func agrees(r, above row, k schematest.ForeignKey, set map[string]bool) bool {
	for i, c := range k.Columns {
		if v := above[k.References[i]]; v == nil || set[c] && text(r[c]) != text(v) {
			return false
		}
	}
	return true
}

// again sets a reference of one row in n anew, to any row.
func (f *filler) again(k schematest.ForeignKey, n int) {
	t, above := f.c.table(k.Child), f.c.table(k.Parent)
	shared := slices.ContainsFunc(f.c.keys, func(o schematest.ForeignKey) bool {
		return o.Child == k.Child && (o.Parent != k.Parent || !slices.Equal(o.Columns, k.Columns)) && overlap(o.Columns, k.Columns) ||
			o.Parent == k.Child && overlap(o.References, k.Columns) // rows below hold the value
	})
	if shared || len(above.rows) == 0 {
		return
	}
	for _, r := range t.rows {
		if f.r.IntN(n) != 0 {
			continue
		}
		p, was, now := above.rows[f.r.IntN(len(above.rows))], row{}, row{}
		for i, c := range k.Columns {
			was[c], now[c] = r[c], p[k.References[i]]
		}
		f.note(t, r, false)
		for c, v := range now {
			r[c] = v
		}
		if !f.free(t, r, k.Columns) {
			for c, v := range was {
				r[c] = v
			}
		}
		f.note(t, r, true)
	}
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// free says whether no other row has the values of the row's unique keys, and NOT NULL is kept.
func (f *filler) free(t *table, r row, columns []string) bool {
	for _, c := range columns {
		if r[c] == nil && !t.column(c).nullable {
			return false
		}
	}
	for _, u := range t.unique {
		if id := r.id(u); id != "" && f.seen[t.name+strings.Join(u, "\x00")][id] {
			return false
		}
	}
	return true
}

func (f *filler) note(t *table, r row, there bool) {
	for _, u := range t.unique {
		name := t.name + strings.Join(u, "\x00")
		if f.seen[name] == nil {
			f.seen[name] = map[string]bool{}
		}
		if id := r.id(u); id != "" {
			f.seen[name][id] = there
		}
	}
}

// id is the row's values of some columns as a text that is the same where a collation might say so; nothing
// if one is NULL.
func (r row) id(columns []string) string {
	var b strings.Builder
	for _, c := range columns {
		if r[c] == nil {
			return ""
		}
		fmt.Fprintf(&b, "%s\x00", strings.ToLower(strings.TrimRight(text(r[c]), " ")))
	}
	return b.String()
}

func text(v any) string { return fmt.Sprint(v) }
