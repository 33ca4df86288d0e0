package crashtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A schedule is a text: a letter for each step, "A" for a statement of the first copy, "B" of the second, "C"
// of the third, and a small letter where that copy's process stops for good. After its end the copy that ran
// goes on while it can, then the next that can.

// errUnplayable is a schedule that asks for a step that cannot be made.
var errUnplayable = errors.New("the schedule cannot be played")

// letterOf is the letter of a copy.
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
	options string // letters of the copies that could go on
	chosen  byte
	before  int  // preemptions made before
	free    bool // switching costs nothing: the copy that ran last could not go on, or its turn was over
	stop    byte // the small letter of a copy that could be stopped here, or 0
}

// decide chooses the next process: what the schedule says, then by the rule. order is the order of copies in
// which the rule looks for the next one. It returns the copy's letter too, small where the process is to
// stop.
func (r *run) decide(able []*process) (*process, bool, error) {
	s := r.stepper
	d := decision{before: r.preemptions, free: true}
	byLetter := map[byte]*process{}
	for _, p := range able {
		byLetter[letterOf(p.copy)] = p
	}
	var last *process
	if s.last != nil && byLetter[letterOf(s.last.copy)] == s.last {
		last = s.last
	}
	for _, p := range able {
		if p == last && s.burst >= s.spin && len(able) > 1 {
			continue // it may be polling for what another copy has to do: others get their turn, which is no preemption
		}
		d.options += string(letterOf(p.copy))
	}
	spinning := last != nil && strings.IndexByte(d.options, letterOf(last.copy)) < 0
	d.free = last == nil || spinning
	if last != nil && r.mayStop && len(s.zombies) == 0 && !r.stopped && last.steps > 0 {
		d.stop = letterOf(last.copy) + 'a' - 'A'
	}

	if at := len(r.decisions); at < len(r.prefix) && !r.diverged {
		d.chosen = r.prefix[at]
		if d.chosen != d.stop && strings.IndexByte(d.options, d.chosen) < 0 {
			r.diverged = true
		}
	}
	if d.chosen == 0 || r.diverged {
		d.chosen = r.byRule(d, last)
	}
	stop := d.stop != 0 && d.chosen == d.stop
	if stop || !d.free && d.chosen != letterOf(last.copy) {
		r.preemptions++
	}
	r.decisions = append(r.decisions, d)
	if stop {
		return last, true, nil
	}
	p := byLetter[d.chosen]
	if p == nil {
		return nil, false, fmt.Errorf("%w: nobody to choose", errUnplayable)
	}
	return p, false, nil
}

// byRule goes on with the copy that ran last, else with the next in order after it.
func (r *run) byRule(d decision, last *process) byte {
	if last != nil && !d.free {
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

// schedule is what was chosen.
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
			if c == d.chosen {
				continue
			}
			cost := d.before
			if !d.free {
				cost++
			}
			b.push(cost, schedule[:i]+string(c))
		}
		if d.stop != 0 && d.stop != d.chosen {
			b.push(d.before+1, schedule[:i]+string(d.stop))
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
