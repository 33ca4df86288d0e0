package crashtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

type racer struct {
	*explorer
	race Race
	ends []ending
	spin int
	most int // failures that end the exploration
}

// ending is what a serial execution leaves.
type ending struct {
	order   string // of the copies: "AB"
	key     string
	tables  *identity
	answers []error
}

// run is one schedule while it is run, and what came of it.
type run struct {
	stepper     *stepper
	prefix      string // of the schedule; after it the rule decides
	order       string // copies that run, in the order of the rule
	mayStop     bool
	decisions   []decision
	preemptions int
	diverged    bool // the prefix could not be followed
	stopped     bool
	answers     []error
	end         *identity
	stuck       error // the schedule did not come to its end
	check       error // what the workflow's Check said
}

func newRacer(ctx context.Context, r Race) (*racer, error) {
	if err := r.complete(); err != nil {
		return nil, err
	}
	w := r.Workflow
	w.Without = nil
	base, err := newExplorer(ctx, w, len(r.Calls))
	return &racer{explorer: base, race: r, most: maxFailures}, err
}

func (x *racer) all() string { return "ABC"[:len(x.race.Calls)] }

func (x *racer) exploreRace(ctx context.Context, report *RaceReport) (err error) {
	if report.Engine, report.Isolation, err = x.server.named(ctx, x.plain); err != nil {
		return err
	}
	if report.Statements, err = x.serial(ctx); err != nil {
		return err
	}
	report.Serial = x.differentEnds()
	failures := &Failures{Workflow: x.race.Name}
	orders := map[uint64]bool{}
	work := &backlog{}
	work.push(0, "")
	bound, complete, dropped := x.race.Preemptions, false, false
	if x.race.Every > 0 && interleavings(report.Statements, x.race.Every) < x.race.Every {
		bound, complete = 1<<30, true
	}
	for len(failures.List) < x.most {
		prefix, preemptions, ok := work.pop(bound)
		if !ok {
			break
		}
		if complete && preemptions > x.race.Preemptions && report.Schedules >= x.race.Every {
			complete = false // retries made more of them than the statements promised
			break
		}
		r, err := x.follow(ctx, prefix, report, failures, orders)
		if err != nil {
			return errors.Join(err, failures.orNil())
		}
		switch {
		case r.diverged:
			report.Unsteady++
			dropped = true // what the prefix says was not run, nor what comes after it
		case r.stuck != nil:
			dropped = true // what comes after is not known
		case !r.stopped || preemptions < x.race.Preemptions:
			work.branch(r)
		}
	}
	report.Preemptions, report.Complete = x.race.Preemptions, complete && !dropped && len(failures.List) < x.most
	return failures.orNil()
}

// tries is how often a prefix is played until it comes out as it says.
const tries = 3

// follow plays a prefix, judges the end, and returns the last play. A play that came out otherwise is made
// again, but judged as well: what is wrong is wrong, however it came about.
func (x *racer) follow(ctx context.Context, prefix string, report *RaceReport, failures *Failures, orders map[uint64]bool) (*run, error) {
	for try := 1; ; try++ {
		r, err := x.play(ctx, prefix, x.all(), x.race.Stops)
		if err != nil {
			return nil, fmt.Errorf("schedule %s…: %w", prefix, err)
		}
		failure, err := x.judge(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("schedule %s: %w", r.schedule(), err)
		}
		if failure == nil && r.diverged && try < tries {
			continue
		}
		report.add(r, orders)
		failures.Runs = report.Schedules
		if failure != nil {
			failures.List = append(failures.List, failure)
		}
		return r, nil
	}
}

func (report *RaceReport) add(r *run, orders map[uint64]bool) {
	report.Schedules++
	report.Steps += r.stepper.trace.steps
	report.Waits += r.stepper.trace.waited
	report.Deadlocks += r.stepper.trace.deadlocks
	orders[r.stepper.trace.order()] = true
	report.Distinct = len(orders)
	if r.stopped {
		report.Stopped++
	}
}

// play runs one schedule: Setup, the copies at once, and a look at what they left.
func (x *racer) play(ctx context.Context, prefix, order string, mayStop bool) (*run, error) {
	start, err := x.setup(ctx)
	if err != nil {
		return nil, err
	}
	r := &run{prefix: prefix, order: order, mayStop: mayStop}
	s := newStepper(ctx, x.server)
	s.spin = cmp.Or(x.spin, 1<<30)
	r.stepper = s
	for i, call := range x.race.Calls {
		if !strings.Contains(order, string(letterOf(i))) {
			continue
		}
		s.procs = append(s.procs, s.start(x.copies[i], i, maxCalls, call, x.race.Again))
	}
	err = x.drive(r)
	if errors.Is(err, errStuck) || errors.Is(err, errHung) {
		r.stuck, err = err, nil
	}
	if cleanup := s.tidy(append(x.copies, x.spare)...); err != nil || cleanup != nil {
		return nil, errors.Join(err, cleanup)
	}
	for _, p := range s.procs {
		var last error
		if len(p.answers) > 0 {
			last = p.answers[len(p.answers)-1]
		}
		if expiry, ok := errors.AsType[*hookError](last); ok {
			return nil, expiry
		}
		r.answers = append(r.answers, last)
		if r.stuck == nil {
			r.stuck = p.broken
		}
	}
	if r.stuck != nil {
		return r, nil
	}
	r.end, err = x.look(ctx, start)
	if failed, ok := errors.AsType[*hookError](err); ok {
		r.check, err = failed, nil
	}
	return r, err
}

// drive chooses and steps until all copies have ended.
func (x *racer) drive(r *run) error {
	s := r.stepper
	for {
		able, err := s.settled()
		switch {
		case err != nil:
			return err
		case len(able) > 0:
			p, stop := r.decide(able)
			if !stop {
				s.step(p)
				continue
			}
			r.stopped = true
			if err := s.abandon(p); err != nil {
				return err
			}
		case s.somebody(stopped):
			x.askAgain(s)
		default:
			return nil
		}
	}
}

// askAgain makes the request of a process that stopped once more, in another process. The others have ended.
func (x *racer) askAgain(s *stepper) {
	i := slices.IndexFunc(s.procs, func(p *process) bool { return p.phase == stopped })
	old := s.procs[i]
	s.trace.note(old, "its caller asks again")
	p := s.start(x.spare, old.copy, maxCalls, x.afterExpiry(x.race.Calls[old.copy]), x.race.Again)
	p.row = old.row
	s.procs[i] = p
}
