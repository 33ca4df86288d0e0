package check

import (
	"github.com/onerow/onerow/proof/soak/journal"
)

// onRow names a row of a resource.
type onRow struct {
	resource string
	id       int64
}

// onKey names a request id, a key, a claim or a message.
type onKey struct {
	op       journal.Op
	resource string
	owner    int64
	key      string
	number   int64
}

// history is the journals, sorted by what they are about.
type history struct {
	rows map[onRow][]journal.Entry
	keys map[onKey][]journal.Entry
}

func newHistory(entries []journal.Entry) *history {
	h := &history{rows: map[onRow][]journal.Entry{}, keys: map[onKey][]journal.Entry{}}
	for _, e := range entries {
		switch e.Op {
		case journal.Create:
			k := onKey{op: e.Op, resource: e.Resource, owner: e.Owner, key: e.Key}
			h.keys[k] = append(h.keys[k], e)
		case journal.SetLimit:
			k := onKey{op: e.Op, owner: e.Owner}
			h.keys[k] = append(h.keys[k], e)
		case journal.Do, journal.Begin, journal.Complete:
			k := onKey{op: e.Op, key: e.Key}
			h.keys[k] = append(h.keys[k], e)
		case journal.Claim:
			k := onKey{op: e.Op, resource: e.Resource, key: e.Key}
			h.keys[k] = append(h.keys[k], e)
		case journal.Apply:
			k := onKey{op: e.Op, resource: e.Resource, number: e.Number}
			h.keys[k] = append(h.keys[k], e)
		default:
			k := onRow{e.Resource, e.ID}
			h.rows[k] = append(h.rows[k], e)
		}
	}
	return h
}

// of are the calls on a row that may have had an effect, of some operations.
func (h *history) of(resource string, id int64, ops ...journal.Op) []journal.Entry {
	var some []journal.Entry
	for _, e := range h.rows[onRow{resource, id}] {
		for _, op := range ops {
			if e.Op == op && e.Happened() {
				some = append(some, e)
			}
		}
	}
	return some
}

// last is the acknowledged call that began when all others had ended, if there is one: what it wrote is
// there.
func last(entries []journal.Entry) (journal.Entry, bool) {
	var latest journal.Entry
	at := -1
	for i, e := range entries {
		if e.Result == journal.OK && (at < 0 || e.Start > latest.Start) {
			latest, at = e, i
		}
	}
	for i, e := range entries {
		if i != at && e.Happened() && e.End > latest.Start {
			return latest, false
		}
	}
	return latest, at >= 0
}

// happened says whether one of the calls may have had its effect.
func happened(entries []journal.Entry) bool {
	for _, e := range entries {
		if e.Happened() {
			return true
		}
	}
	return false
}
