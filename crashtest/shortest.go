package crashtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Trace is what happened in one schedule of a race, or at one fault point, as data. What differs from run to
// run is taken out: ids that the server has drawn are #1, #2 … in the order in which they come, times are "a
// time", texts that nobody can read count by their length. So the trace of the same code is the same, run
// after run, on the same engine.
type Trace struct {
	// Schedule, of a race, is what Replay takes; Fault says at which statement what happened.
	Schedule, Fault string
	Steps           []Step
	// Answers are those of Failure.
	Answers []string
	// Reason and Diff are those of Failure.
	Reason, Diff string
}

// Step is one statement, or something that was seen (Note).
type Step struct {
	Number int    // from 1; 0: no statement
	Copy   string // "A", "B", "C": the copies of a race, or the call with the fault and those made again
	Note   string // what was seen: a process that stops, the fault that happened to this statement

	Session int // of this copy, from 1 in the order in which it used them
	SQL     string
	Args    []string

	// Columns, Rows, Changed and Err are what its caller heard: the rows that were read, how many rows were
	// changed (-1: nothing was said), or the error.
	Columns []string
	Rows    [][]string
	Changed int64
	Err     string

	// WaitsFor are the copies for whose locks it waited (of three: all that may have held one), GoesOn is the
	// step after which it was answered; empty and 0 where it did not wait.
	WaitsFor string
	GoesOn   int
	// Lock is the one that it waited for, as MySQL names it: "X,GAP,INSERT_INTENTION on seat.PRIMARY (1, 9)",
	// the mode, the index and the row. MariaDB has no list of locks that is live.
	Lock string
}

// ErrSurvives is the error where nothing fails.
var ErrSurvives = errors.New("no schedule and no fault makes it fail")

// most bounds the failing schedules among which the shortest is sought.
const most = 5000

// ShortestRace explores the race as ExploreRace does, and returns the trace of the shortest schedule that
// ends as it must not: with the fewest steps, then the fewest preemptions, then the first by the letters. It
// is run once more to be recorded, on tables whose counters are set to a million and more, so that an id is
// known from an amount; a SMALLINT is too small for that. A schedule that does not fail again is passed by.
// Rows that Setup has deleted stay for a while, and InnoDB locks them in place of a gap: where the race is
// about gaps, have Setup TRUNCATE the tables. The error wraps ErrSurvives where all end well.
func ShortestRace(ctx context.Context, r Race) (trace Trace, report RaceReport, err error) {
	report.Workflow = r.Name
	x, err := newRacer(ctx, r)
	if err == nil {
		x.most = most
		trace, err = x.shortest(ctx, &report)
		err = errors.Join(err, x.close())
	}
	return trace, report, explored(r.Name, err)
}

func (x *racer) shortest(ctx context.Context, report *RaceReport) (Trace, error) {
	failures, err := failuresOf(x.exploreRace(ctx, report))
	if err != nil {
		return Trace{}, err
	}
	slices.SortStableFunc(failures.List, func(a, b *Failure) int {
		return cmp.Or(cmp.Compare(len(a.Schedule), len(b.Schedule)), cmp.Compare(a.Preemptions, b.Preemptions), strings.Compare(a.Schedule, b.Schedule))
	})
	x.record(true)
	defer x.record(false)
	for _, f := range failures.List {
		for range tries {
			trace, failed, err := x.recorded(ctx, f.Schedule)
			if failed || err != nil {
				return trace, err
			}
		}
	}
	return Trace{}, fmt.Errorf("%s failed, and none of them again", count(len(failures.List), "schedule"))
}

// failuresOf is what an exploration has found; none is ErrSurvives.
func failuresOf(err error) (*Failures, error) {
	if err == nil {
		return nil, ErrSurvives
	}
	if failures, failed := errors.AsType[*Failures](err); failed {
		return failures, nil
	}
	return nil, err
}

// recorded runs a schedule and returns what happened, if it came out as chosen and failed.
func (x *racer) recorded(ctx context.Context, schedule string) (Trace, bool, error) {
	if err := x.liftCounters(ctx); err != nil {
		return Trace{}, false, err
	}
	r, err := x.play(ctx, schedule, x.all(), x.race.Stops)
	if err != nil || r.schedule() != schedule {
		return Trace{}, false, err
	}
	f, err := x.judge(ctx, r)
	if err != nil || f == nil {
		return Trace{}, false, err
	}
	rows := r.stepper.trace.rows
	n, err := x.normalise(ctx, rows)
	if err != nil {
		return Trace{}, false, err
	}
	return n.trace(f, rows), true, nil
}

// normalise learns the ids of a run that has just ended.
func (x *explorer) normalise(ctx context.Context, rows []traceRow) (*normal, error) {
	end, err := takeSnapshot(ctx, x.observer, x.tables)
	if err != nil {
		return nil, err
	}
	var made []*execution
	for _, r := range rows {
		if r.execution != nil {
			made = append(made, r.execution)
		}
	}
	return newNormal(x.tables, []snapshot{x.began, end}, made), nil
}

func (n *normal) trace(f *Failure, rows []traceRow) Trace {
	t := Trace{Schedule: f.Schedule, Steps: n.steps(rows), Reason: n.text(f.Reason), Diff: f.Diff}
	for _, answer := range f.Answers {
		text := "nil"
		if answer != nil {
			text = strings.TrimPrefix(errorMark(answer), "error: ")
		}
		t.Answers = append(t.Answers, n.text(text))
	}
	return t
}

// ShortestFault explores the workflow as Explore does, and returns the trace of the first fault point that it
// does not survive, run once more to be recorded as ShortestRace does. The error wraps ErrSurvives where it
// survives all.
func ShortestFault(ctx context.Context, w Workflow) (trace Trace, report Report, err error) {
	report.Workflow = w.Name
	x, err := newExplorer(ctx, w, 0)
	if err == nil {
		trace, err = x.shortestFault(ctx, &report)
		err = errors.Join(err, x.close())
	}
	return trace, report, explored(w.Name, err)
}

func (x *explorer) shortestFault(ctx context.Context, report *Report) (Trace, error) {
	failures, err := failuresOf(x.explore(ctx, report))
	if err != nil {
		return Trace{}, err
	}
	x.record(true)
	defer x.record(false)
	p := failures.List[0].point
	if err := x.liftCounters(ctx); err != nil {
		return Trace{}, err
	}
	f, _, err := x.visit(ctx, p)
	if err != nil || f == nil {
		return Trace{}, errors.Join(err, fmt.Errorf("%s: it did not fail again", p))
	}
	rows := x.faulted(p, len(f.Answers))
	n, err := x.normalise(ctx, rows)
	if err != nil {
		return Trace{}, err
	}
	trace := n.trace(f, rows)
	trace.Fault = fmt.Sprintf("statement %d of %d: %s", p.Index, p.Statements, p.Fault)
	for i, s := range trace.Steps {
		if s.Copy == "A" && s.Number == p.Index && p.Fault != Abandoned {
			trace.Steps[i].Note = string(p.Fault)
		}
	}
	return trace, nil
}

// faulted are the lines of the calls of one visit: a copy for each call.
func (x *explorer) faulted(p point, calls int) (rows []traceRow) {
	if p.Fault == Abandoned {
		return x.stepped.rows
	}
	for i, made := range x.made[:min(len(x.made), max(calls, 2), 3)] {
		for _, e := range made {
			rows = append(rows, traceRow{step: len(rows) + 1, copy: i, execution: e})
		}
	}
	return rows
}
