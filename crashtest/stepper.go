package crashtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// firstLook is how long a step may take before the server is asked whether it waits. Most have returned
	// by then, so no question is asked. It decides nothing.
	firstLook = 400 * time.Microsecond
	// otherWaitsAfter is when a step that neither returned nor waits for a row is looked up among the other
	// kinds of waits.
	otherWaitsAfter = 5 * time.Millisecond
	// idleLimit is how long a copy between statements is waited for while others could go on.
	idleLimit = time.Second
	// stuckLimit is how long copies that all wait are watched: a deadlock that the server sees is over at
	// once.
	stuckLimit = 3 * time.Second
)

// stepper runs one schedule: it lets one statement go at a time, and sees in between what became of it.
type stepper struct {
	ctx       context.Context
	server    *server
	events    chan func() // what the processes tell, done in the scheduler's goroutine
	procs     []*process  // in the order of the copies; one that stopped is replaced at its retry
	zombies   []*process  // stopped, their sessions open
	last      *process    // that was let go last; nil after it stopped
	burst     int         // steps of last in a row
	spin      int         // how long a burst may be while others can go on
	trace     trace
	limit     time.Time
	firstLook time.Duration // see the constant
}

// errStuck is a schedule at whose end nobody can go on.
var errStuck = errors.New("every copy that has not ended waits, and the server sees no deadlock")

func newStepper(ctx context.Context, server *server) *stepper {
	return &stepper{ctx: ctx, server: server, events: make(chan func(), 16), firstLook: firstLook, limit: time.Now().Add(callLimit)}
}

// settled returns the processes that hold a statement, as soon as it is known of each what it does. Where one
// waits the sessions of those that stopped are killed. None: all have ended or stopped.
func (s *stepper) settled() ([]*process, error) {
	for {
		if err := s.calm(); err != nil {
			return nil, err
		}
		if len(s.zombies) > 0 && s.somebody(waiting) {
			if err := s.bury(); err != nil {
				return nil, err
			}
			s.forget()
			continue
		}
		able := s.canGoOn()
		if len(able) > 0 || !s.somebody(waiting) && !s.somebody(idle) {
			return able, nil
		}
		if err := s.unstick(); err != nil {
			return nil, err
		}
	}
}

// forget has the server asked again who waits.
func (s *stepper) forget() {
	for _, p := range s.procs {
		p.seen = 0
	}
}

func (s *stepper) arrived(p *process, r *request) {
	if p.phase == stopped {
		return
	}
	p.queue = append(p.queue, r)
	if p.current == nil {
		p.to(parked)
	}
}

// returned follows a process to the answer of its statement, with which it may have released locks since the
// server was asked.
func (s *stepper) returned(p *process, err error) {
	if p.phase == stopped {
		return
	}
	s.forget()
	s.trace.returned(p, err)
	p.current = nil
	p.to(computing)
	if len(p.queue) > 0 {
		p.to(parked)
	}
}

func (s *stepper) ended(p *process, answers []error, broken error) {
	if p.phase == stopped {
		return
	}
	s.forget()
	if p.current != nil { // the driver asked for a prepare that failed
		s.trace.returned(p, nil)
		p.current = nil
	}
	p.answers, p.broken = answers, broken
	p.to(ended)
}

func (p *process) to(next phase) {
	p.phase, p.since, p.seen, p.named = next, time.Now(), 0, false
}

// calm returns when it is known of each process that it is parked, waits for a lock, has ended, or is idle.
func (s *stepper) calm() error {
	pause := s.firstLook
	if s.unsure(waiting) {
		pause = 0 // what the last step released is to be asked, as soon as that step is over
	}
	for {
		for len(s.events) > 0 {
			(<-s.events)()
		}
		if !s.unsure(computing) && !s.unsure(executing) && !s.unsure(waiting) {
			for _, p := range s.procs {
				if p.phase != waiting {
					continue
				}
				row := s.trace.waits(p, s.blockers(p))
				if row == nil || !p.lane.connector.recording.Load() {
					continue
				}
				var err error
				if row.lock, err = s.server.lockOf(s.ctx, p.lane.connector.openSessions()); err != nil {
					return err
				}
			}
			return nil
		}
		// While a step is under way its event is the usual next thing; a lock is looked for only where it
		// does not come.
		if s.unsure(computing) || s.unsure(executing) || pause > 0 {
			select {
			case event := <-s.events:
				event()
				continue
			case <-time.After(max(pause, firstLook/4)):
			}
			pause = min(2*max(pause, firstLook/2), 2*time.Millisecond)
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(s.limit) {
			return fmt.Errorf("%w: not over within %s", errHung, callLimit)
		}
		if err := s.look(); err != nil {
			return err
		}
	}
}

// unsure says whether a process is in a phase that is not settled yet.
func (s *stepper) unsure(of phase) bool {
	held := 0
	for _, p := range s.procs {
		if p.phase == waiting {
			held++
		}
	}
	for _, p := range s.procs {
		switch {
		case p.phase != of:
		case of != waiting:
			return true
		case p.named && time.Since(p.since) < 2*otherWaitsAfter:
			return true
		case p.seen == 0, p.seen == 1 && held > 1:
			return true
		}
	}
	return false
}

// look asks the server who waits, and takes it into the phases.
func (s *stepper) look() error {
	rows, err := s.server.forRows(s.ctx)
	if err != nil {
		return err
	}
	var others map[uint64]bool
	couldGoOn := false
	for _, p := range s.procs {
		couldGoOn = couldGoOn || p.phase == parked
		if others == nil && (p.named || p.phase == executing && time.Since(p.since) > otherWaitsAfter) {
			if others, err = s.server.forOthers(s.ctx); err != nil {
				return err
			}
		}
	}
	held := 0
	for _, p := range s.procs {
		switch p.phase {
		case parked, ended, stopped, idle:
			continue
		case computing, executing, waiting:
		}
		sessions := p.lane.connector.openSessions()
		forRow, forOther := anyOf(sessions, rows), anyOf(sessions, others)
		switch {
		case forRow || forOther:
			held++
			if p.phase != waiting {
				p.to(waiting)
			}
			p.seen++
			p.named = !forRow
		case p.phase == waiting:
			if p.current == nil {
				p.to(computing)
			} else {
				p.to(executing)
			}
		case p.phase == computing && couldGoOn && time.Since(p.since) > idleLimit:
			p.to(idle)
			s.trace.note(p, "neither sends a statement nor ends: it waits outside the database")
		}
	}
	if held < 2 {
		return nil
	}
	// Two that wait for each other: the server is about to answer one of them with 1213.
	circle, err := s.server.deadlocked(s.ctx)
	if circle {
		s.forget()
	}
	return err
}

func (s *stepper) canGoOn() []*process {
	return slices.DeleteFunc(slices.Clone(s.procs), func(p *process) bool { return p.phase != parked })
}

func (s *stepper) somebody(in phase) bool {
	return slices.ContainsFunc(s.procs, func(p *process) bool { return p.phase == in })
}

func (s *stepper) step(p *process) {
	if s.last == p {
		s.burst++
	} else {
		s.last, s.burst = p, 1
	}
	for _, other := range s.procs { // what was known of those who wait is to be asked again, after this step
		other.seen = 0
		if other.named {
			other.since = time.Now()
		}
	}
	p.current, p.queue = p.queue[0], p.queue[1:]
	p.steps++
	s.trace.step(p)
	p.to(executing)
	close(p.current.turn)
}
