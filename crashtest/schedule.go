package crashtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A schedule is a text: a letter for each step, "A" for a statement of the first copy, "B" of the second, "C"
// of the third, and a small letter where that copy's process stops for good. After its end the copy that ran
// goes on while it can, then the next that can.

// errUnplayable is a schedule that asks for a step that cannot be made.
var errUnplayable = errors.New("the schedule cannot be played")

func letterOf(index int) byte { return "ABC"[index] }

// checkSchedule refuses what is no schedule of so many copies.
func checkSchedule(schedule string, copies int) error {
	for i, c := range []byte(schedule) {
		if !strings.ContainsRune("ABC"[:copies]+"abc"[:copies], rune(c)) {
			return fmt.Errorf("%w: %q at %d is no copy of %d", errUnplayable, string(c), i+1, copies)
		}
	}
	return nil
}

// decision is a place in a run where the next step was chosen.
type decision struct {
	options string // letters of the copies that could go on, the small one of a copy that could be stopped
	chosen  byte
	before  int  // preemptions made before
	free    bool // switching costs nothing: the copy that ran last could not go on, or its turn was over
}

// cost is how many preemptions a choice makes that is not the rule's.
func (d decision) cost(choice byte) int {
	if d.free && !stops(choice) {
		return 0
	}
	return 1
}

// stops says whether a letter of a schedule is that of a process that stops.
func stops(letter byte) bool { return letter >= 'a' }

// decide chooses the next process, and whether it stops: what the schedule says, then by the rule.
func (r *run) decide(able []*process) (next *process, stop bool) {
	s, d := r.stepper, decision{before: r.preemptions}
	last := s.last
	if !slices.Contains(able, last) {
		last = nil
	}
	// It may be polling for what another copy has to do: others get their turn, which is no preemption.
	spinning := last != nil && s.burst >= s.spin && len(able) > 1
	for _, p := range able {
		if p != last || !spinning {
			d.options += string(letterOf(p.copy))
		}
	}
	d.free = last == nil || spinning
	if last != nil && r.mayStop && len(s.zombies) == 0 && !r.stopped && last.steps > 0 {
		d.options += strings.ToLower(string(letterOf(last.copy)))
	}

	d.chosen = r.byRule(d, last)
	if at := len(r.decisions); at < len(r.prefix) && !r.diverged {
		if r.diverged = strings.IndexByte(d.options, r.prefix[at]) < 0; !r.diverged {
			d.chosen = r.prefix[at]
		}
	}
	if last == nil || d.chosen != letterOf(last.copy) {
		r.preemptions += d.cost(d.chosen)
	}
	r.decisions = append(r.decisions, d)
	if stops(d.chosen) {
		return last, true
	}
	return able[slices.IndexFunc(able, func(p *process) bool { return letterOf(p.copy) == d.chosen })], false
}

// byRule goes on with the copy that ran last, else with the next in order after it.
func (r *run) byRule(d decision, last *process) byte {
	if !d.free {
		return letterOf(last.copy)
	}
	from := 0
	if last != nil {
		from = strings.IndexByte(r.order, letterOf(last.copy)) + 1
	}
	for i := range len(r.order) {
		c := r.order[(from+i)%len(r.order)]
		if strings.IndexByte(d.options, c) >= 0 {
			return c
		}
	}
	return d.options[0]
}

func (r *run) schedule() string {
	letters := make([]byte, len(r.decisions))
	for i, d := range r.decisions {
		letters[i] = d.chosen
	}
	return string(letters)
}

// backlog holds the beginnings of schedules that are still to be run, by their number of preemptions: those
// with fewer come first, so the first failure is among the simplest.
type backlog [][]string

func (b *backlog) push(preemptions int, prefix string) {
	for len(*b) <= preemptions {
		*b = append(*b, nil)
	}
	(*b)[preemptions] = append((*b)[preemptions], prefix)
}

// pop takes the next one and says how many preemptions it has; false: there is none with at most that many.
func (b backlog) pop(most int) (prefix string, preemptions int, ok bool) {
	for i, list := range b {
		if i > most {
			break
		}
		if len(list) > 0 {
			b[i] = list[1:]
			return list[0], i, true
		}
	}
	return "", 0, false
}

// branch adds what could have been chosen otherwise after the prefix of a run. Each schedule is reached in
// exactly one way: its last choice against the rule.
func (b *backlog) branch(r *run) {
	schedule := r.schedule()
	for i := len(r.prefix); i < len(r.decisions); i++ {
		d := r.decisions[i]
		for _, c := range []byte(d.options) {
			if c != d.chosen {
				b.push(d.before+d.cost(c), schedule[:i]+string(c))
			}
		}
	}
}

// interleavings is how many orders there are of the steps of independent copies, or limit if there are as
// many or more.
func interleavings(steps []int, limit int) int {
	total, n := 1, 0
	for _, k := range steps {
		for i := 1; i <= k; i++ {
			n++
			total = total * n / i // a binomial coefficient at each step, so the division is exact
			if total >= limit*1000 {
				return limit
			}
		}
	}
	return min(total, limit)
}

func (x *racer) replay(ctx context.Context, schedule string) (string, error) {
	if err := checkSchedule(schedule, len(x.race.Calls)); err != nil {
		return "", err
	}
	if _, err := x.serial(ctx); err != nil {
		return "", err
	}
	r, err := x.play(ctx, schedule, x.all(), strings.ToUpper(schedule) != schedule)
	if err != nil {
		return "", err
	}
	table := r.stepper.trace.table(len(x.race.Calls))
	if r.diverged {
		return table, fmt.Errorf("%w: a copy that it names could not go on there; this was run: %s", errUnplayable, r.schedule())
	}
	failure, err := x.judge(ctx, r)
	if err == nil && failure != nil {
		err = &Failures{Workflow: x.race.Name, Runs: 1, List: []*Failure{failure}}
	}
	return table, err
}
