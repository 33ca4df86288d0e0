package retentionfuzz

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// latest is the last moment at which the column's clock shows what it shows at this one: in an hour that is
// repeated, the second one.
func (d *design) latest(t table, at time.Time) time.Time {
	if t.isTimestamp() {
		return at
	}
	_, end := at.In(d.zone).ZoneBounds()
	if end.IsZero() {
		return at
	}
	_, now := at.In(d.zone).Zone()
	_, then := end.Zone()
	second := at.Add(time.Duration(now-then) * time.Second)
	if now > then && !second.Before(end) {
		return second
	}
	return at
}

// dueMargin is how long a row may be due at the end and be there: it fell due while the last ones went.
const dueMargin = 2 * time.Hour

// ends judges what there is at the end.
func (j *judge) ends() {
	for _, p := range sortedPlaces(j.rows) {
		r := j.rows[p]
		if p.id == 0 || p.table < 0 {
			continue
		}
		version, there := j.live[p]
		if there != r.present {
			j.found(brokenWitness, "%s is there: %v; the witness says %v", j.name(p), there, r.present)
			continue
		}
		if there && version != r.states[len(r.states)-1].version {
			j.found(brokenWitness, "%s has version %d; the witness says %d", j.name(p), version, r.states[len(r.states)-1].version)
		}
		j.kept(p, r)
		j.leavesOf(p, r)
		if there {
			j.stays(p, r)
		}
	}
	for _, p := range sortedPlaces(j.live) {
		if j.rows[p] == nil {
			j.found(brokenWitness, "%s is there, and the witness never saw it", j.name(p))
		}
	}
	for _, p := range sortedPlaces(j.copies) {
		if j.rows[p] == nil {
			j.found(brokenTrash, "%s is in the trash, and the witness never saw it", j.name(p))
		}
	}
}

// kept holds the trash against what went and came back.
func (j *judge) kept(p place, r *row) {
	versions := maps.Clone(r.copies)
	for v := range j.copies[p] {
		versions[v] += 0
	}
	for _, v := range slices.Sorted(maps.Keys(versions)) {
		if have, want := j.copies[p][v], r.copies[v]; have != want {
			j.found(brokenTrash, "%s, version %d: %d in the trash, and %d went and did not come back", j.name(p), v, have, want)
		}
	}
}

// past is what happened to a row, and the jobs that were for it.
func (j *judge) past(p place) string {
	var b strings.Builder
	for _, e := range j.events {
		if e.id == p.id && j.tableOf(e.name) == p.table {
			fmt.Fprintf(&b, "; %s %s version %d", e.at.UTC().Format("01-02 15:04:05.000000"), e.what, e.version)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(j.jobs)) {
		if one := j.jobs[id]; one.place == p {
			fmt.Fprintf(&b, "; job %d %s %s %.60s", id, one.state, one.ended.UTC().Format("01-02 15:04:05.000000"), one.why)
			if slices.Contains(j.restored, id) {
				b.WriteString(" (brought back)")
			}
		}
	}
	return b.String()
}

// leavesOf holds what is below a row against what was put there. Nothing was put below it since.
func (j *judge) leavesOf(p place, r *row) {
	t := j.tables[p.table]
	if !t.below {
		return
	}
	below, stored, want := j.below[p], j.stored[p], j.leaves[p]
	if !r.present && below > 0 {
		j.found(brokenBelow, "%s is gone, and %d are left below it%s", j.name(p), below, j.past(p))
		return
	}
	copies := 0
	for _, n := range j.copies[p] {
		copies += n
	}
	switch {
	case r.deleted || !r.present && copies == 0:
	case t.trash && below+stored != want:
		j.found(brokenBelow, "%s has %d below it and %d in the trash, which were %d", j.name(p), below, stored, want)
	case r.present && below != want && !j.hasTakenBack(p):
		j.found(brokenBelow, "%s has %d below it, which were %d", j.name(p), below, want)
	}
}

// hasTakenBack says whether a deletion of the row was taken back: it may have begun, and what was gone by
// then is gone.
func (j *judge) hasTakenBack(p place) bool { return len(j.takenBack[p]) > 0 }

// stays judges a row that is there.
func (j *judge) stays(p place, r *row) {
	last, keep := r.states[len(r.states)-1], j.tables[p.table].keep
	from := j.began(p, last)
	if from.IsZero() || j.latest(j.tables[p.table], from).Add(keep+dueMargin).After(j.now) {
		return
	}
	for _, back := range j.takenBack[p] {
		if back.Add(keep + dueMargin).After(j.now) {
			return
		}
	}
	j.found(brokenStays, "%s, version %d since %s; it is %s, and it is kept for %v", j.name(p), last.version, text(from), text(j.now), keep)
}

// answers holds what users were told, and what jobs count, against the witness.
func (j *judge) answers() {
	for i, e := range j.entries {
		version := int64(i + 1)
		if seen := j.seen[version]; e.outcome != unknown && seen != (e.outcome == done) {
			j.found(brokenWritten, "%s, version %d, %s: it is there: %v, and its user was told otherwise", j.name(place{e.table, e.id}), version, e.op, seen)
		}
	}
	for _, id := range j.restored {
		if one := j.jobs[id]; one.state != "restored" && one.state != "cancelled" {
			j.found(brokenQueue, "job %d of %s was restored, it was said, and is %s", id, j.name(one.place), one.state)
		}
	}
	if j.parked > 0 {
		j.found(brokenQueue, "%d rows are parked", j.parked)
	}
}
