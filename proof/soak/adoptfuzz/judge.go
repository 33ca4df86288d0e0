package adoptfuzz

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/onerow/onerow/names"
)

// Kinds of findings.
const (
	brokenRow      = "a row is not what its writer made of it"
	brokenLost     = "a row is lost, or came from nowhere"
	brokenKey      = "a key is not that of the name"
	brokenTaken    = "two rows have the same name"
	brokenTime     = "a time has moved"
	brokenBelow    = "what is below a row is not what its writer made of it"
	brokenWriter   = "a writer was refused"
	brokenCommand  = "the command ended in a way that it must not"
	brokenEnd      = "it does not come to its end"
	brokenVerify   = "the tables are not the plan's"
	brokenAsked    = "a deletion did something else than was asked"
	brokenNumbered = "a new row has the id of another"
)

// adopted is what is judged when the table is a resource.
type adopted struct {
	want    book
	have    tables
	kind    names.Kind
	copies  bool // rows may have been renamed
	times   bool // the table had times of its own
	watches int64
	during  span
	rest    func(token int64) string
}

// judge calls found with each thing that is not as it must be.
func (a *adopted) judge(found func(kind, format string, args ...any)) {
	there, tokens := map[int64]bool{}, map[int64]int64{}
	holders := map[string]int64{}
	if n := len(a.have.archive); n > 0 {
		found(brokenLost, "the archive has %d rows", n)
	}
	for _, h := range a.have.tickets {
		t := a.want[h.token]
		switch {
		case t == nil:
			found(brokenLost, "nobody made %+v", h)
			continue
		case there[h.token]:
			found(brokenLost, "it is there twice: %+v", h)
		case t.id != 0 && t.id != h.id:
			found(brokenRow, "its id was %d: %+v", t.id, h)
		}
		there[h.token], tokens[h.id] = true, h.token
		a.row(t, h, found)
		holder := fmt.Sprint(h.desk, " ", h.key)
		if other, taken := holders[holder]; taken {
			found(brokenTaken, "%d and %d: %+v", other, h.id, h)
		}
		holders[holder] = h.id
	}
	for _, token := range a.want.living() {
		if t := a.want[token]; !there[token] && !slices.ContainsFunc(t.may, func(s state) bool { return s.gone }) {
			found(brokenLost, "it is not there: %+v", t)
		}
	}
	a.below(there, tokens, found)
}

// row judges one that is there.
func (a *adopted) row(t *ticket, h row, found func(kind, format string, args ...any)) {
	i := slices.IndexFunc(t.may, func(s state) bool { return !s.gone && s.price == h.price && a.mayBeCalled(s.title, h) })
	switch {
	case i < 0:
		found(brokenRow, "%+v: it should be one of %+v", h, t.may)
		return
	case h.desk != t.desk || h.version < 1 || h.rest != a.rest(h.token):
		found(brokenRow, "%+v: it should be of %d, %q, of version 1 or more", h, t.desk, a.rest(h.token))
	}
	created, updated := t.may[i].created, t.may[i].updated
	if !a.times { // the backfill made them, or a writer that knew
		created, updated = a.during, a.during
	}
	if !created.has(h.created) || !updated.has(h.updated) {
		found(brokenTime, "%+v: it should have been made within %v, changed within %v", h, created, updated)
	}
	n, err := a.kind.Parse(h.title)
	if err != nil || n.Key != h.key || n.StemKey != h.stem || int64(n.Copy) != h.copyNo {
		found(brokenKey, "%+v: it should be %q, stem %q, copy %d (%v)", h, n.Key, n.StemKey, n.Copy, err)
	}
}

var copyToken = regexp.MustCompile(`(?i) *\(copy \d+\)`)

// plainly is a name without copy numbers and doubled spaces.
func plainly(title string) string {
	return strings.Join(strings.Fields(copyToken.ReplaceAllString(title, "")), " ")
}

// mayBeCalled says whether the row's name is the title, or a copy of it that the backfill has made. That has
// moved the version.
func (a *adopted) mayBeCalled(title string, h row) bool {
	return h.title == title || a.copies && h.version > 1 && copyToken.MatchString(h.title) && plainly(h.title) == plainly(title)
}

// below judges notes and watches.
func (a *adopted) below(there map[int64]bool, tokens map[int64]int64, found func(kind, format string, args ...any)) {
	if len(a.have.twice) > 0 {
		found(brokenBelow, "notes are there twice: %v", a.have.twice)
	}
	for note, id := range a.have.notes {
		if t := a.want[tokens[id]]; t == nil {
			found(brokenBelow, "note %d is below %d, which is not there", note, id)
		} else if _, made := t.notes[note]; !made {
			found(brokenBelow, "note %d is below %d, which is not where it was", note, id)
		}
	}
	for token, t := range a.want {
		for note, sure := range t.notes {
			if _, have := a.have.notes[note]; sure && there[token] && !have {
				found(brokenBelow, "note %d of row %d is not there", note, token)
			}
		}
	}
	for watch, id := range a.have.watches {
		if !id.Valid || id.Int64 != watch {
			found(brokenBelow, "watch %d is below %v", watch, id)
		}
	}
	if n := int64(len(a.have.watches)); n != a.watches {
		found(brokenBelow, "%d watches, want %d", n, a.watches)
	}
}

// deletions is what is judged when the workers have done what was asked.
type deletions struct {
	before, after tables
	asked         map[int64]bool // by id
}

func (d *deletions) judge(found func(kind, format string, args ...any)) {
	if n := len(d.after.archive); n > 0 {
		found(brokenAsked, "the archive has %d rows: %+v", n, d.after.archive[0])
	}
	after := map[int64]row{}
	for _, h := range d.after.tickets {
		after[h.id] = h
	}
	for _, was := range d.before.tickets {
		is, there := after[was.id]
		if there == d.asked[was.id] || there && is != was {
			found(brokenAsked, "asked %v, there %v: it is %+v and was %+v", d.asked[was.id], there, is, was)
		}
		delete(after, was.id)
	}
	for _, h := range after {
		found(brokenAsked, "nobody made %+v", h)
	}
	for note, id := range d.before.notes {
		if now, there := d.after.notes[note]; there == d.asked[id] || there && now != id {
			found(brokenAsked, "note %d of %d: asked %v, there %v, below %d", note, id, d.asked[id], there, now)
		}
	}
	for watch, was := range d.before.watches {
		now, there := d.after.watches[watch]
		if !there || now.Valid == d.asked[was.Int64] || now.Valid && now != was {
			found(brokenAsked, "watch %d of %d: asked %v, there %v: %v", watch, was.Int64, d.asked[was.Int64], there, now)
		}
	}
	for note, id := range d.after.notes {
		if _, there := d.before.notes[note]; !there {
			found(brokenAsked, "nobody made note %d of %d", note, id)
		}
	}
	if len(d.after.watches) > len(d.before.watches) || len(d.after.twice) > 0 {
		found(brokenAsked, "there are more watches than before, or notes twice: %v", d.after.twice)
	}
}
