package retentionfuzz

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Kinds of findings.
const (
	brokenEarly   = "a row went that was too young when its job looked at it"
	brokenBack    = "a row that was brought back went before it was old once more"
	brokenStays   = "a row is due and stays"
	brokenDrain   = "what is due does not go"
	brokenTrash   = "the trash does not have what went"
	brokenBelow   = "what is below a row is not what it should be"
	brokenWindow  = "rows were queued while the window was closed"
	brokenQueue   = "a job did not end as it should"
	brokenWritten = "a user's write is not what was answered"
	brokenWitness = "the witness does not make sense, or a row came from nowhere"
	brokenWorker  = "a worker ended by itself"
	brokenMemory  = "a worker's memory grows"
)

const (
	// lookSlack is real time for which a job may wait between the note that it has begun and its look: for
	// the row's lock.
	lookSlack = 3 * time.Second
	// turnSlack is real time that a step takes from the look at the clock to its turn: a page is read.
	turnSlack = 3 * time.Second
	// stepSlack is real time that the rows of one turn take to be queued.
	stepSlack = 60 * time.Second
)

// told is what was seen, for people.
type told struct {
	gone, spared, late, asked, back, turns, tight, audits, cancelled int
}

func (t told) String() string {
	return fmt.Sprintf("%d rows went, %d jobs spared theirs, %d went that were written after the look, %d that users had asked for; %d came back, %d deletions were taken back; %d turns, %d of them just as the window closed, %d rows queued",
		t.gone, t.spared, t.late, t.asked, t.back, t.cancelled, t.turns, t.tight, t.audits)
}

// shown is an error if something did not happen at all.
func (t told) shown() error {
	if t.gone == 0 || t.turns == 0 || t.audits == 0 {
		return fmt.Errorf("%w: %v", errShown, t)
	}
	return nil
}

// judge holds everything against everything.
func (h *history) judge(found func(kind, format string, args ...any)) (t told) {
	j := &judge{history: h, told: &t, found: found, rows: map[place]*row{}, seen: map[int64]bool{}, takenBack: map[place][]time.Time{}}
	for _, id := range slices.Sorted(maps.Keys(h.jobs)) {
		one := h.jobs[id]
		switch {
		case one.state == "dead" || one.ended.IsZero():
			found(brokenQueue, "job %d of %s is %s: %s", id, j.name(one.place), one.state, one.why)
		case one.spared():
			t.spared++
		case one.takenBack():
			t.cancelled++
			j.takenBack[one.place] = append(j.takenBack[one.place], one.ended)
		}
	}
	for _, e := range h.events {
		j.event(e)
	}
	j.turns()
	j.ends()
	j.answers()
	return t
}

// judge is a history that is replayed.
type judge struct {
	*history
	told      *told
	found     func(kind, format string, args ...any)
	rows      map[place]*row
	seen      map[int64]bool // versions of the witness
	takenBack map[place][]time.Time
}

// row is what the witness says of one.
type row struct {
	present bool
	born    int64 // the number of the event
	states  []event
	looks   []event
	copies  map[int64]int
	deleted bool // by a user, at some time
}

func (j *judge) name(p place) string {
	if p.table < 0 || p.id == 0 {
		return "nobody's row"
	}
	return fmt.Sprintf("%s %d", j.tables[p.table].name, p.id)
}

func (j *judge) row(p place) *row {
	r := j.rows[p]
	if r == nil {
		r = &row{copies: map[int64]int{}}
		j.rows[p] = r
	}
	return r
}

// event replays one.
func (j *judge) event(e event) {
	p := place{j.tableOf(e.name), e.id}
	switch e.what {
	case turned:
		return // see turns
	case looked:
		p = j.jobs[e.id].place
		r := j.row(p)
		r.looks = append(r.looks, e)
		return
	}
	r, known := j.row(p), e.version >= 1 && e.version <= int64(len(j.entries))
	if known = known && j.entries[e.version-1].id == p.id && j.entries[e.version-1].table == p.table; !known {
		j.found(brokenWitness, "%s was %s with the version %d, which nobody gave it", j.name(p), e.what, e.version)
		return
	}
	first := !j.seen[e.version]
	j.seen[e.version] = true
	if r.present != (e.what != born) {
		j.found(brokenWitness, "%s was %s, version %d, and was there before: %v", j.name(p), e.what, e.version, r.present)
	}
	switch e.what {
	case born:
		if !first {
			j.told.back++
			r.copies[e.version]--
			if r.copies[e.version] < 0 {
				j.found(brokenWitness, "%s came back with version %d, and no trash had it", j.name(p), e.version)
			}
		}
		r.present, r.born, r.states = true, e.seq, append(r.states, e)
	case wrote:
		r.states = append(r.states, e)
	case gone:
		r.present = false
		if j.entries[e.version-1].op == gone {
			r.deleted = true
			return
		}
		j.gone(p, r, e)
		if j.tables[p.table].trash {
			r.copies[e.version]++
		}
	}
}

// look is the moment at which the job that has deleted a row looked at it: its note of it, if it went in a
// later batch than that. exact says that the deletion's own moment is meant.
func (j *judge) look(r *row, e event) (look event, exact bool) {
	for _, l := range slices.Backward(r.looks) {
		if one := j.jobs[l.id]; l.seq > r.born && l.seq < e.seq && one.state != "cancelled" {
			return l, false
		}
	}
	return e, true
}

// began is when the age of a version began; zero: never.
func (j *judge) began(p place, e event) time.Time {
	if j.tables[p.table].isTimestamp() {
		return e.began
	}
	return j.entries[e.version-1].began
}

// gone judges that a job has deleted a row.
func (j *judge) gone(p place, r *row, e event) {
	j.told.gone++
	if j.asked[p] {
		j.told.asked++
		return
	}
	keep := j.tables[p.table].keep
	look, exact := j.look(r, e)
	due := func(v event) bool {
		from := j.began(p, v)
		at := from.Add(keep)
		if !exact {
			at = j.before(at, lookSlack)
		}
		return !from.IsZero() && !at.After(look.at)
	}
	// Who writes between the note and the look is seen by the look, so one version of these must have been
	// due.
	was, ok := event{}, false
	for _, v := range r.states {
		if v.seq < look.seq {
			was, ok = v, due(v)
		} else if v.seq < e.seq {
			ok = ok || due(v)
		}
	}
	if !ok {
		j.found(brokenEarly, "%s, version %d since %s, looked at %s, went with version %d at %s; it is kept for %v", j.name(p), was.version, text(j.began(p, was)), text(look.at), e.version, text(e.at), keep)
	} else if last := r.states[len(r.states)-1]; !due(last) {
		j.told.late++
	}
	for _, back := range j.takenBack[p] {
		if !back.After(look.at) && back.Add(keep).After(look.at) {
			j.found(brokenBack, "%s was brought back at %s, looked at %s, went at %s; it is kept for %v", j.name(p), text(back), text(look.at), text(e.at), keep)
		}
	}
}

func text(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05.000000") }

// turns judges when rows were queued.
func (j *judge) turns() {
	turns := make([][]time.Time, len(j.tables))
	for _, e := range j.events {
		n := j.tableOf(e.name)
		if e.what != turned || n < 0 {
			continue
		}
		t := j.tables[n]
		j.told.turns++
		turns[n] = append(turns[n], e.at)
		if j.open(t, e.at) {
			continue
		}
		j.told.tight++
		if from := j.before(e.at, turnSlack); !j.openBetween(t, from, e.at) {
			j.found(brokenWindow, "%s had its turn at %s, a clock there shows %s; its windows are %v", t.name, text(e.at), e.at.In(j.zone).Format("Mon 15:04:05"), t.windows)
		}
	}
	for n := range turns {
		slices.SortFunc(turns[n], time.Time.Compare)
	}
	for _, a := range j.audits {
		j.told.audits++
		if a.table < 0 {
			j.found(brokenWindow, "a row of no policy was queued at %s", text(a.at))
			continue
		}
		all := turns[a.table]
		i, same := slices.BinarySearchFunc(all, a.at, time.Time.Compare)
		if same {
			continue
		}
		if i == 0 || all[i-1].Before(j.before(a.at, stepSlack)) {
			j.found(brokenWindow, "a row of %s was queued at %s, without a turn", j.tables[a.table].name, text(a.at))
		}
	}
}

// sortedPlaces are the keys in an order.
func sortedPlaces[V any](m map[place]V) []place {
	return slices.SortedFunc(maps.Keys(m), func(a, b place) int { return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.id, b.id)) })
}
