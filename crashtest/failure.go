package crashtest

import (
	"fmt"
	"strings"
)

// Failure is one fault point that the workflow does not survive.
type Failure struct {
	Point Point
	// Calls are the answers of the calls, in order, the faulted one first.
	Calls []error
	// Reason is what went wrong, in one line.
	Reason string
	// Diff shows the rows that differ, where rows differ.
	Diff string
}

// String is the failure in full.
func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", f.Point)
	for i, err := range f.Calls {
		answer := "nil"
		if err != nil {
			answer = err.Error()
		}
		fmt.Fprintf(&b, "call %d answered: %s\n", i+1, answer)
	}
	b.WriteString(f.Reason)
	if f.Diff != "" {
		b.WriteString(" (- without the fault, + with it):\n" + strings.TrimRight(f.Diff, "\n"))
	}
	return b.String()
}

// Failures is the error of a workflow that does not survive all of its fault points.
type Failures struct {
	Workflow    string
	FaultPoints int // that were run
	List        []*Failure
}

// Error shows the first failure in full and names the others.
func (f *Failures) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "crashtest: workflow %q does not survive %d of %s\n%s", f.Workflow, len(f.List), count(f.FaultPoints, "fault point"), f.List[0])
	last := 0
	for i, other := range f.List[1:] {
		if i == 0 {
			b.WriteString("\nit fails as well at")
		}
		if p := other.Point; p.Index != last {
			fmt.Fprintf(&b, "\n  statement %d of %d, %s", p.Index, p.Statements, p.Statement)
			last = p.Index
		}
		fmt.Fprintf(&b, "\n    point %d: %s", other.Point.Number, other.Point.Fault)
		if other.Reason != f.List[0].Reason {
			fmt.Fprintf(&b, ": %s", other.Reason)
		}
	}
	return b.String()
}
