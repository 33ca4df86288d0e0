package txfuzz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/proof/soak/fuzz"
)

// Kinds of findings.
const (
	brokenAck      = "acknowledged, but not as it was written"
	brokenYet      = "acknowledged, but another session does not see it at once"
	brokenFailed   = "failed, but something of it is there"
	brokenUnknown  = "unknown, and neither whole nor absent"
	brokenValue    = "a row has other values than were sent"
	brokenCounter  = "a counter differs from the transactions that are there"
	brokenDropped  = "acknowledged, although the server had refused a statement of it"
	brokenTwice    = "run again after it was committed"
	brokenSight    = "a query sees other rows than its transaction wrote"
	brokenOpen     = "a session came back with a transaction open"
	brokenLate     = "an answer came too late after the deadline"
	brokenWaiting  = "a session still waits for a caller who has his answer"
	brokenOften    = "a function was run many times for what cannot succeed"
	brokenShifted  = "arguments went to another statement without an error"
	brokenDisguise = "the function was told of another end than it had"
)

// hotRows is how many counters there are, on which transactions collide.
const hotRows = 4

// span is a number that is known only so far.
type span struct{ lo, hi int64 }

// expect is what an attempt will have written if it is committed.
type expect struct {
	must map[int]bool // rows that were acknowledged in it
	may  map[int]bool // rows of statements that ended in an error that does not tell
	kept map[int]bool // rows that a statement of the caller's has committed already
	hot  [hotRows]span
}

func newExpect() *expect {
	return &expect{must: map[int]bool{}, may: map[int]bool{}, kept: map[int]bool{}}
}

// clone is for a savepoint.
func (e *expect) clone() *expect {
	c := newExpect()
	c.hot = e.hot
	for _, p := range [][2]map[int]bool{{c.must, e.must}, {c.may, e.may}, {c.kept, e.kept}} {
		for n := range p[1] {
			p[0][n] = true
		}
	}
	return c
}

// atom is one statement's effect.
type atom struct {
	rows []int // numbers of the rows that it inserts
	hot  int   // the counter that it raises; 0: none
}

// wrote notes a statement that was acknowledged.
func (e *expect) wrote(a atom) {
	for _, n := range a.rows {
		e.must[n] = true
	}
	if a.hot > 0 {
		e.hot[a.hot-1].lo++
		e.hot[a.hot-1].hi++
	}
}

// maybe notes a statement of which nobody knows whether it was run.
func (e *expect) maybe(a atom) {
	for _, n := range a.rows {
		e.may[n] = true
	}
	if a.hot > 0 {
		e.hot[a.hot-1].hi++
	}
}

// ended notes that a statement of the caller's has committed what was written so far.
func (e *expect) ended() {
	for _, m := range []map[int]bool{e.must, e.may} {
		for n := range m {
			e.kept[n] = true
			delete(m, n)
		}
	}
	for i := range e.hot {
		e.hot[i].lo = 0
	}
}

// verdict is what a caller was told.
type verdict int8

const (
	acked verdict = iota
	failed
	unknown
)

func (v verdict) String() string { return [...]string{"acknowledged", "failed", "unknown"}[v] }

// record is one transaction, as its caller knows it.
type record struct {
	id      int64
	verdict verdict
	err     error
	want    *expect // of the last attempt that came to its end; with kept of all
	story   string  // what was sent, to read
}

// whole says whether all is there that was acknowledged in it, and nothing else.
func (r *record) whole(there map[int]int64) bool {
	for n := range r.want.must {
		if _, ok := there[n]; !ok {
			return false
		}
	}
	return r.extra(there) == nil
}

// extra are rows that are there and can be neither the transaction's nor what was kept.
func (r *record) extra(there map[int]int64) (rows []int) {
	for n := range there {
		if !r.want.must[n] && !r.want.may[n] && !r.want.kept[n] {
			rows = append(rows, n)
		}
	}
	return rows
}

// absent says whether nothing is there that was not committed by a statement of the caller's.
func (r *record) absent(there map[int]int64) bool {
	for n := range there {
		if !r.want.kept[n] {
			return false
		}
	}
	return true
}

// judge holds a record against its rows, and says how much it added to the counters.
func (r *record) judge(there map[int]int64, found *fuzz.Findings) [hotRows]span {
	whole, absent := r.whole(there), r.absent(there)
	for n, v := range there {
		if v != valueOf(r.id, n) {
			found.Add(brokenValue, "row %d has %d: %s", n, v, r)
		}
	}
	switch {
	case r.verdict == acked && !whole:
		found.Add(brokenAck, "%s", r.differs(there))
	case r.verdict == failed && !absent:
		found.Add(brokenFailed, "%s", r.differs(there))
	case r.verdict == unknown && !whole && !absent:
		found.Add(brokenUnknown, "%s", r.differs(there))
	}
	var hot [hotRows]span
	if r.verdict == acked || r.verdict == unknown && whole {
		hot = r.want.hot
	}
	switch { // what was kept, or may have been there in either case, makes both possible
	case r.verdict == unknown && whole && absent, len(r.want.kept) > 0:
		for i := range hot {
			hot[i] = span{0, r.want.hot[i].hi}
		}
	}
	return hot
}

func (r *record) differs(there map[int]int64) string {
	var missing []int
	for n := range r.want.must {
		if _, ok := there[n]; !ok {
			missing = append(missing, n)
		}
	}
	extra := r.extra(there)
	if r.verdict == failed {
		missing, extra = nil, nil
		for n := range there {
			if !r.want.kept[n] {
				extra = append(extra, n)
			}
		}
	}
	slices.Sort(missing)
	slices.Sort(extra)
	return fmt.Sprintf("%d rows are there, %v are missing, %v are too many: %s", len(there), missing, extra, r)
}

func (r *record) String() string {
	err := "nil"
	if r.err != nil {
		err = strings.Join(strings.Fields(r.err.Error()), " ")
	}
	return fmt.Sprintf("transaction %d, %s (%.200s): %s", r.id, r.verdict, err, r.story)
}

// valueOf is what a row holds, so that an argument that went astray shows.
func valueOf(id int64, n int) int64 { return id*1000 + int64(n) }

// judgeAll holds all records against all rows, and the counters against their sum.
func judgeAll(records []*record, rows map[int64]map[int]int64, counters [hotRows]int64, found *fuzz.Findings) {
	var sum [hotRows]span
	known := map[int64]bool{}
	for _, r := range records {
		known[r.id] = true
		for i, h := range r.judge(rows[r.id], found) {
			sum[i].lo += h.lo
			sum[i].hi += h.hi
		}
	}
	for id, there := range rows {
		if !known[id] {
			found.Add(brokenValue, "%d rows of transaction %d, which was never begun", len(there), id)
		}
	}
	for i, h := range sum {
		if counters[i] < h.lo || counters[i] > h.hi {
			found.Add(brokenCounter, "counter %d is %d, and should be %d to %d", i+1, counters[i], h.lo, h.hi)
		}
	}
}
