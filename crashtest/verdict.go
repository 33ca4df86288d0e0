package crashtest

import (
	"context"
	"fmt"
	"strings"
)

// RaceFailure is one schedule that ends as it must not.
type RaceFailure struct {
	// Schedule is what Replay takes.
	Schedule    string
	Preemptions int
	// Table shows what happened, a column for each copy.
	Table string
	// Answers of the copies, the last of each.
	Answers []error
	// Reason is what is wrong, in one line.
	Reason string
	// Diff shows the rows that differ from the nearest right end, where rows differ.
	Diff string
}

// String is the failure in full.
func (f *RaceFailure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "schedule %s (%s); crashtest.Replay(ctx, race, %q) runs it again\n%s", f.Schedule, count(f.Preemptions, "preemption"), f.Schedule, f.Table)
	for i, err := range f.Answers {
		fmt.Fprintf(&b, "%c was answered: %s\n", letterOf(i), orNone(err))
	}
	b.WriteString(f.Reason)
	if f.Diff != "" {
		b.WriteString(" (- serial, + interleaved):\n" + strings.TrimRight(f.Diff, "\n"))
	}
	return b.String()
}

// RaceFailures is the error of a race of which some schedules end as they must not.
type RaceFailures struct {
	Workflow  string
	Schedules int // that were run
	List      []*RaceFailure
}

// Error shows the first failure, which is among those with the fewest preemptions, and names the others.
func (f *RaceFailures) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "crashtest: workflow %q: %d of %s end as they must not\n%s", f.Workflow, len(f.List), count(f.Schedules, "interleaving"), f.List[0])
	for i, other := range f.List[1:] {
		if i == 0 {
			b.WriteString("\nit fails as well with")
		}
		fmt.Fprintf(&b, "\n  %s", other.Schedule)
		if other.Reason != f.List[0].Reason {
			fmt.Fprintf(&b, ": %s", other.Reason)
		}
	}
	return b.String()
}

func (f *RaceFailures) orNil() error {
	if len(f.List) == 0 {
		return nil
	}
	return f
}

var raceSides = sides{"serially", "interleaved"}

// judge holds the end of a run against the right ones. It returns nil where it is one.
func (x *racer) judge(ctx context.Context, r *run) (*RaceFailure, error) {
	f := &RaceFailure{
		Schedule: r.schedule(), Preemptions: r.preemptions, Table: r.stepper.trace.table(len(x.race.Calls)), Answers: r.answers,
	}
	switch {
	case r.stuck != nil:
		f.Reason = r.stuck.Error()
		return f, nil
	case r.check != nil:
		f.Reason = r.check.Error()
		return f, nil
	case x.race.Judge != nil:
		if err := x.race.Judge(ctx, x.plain, r.answers); err != nil {
			f.Reason = "Judge: " + err.Error()
			return f, ctx.Err()
		}
		return nil, ctx.Err()
	}
	key := x.keyOf(r)
	var best *ending
	var fewest string
	for i, e := range x.ends {
		if e.key == key {
			return nil, nil
		}
		d := diffOf(e.tables, r.end, raceSides)
		if best == nil || strings.Count(d, "\n") < strings.Count(fewest, "\n") {
			best, fewest = &x.ends[i], d
		}
	}
	after := "after the copies one after the other in any order"
	if x.race.AsOnce {
		after = "after one call alone"
	}
	f.Diff = fewest
	if fewest == "" {
		f.Reason = fmt.Sprintf("the tables are right, the answers %s are not those %s; nearest: %s", answersText(r.answers), after, answersText(best.answers))
		return f, nil
	}
	f.Reason = fmt.Sprintf("the tables are not those %s; nearest: %s, answers %s", after, best.order, answersText(best.answers))
	return f, nil
}
