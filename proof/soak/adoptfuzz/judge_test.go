package adoptfuzz

import (
	"database/sql"
	"maps"
	"slices"
	"testing"

	"github.com/onerow/onerow/names"
)

func rest(token int64) string { return restOf(token, "") }

// good is a round that ended well: one row with a note and a watch, one that was renamed, one that may be gone.
func good() *adopted {
	at := span{100, 200}
	s := func(title string) state { return state{title: title, price: 5, created: at, updated: at} }
	h := func(token int64, title, key, stem string, copyNo int64) row {
		return row{id: token, token: token, desk: 1, price: 5, version: 1 + copyNo, copyNo: copyNo, title: title, key: key, stem: stem, created: 150, updated: 160, rest: rest(token)}
	}
	return &adopted{
		want: book{
			1: {token: 1, desk: 1, id: 1, may: []state{s("Plan 1")}, notes: map[int64]bool{11: true, 12: false}},
			2: {token: 2, desk: 1, id: 2, may: []state{s("PLAN  1 ")}, notes: map[int64]bool{}},
			3: {token: 3, desk: 1, may: []state{s("Plan 3"), {gone: true}}, notes: map[int64]bool{}},
			4: {token: 4, desk: 1, may: []state{{gone: true}}, notes: map[int64]bool{13: true}},
		},
		have: tables{
			tickets: []row{h(1, "Plan 1", "plan 1", "plan 1", 0), h(2, "PLAN 1 (Copy 1)", "plan 1 (copy 1)", "plan 1", 1)},
			notes:   map[int64]int64{11: 1}, watches: map[int64]sql.NullInt64{1: {Int64: 1, Valid: true}},
		},
		kind: names.KindName, copies: true, times: true, watches: 1, during: span{0, 1000}, rest: rest,
	}
}

// TestJudge plants what each kind of finding is about; nothing is found where nothing is broken.
func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(a *adopted)
		want  []string
	}{
		"nothing":               {func(*adopted) {}, nil},
		"an unknown one":        {func(a *adopted) { h := a.have.tickets[0]; h.token = 9; a.have.tickets = append(a.have.tickets, h) }, []string{brokenLost}},
		"one is lost":           {func(a *adopted) { a.have.tickets = a.have.tickets[:1] }, []string{brokenLost}},
		"one is there twice":    {func(a *adopted) { a.have.tickets = append(a.have.tickets, a.have.tickets[1]) }, []string{brokenLost, brokenTaken}},
		"one is archived":       {func(a *adopted) { a.have.archive = a.have.tickets[:1] }, []string{brokenLost}},
		"one that went is back": {func(a *adopted) { a.want[2].may = []state{{gone: true}} }, []string{brokenRow}},
		"another id":            {func(a *adopted) { a.have.tickets[1].id = 7 }, []string{brokenRow}},
		"another owner":         {func(a *adopted) { a.have.tickets[0].desk = 2 }, []string{brokenRow}},
		"another price":         {func(a *adopted) { a.have.tickets[0].price = 6 }, []string{brokenRow}},
		"another value":         {func(a *adopted) { a.have.tickets[0].rest += " " }, []string{brokenRow}},
		"no version":            {func(a *adopted) { a.have.tickets[0].version = 0 }, []string{brokenRow}},
		"an old name":           {func(a *adopted) { a.want[1].may[0].title = "Plan 0" }, []string{brokenRow}},
		"a copy nobody made":    {func(a *adopted) { a.copies = false }, []string{brokenRow}},
		"a copy, no version":    {func(a *adopted) { a.have.tickets[1].version = 1 }, []string{brokenRow}},
		"no key":                {func(a *adopted) { a.have.tickets[0].key = "" }, []string{brokenKey}},
		"another stem":          {func(a *adopted) { a.have.tickets[0].stem = "plan" }, []string{brokenKey}},
		"another copy":          {func(a *adopted) { a.have.tickets[0].copyNo = 1 }, []string{brokenKey}},
		"a file's key": {func(a *adopted) {
			a.kind, a.want[1].may[0].title, a.have.tickets[0].title = names.KindFilename, "Plan 1.png", "Plan 1.png"
			a.have.tickets[0].key = "plan 1.png"
		}, []string{brokenKey}},
		"the same name":         {func(a *adopted) { h := &a.have.tickets[1]; h.title, h.key, h.copyNo = "PLAN  1 ", "plan 1", 0 }, []string{brokenTaken}},
		"a time has moved":      {func(a *adopted) { a.have.tickets[0].updated = 201 }, []string{brokenTime}},
		"it was made later":     {func(a *adopted) { a.have.tickets[0].created = 201 }, []string{brokenTime}},
		"an odd time":           {func(a *adopted) { a.times = false; a.have.tickets[0].created = 2000 }, []string{brokenTime}},
		"a note is lost":        {func(a *adopted) { a.have.notes = nil }, []string{brokenBelow}},
		"a note has moved":      {func(a *adopted) { a.have.notes[11] = 2 }, []string{brokenBelow}},
		"a note is below none":  {func(a *adopted) { a.have.notes[13] = 4 }, []string{brokenBelow}},
		"a note is there twice": {func(a *adopted) { a.have.twice = []int64{11} }, []string{brokenBelow}},
		"a watch is detached":   {func(a *adopted) { a.have.watches[1] = sql.NullInt64{} }, []string{brokenBelow}},
		"a watch is lost":       {func(a *adopted) { a.have.watches = nil }, []string{brokenBelow}},
	} {
		t.Run(name, func(t *testing.T) {
			a := good()
			c.plant(a)
			if kinds := heard(t, a.judge); !slices.Equal(kinds, slices.Sorted(slices.Values(c.want))) {
				t.Errorf("found %q, want %q", kinds, c.want)
			}
		})
	}
}

// heard are the kinds of what is found.
func heard(t *testing.T, judge func(found func(kind, format string, args ...any))) (kinds []string) {
	judge(func(kind, format string, args ...any) {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
		t.Logf(kind+": "+format, args...)
	})
	slices.Sort(kinds)
	return kinds
}

// TestJudgeDeletions plants what a worker must not do.
func TestJudgeDeletions(t *testing.T) {
	for name, plant := range map[string]func(d *deletions){
		"":                      func(*deletions) {},
		"it is there":           func(d *deletions) { d.after.tickets = d.before.tickets },
		"another one is gone":   func(d *deletions) { d.after.tickets = nil },
		"another one changed":   func(d *deletions) { d.after.tickets[0].version++ },
		"one from nowhere":      func(d *deletions) { h := d.after.tickets[0]; h.id = 9; d.after.tickets = append(d.after.tickets, h) },
		"it is hidden for ever": func(d *deletions) { d.after.archive = d.before.tickets[:1] },
		"a note stays":          func(d *deletions) { d.after.notes[11] = 1 },
		"a note goes":           func(d *deletions) { d.after.notes = nil },
		"a note moves":          func(d *deletions) { d.after.notes[12] = 9 },
		"a note is new":         func(d *deletions) { d.after.notes[99] = 2 },
		"a watch stays":         func(d *deletions) { d.after.watches[1] = sql.NullInt64{Int64: 1, Valid: true} },
		"a watch is detached":   func(d *deletions) { d.after.watches[2] = sql.NullInt64{} },
		"a watch is gone":       func(d *deletions) { delete(d.after.watches, 1) },
		"a watch moves":         func(d *deletions) { d.after.watches[2] = sql.NullInt64{Int64: 1, Valid: true} },
	} {
		t.Run(name, func(t *testing.T) {
			before := tables{tickets: []row{{id: 1}, {id: 2, version: 4}}, notes: map[int64]int64{11: 1, 12: 2}, watches: map[int64]sql.NullInt64{1: {Int64: 1, Valid: true}, 2: {Int64: 2, Valid: true}}}
			d := &deletions{before: before, asked: map[int64]bool{1: true}, after: tables{
				tickets: []row{{id: 2, version: 4}}, notes: map[int64]int64{12: 2}, watches: maps.Clone(before.watches)}}
			d.after.watches[1] = sql.NullInt64{}
			plant(d)
			if kinds := heard(t, d.judge); (len(kinds) > 0) != (name != "") {
				t.Errorf("found %q", kinds)
			}
		})
	}
}

// TestWrite: a row may be what it was as long as an answer is lost, and not longer.
func TestWrite(t *testing.T) {
	row := &ticket{may: []state{{title: "a", price: 1}}}
	price := func(n int64) func(*state) { return func(s *state) { s.price = n } }
	row.write(price(2), true)
	row.write(func(s *state) { *s = state{gone: true} }, true)
	if len(row.may) != 3 || !row.lives() {
		t.Errorf("%+v", row.may)
	}
	row.write(price(3), false)
	if want := []state{{title: "a", price: 3}, {gone: true}}; !slices.Equal(row.may, want) {
		t.Errorf("%+v", row.may)
	}
	row.write(func(s *state) { *s = state{gone: true} }, false)
	if row.lives() || len(row.may) != 1 {
		t.Errorf("%+v", row.may)
	}
}
