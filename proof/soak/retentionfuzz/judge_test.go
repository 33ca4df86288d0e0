package retentionfuzz

import (
	"slices"
	"testing"
	"time"
)

// noon is in the window of the tests, and not at a change of the clock.
var noon = time.Date(2026, 6, 10, 12, 0, 0, 0, time.UTC)

// past makes a history of one table with a trash, whose rows are kept for an hour, from 11:00 to 13:00. Row 1
// went as it should, was brought back and went once more; row 2 is young, row 3 was touched and stays.
func past() *history {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	note := func(seq int64, what string, id, version int64, minutes int) event {
		return event{seq: seq, what: what, name: "visit", id: id, version: version, at: at(minutes)}
	}
	one, three := place{0, 1}, place{0, 3}
	return &history{
		design: &design{zone: time.UTC, tables: []table{{name: "visit", column: datetime6, trash: true, below: true, keep: time.Hour, windows: []window{{1<<7 - 1, 11 * 60, 13 * 60}}}}},
		entries: []entry{
			{0, 1, born, at(-120), done}, {0, 2, born, at(-10), done}, {0, 3, born, at(-120), done}, {0, 3, wrote, at(0), done}, {0, 3, wrote, at(0), refused},
		},
		asked: map[place]bool{},
		events: []event{
			note(1, born, 1, 1, -60), note(2, born, 2, 2, -60), note(3, born, 3, 3, -60),
			note(4, turned, 0, 0, -50), note(5, looked, 10, 0, -49), note(6, gone, 1, 1, -48), note(7, wrote, 3, 4, 0),
			note(8, looked, 11, 0, 1), note(9, born, 1, 1, 5), note(10, looked, 12, 0, 66), note(11, gone, 1, 1, 67),
		},
		jobs: map[int64]job{
			10: {one, "restored", "", at(5)}, 11: {three, "cancelled", "retention: the row is not due any more", at(1)}, 12: {one, "done", "", at(67)},
		},
		restored: []int64{10},
		audits:   []audit{{0, at(-50)}},
		live:     map[place]int64{{0, 2}: 2, three: 4},
		copies:   map[place]map[int64]int{one: {1: 1}},
		leaves:   map[place]int{one: 2, three: 1},
		below:    map[place]int{three: 1},
		stored:   map[place]int{one: 2},
		now:      at(100),
		before:   func(at time.Time, ago time.Duration) time.Time { return at.Add(-ago) },
	}
}

// TestJudge plants what each kind of finding is about; nothing is found where nothing is broken.
func TestJudge(t *testing.T) {
	one, two, three := place{0, 1}, place{0, 2}, place{0, 3}
	for name, c := range map[string]struct {
		plant func(h *history)
		want  []string
	}{
		"nothing":   {func(*history) {}, nil},
		"too young": {func(h *history) { h.entries[0].began = noon.Add(-109*time.Minute + 4*time.Second) }, []string{brokenEarly}},
		"too young in the first batch": {func(h *history) {
			h.events[4].id = 99
			h.entries[0].began = noon.Add(-108*time.Minute + time.Microsecond)
		}, []string{brokenEarly}},
		"never due":                 {func(h *history) { h.entries[0].began = time.Time{} }, []string{brokenEarly}},
		"asked for":                 {func(h *history) { h.entries[0].began = noon; h.asked[one] = true }, nil},
		"too early after a restore": {func(h *history) { h.jobs[10] = job{one, "restored", "", noon.Add(7 * time.Minute)} }, []string{brokenBack}},
		"it stays": {func(h *history) {
			h.now = noon.Add(4 * time.Hour)
			h.jobs[9] = job{two, "cancelled", "", noon.Add(4 * time.Hour)}
		}, []string{brokenStays}},
		"not in the trash":   {func(h *history) { delete(h.copies, one) }, []string{brokenTrash}},
		"twice in the trash": {func(h *history) { h.copies[one][1] = 2 }, []string{brokenTrash}},
		"another version":    {func(h *history) { h.copies[one] = map[int64]int{3: 1} }, []string{brokenTrash}},
		"below what is gone": {func(h *history) { h.below[one] = 1 }, []string{brokenBelow}},
		"below what stays":   {func(h *history) { h.below[three] = 0 }, []string{brokenBelow}},
		"not all is stored":  {func(h *history) { h.stored[one] = 1 }, []string{brokenBelow}},
		"before the window": {func(h *history) {
			h.events[3].at, h.audits[0].at = noon.Add(-time.Hour-time.Second), noon.Add(-time.Hour-time.Second)
		}, []string{brokenWindow}},
		"after the window": {func(h *history) {
			h.events[3].at, h.audits[0].at = noon.Add(time.Hour+turnSlack), noon.Add(time.Hour+turnSlack)
		}, []string{brokenWindow}},
		"without a turn":           {func(h *history) { h.audits[0].at = noon }, []string{brokenWindow}},
		"a dead job":               {func(h *history) { h.jobs[8] = job{two, "dead", "why", noon} }, []string{brokenQueue}},
		"an open job":              {func(h *history) { h.jobs[8] = job{two, "ready", "", time.Time{}} }, []string{brokenQueue}},
		"a restore that was none":  {func(h *history) { h.restored = []int64{12} }, []string{brokenQueue}},
		"a parked row":             {func(h *history) { h.parked = 1 }, []string{brokenQueue}},
		"a write is lost":          {func(h *history) { h.entries[4].outcome = done }, []string{brokenWritten}},
		"a refused write is there": {func(h *history) { h.entries[3].outcome = refused }, []string{brokenWritten}},
		"a row from nowhere":       {func(h *history) { h.live[place{0, 4}] = 2 }, []string{brokenWitness}},
		"a row is lost":            {func(h *history) { delete(h.live, two) }, []string{brokenWitness}},
		"another value":            {func(h *history) { h.live[three] = 3 }, []string{brokenWitness}},
	} {
		t.Run(name, func(t *testing.T) {
			var kinds []string
			h := past()
			c.plant(h)
			h.judge(func(kind, format string, args ...any) {
				if !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
				t.Logf(kind+": "+format, args...)
			})
			if slices.Sort(kinds); !slices.Equal(kinds, slices.Sorted(slices.Values(c.want))) {
				t.Errorf("found %q, want %q", kinds, c.want)
			}
		})
	}
}

// TestJudgeLooks: a row that was written after its job had begun may go young, one that was written before may
// not.
func TestJudgeLooks(t *testing.T) {
	for name, c := range map[string]struct {
		seq  int64 // of the write; the look is 50, the row goes at 60
		want int
	}{"before": {45, 1}, "after": {55, 0}} {
		h := past()
		h.entries = append(h.entries, entry{0, 1, wrote, noon.Add(50 * time.Minute), done})
		h.events[9].seq, h.events[10].seq, h.events[10].version = 50, 60, 6
		h.events = append(h.events, event{seq: c.seq, what: wrote, name: "visit", id: 1, version: 6, at: noon.Add(66 * time.Minute)})
		slices.SortFunc(h.events, func(a, b event) int { return int(a.seq - b.seq) })
		h.copies[place{0, 1}] = map[int64]int{6: 1}
		early := 0
		told := h.judge(func(kind, format string, args ...any) {
			if kind == brokenEarly {
				early++
			} else {
				t.Errorf(name+": "+kind+": "+format, args...)
			}
		})
		if early != c.want || told.late != 1-c.want {
			t.Errorf("%s: %d went too early, %d were written after the look", name, early, told.late)
		}
	}
}
