package crashtest

import (
	"errors"
	"fmt"
	"time"
)

// abandon stops a process for good at the statement that it holds. The call returns with an error, since
// nobody can end a goroutine, but nothing more is sent: on the server its session stands still, with its
// locks.
func (s *stepper) abandon(p *process) error {
	p.to(stopped)
	s.trace.note(p, "stops here, its connection stays open")
	s.zombies = append(s.zombies, p)
	s.last, s.burst = nil, 0
	return p.release()
}

// bury ends the sessions of the processes that stopped, as the server does when it notices at last.
func (s *stepper) bury() error {
	var errs []error
	for _, z := range s.zombies {
		s.trace.note(z, "its connection is killed")
		errs = append(errs, s.kill(z.lane))
	}
	s.zombies = nil
	return errors.Join(errs...)
}

// kill ends all sessions of a lane and waits for that.
func (s *stepper) kill(l *lane) error {
	var errs []error
	for _, session := range l.connector.openSessions() {
		errs = append(errs, s.server.kill(session))
	}
	return errors.Join(errs...)
}

// tidy ends what a schedule left on the lanes: sessions of processes that stopped, and everything where it
// did not come to its end.
func (s *stepper) tidy(lanes ...*lane) error {
	err := s.bury()
	for _, p := range s.procs {
		switch p.phase {
		case ended:
			p.cancel()
		case stopped: // buried, its retry not begun
		case computing, parked, executing, waiting, idle:
			err = errors.Join(err, s.kill(p.lane), p.release()) // it may be in the middle of a statement
		}
	}
	for _, l := range lanes {
		l.connector.intercept(nil)
		l.connector.refuse(nil)
		for _, session := range l.connector.takeEnded() {
			err = errors.Join(err, s.server.awaitEnd(session))
		}
	}
	return err
}

// unstick waits while nobody can go on. An error says why nobody ever will.
func (s *stepper) unstick() error {
	begin := time.Now()
	for len(s.canGoOn()) == 0 && (s.somebody(waiting) || s.somebody(idle)) {
		if !s.somebody(idle) && time.Since(begin) > stuckLimit {
			return fmt.Errorf("%w within %s", errStuck, stuckLimit)
		}
		if time.Now().After(s.limit) {
			return fmt.Errorf("%w: not over within %s", errHung, callLimit)
		}
		select {
		case event := <-s.events:
			event()
		case <-time.After(time.Millisecond):
			s.forget()
		case <-s.ctx.Done():
		}
		if err := s.calm(); err != nil {
			return err
		}
	}
	return nil
}
