package crashtest

import (
	"errors"
	"fmt"
	"strings"
)

// Failure is one fault point, or one schedule of a race, after which not all is as it must be.
type Failure struct {
	// Index is the place of the statement in the log, from 1, at which Fault happened.
	Index int
	Fault Fault
	// Schedule, of a race, is what Replay takes, and Table shows what happened, a column for each copy.
	Schedule    string
	Preemptions int
	Table       string
	// Answers are those of the calls in their order, the faulted one first; of a race the last of each copy.
	Answers []error
	// Reason is what is wrong, in one line.
	Reason string
	// Diff shows the rows that differ from those without the fault, or from the nearest right end of a race.
	Diff string

	point point
}

func (f *Failure) raced() bool { return f.Index == 0 }

// String is the failure in full.
func (f *Failure) String() string {
	var b strings.Builder
	names := "- without the fault, + with it"
	if f.raced() {
		names = "- serial, + interleaved"
		fmt.Fprintf(&b, "schedule %s (%s); crashtest.Replay(ctx, race, %q) runs it again\n%s", f.Schedule, count(f.Preemptions, "preemption"), f.Schedule, f.Table)
	} else {
		fmt.Fprintf(&b, "%s\n", f.point)
	}
	for i, err := range f.Answers {
		who := fmt.Sprintf("call %d", i+1)
		if f.raced() {
			who = string(letterOf(i)) + " was"
		}
		fmt.Fprintf(&b, "%s answered: %s\n", who, orNone(err))
	}
	b.WriteString(f.Reason)
	if f.Diff != "" {
		fmt.Fprintf(&b, " (%s):\n%s", names, strings.TrimRight(f.Diff, "\n"))
	}
	return b.String()
}

// Failures is the error of a workflow that does not survive all of its fault points, or of a race of which
// some schedules end as they must not.
type Failures struct {
	Workflow string
	Runs     int // fault points or schedules that were run
	List     []*Failure

	beside string
}

// Error shows the first failure in full and names the others. Of a race it is among those with the fewest
// preemptions.
func (f *Failures) Error() string {
	first := f.List[0]
	format, runs, also := "crashtest: workflow %q does not survive %d of %s\n%s", "fault point", "\nit fails as well at"
	if first.raced() {
		format, runs, also = "crashtest: workflow %q: %d of %s end as they must not\n%s", "interleaving", "\nit fails as well with"
	}
	var b strings.Builder
	fmt.Fprintf(&b, format, f.Workflow, len(f.List), count(f.Runs, runs), first)
	if f.beside != "" {
		b.WriteString("\n" + f.beside)
	}
	last := 0
	for i, other := range f.List[1:] {
		if i == 0 {
			b.WriteString(also)
		}
		if p := other.point; p.Index != last {
			fmt.Fprintf(&b, "\n  statement %d of %d, %s", p.Index, p.Statements, p.Statement)
			last = p.Index
		}
		if other.raced() {
			fmt.Fprintf(&b, "\n  %s", other.Schedule)
		} else {
			fmt.Fprintf(&b, "\n    point %d: %s", other.point.Number, other.Fault)
		}
		if other.Reason != first.Reason {
			fmt.Fprintf(&b, ": %s", other.Reason)
		}
	}
	return b.String()
}

func (f *Failures) orNil() error {
	if len(f.List) == 0 {
		return nil
	}
	return f
}

// explored is the error of an exploration: *Failures, or why it could not be made.
func explored(workflow string, err error) error {
	if _, failed := errors.AsType[*Failures](err); err == nil || failed {
		return err
	}
	return fmt.Errorf("crashtest: workflow %q: %w", workflow, err)
}
