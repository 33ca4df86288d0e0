package crashtest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// abandon makes one run in which the process of the first call stops for good before a statement. Its
// connection stays open, with its locks, until a session of the retry is seen to wait; then it is killed, as
// the server does when it notices at last.
func (x *explorer) abandon(ctx context.Context, p point) (failure *Failure, hung bool, err error) {
	start, err := x.setup(ctx)
	if err != nil {
		return nil, false, err
	}
	first := &lane{x.connector, x.faulted}
	s := newStepper(ctx, x.server)
	s.firstLook = 2 * time.Millisecond // only the retry may wait
	retry, err := x.stopAndRetry(s, first, p)
	if cleanup := s.tidy(first, x.spare); cleanup != nil {
		return nil, false, errors.Join(err, cleanup)
	}
	f := failureAt(p, errStopped)
	if retry != nil {
		f.Answers, err = append(f.Answers, retry.answers...), cmp.Or(err, retry.broken)
	}
	if errors.Is(err, errStuck) {
		err = fmt.Errorf("%w: %w", errHung, err)
	}
	answer := f.Answers[len(f.Answers)-1]
	var expiry *expireError
	switch {
	case err != nil:
		return x.hung(f, err)
	case errors.As(answer, &expiry):
		return nil, false, expiry
	case retry == nil || answer != nil:
		f.Reason = fmt.Sprintf("no call of %d succeeded", len(f.Answers))
		return f, false, nil
	}
	if f.Reason, f.Diff, err = x.compare(ctx, start); err != nil || f.Reason == "" {
		return nil, false, err
	}
	if x.w.Expire == nil {
		f.Reason += " (a lease that the process holds does not run out by itself here: that is what Expire is for)"
	}
	return f, false, nil
}

// stopAndRetry lets the statements of a call pass up to the fault point, where its process stops, and makes
// the call again in another process.
func (x *explorer) stopAndRetry(s *stepper, first *lane, p point) (retry *process, err error) {
	always := func(error) bool { return true }
	call := startProcess(s.ctx, first, 0, s.events, 1, x.w.Call, always)
	s.procs = []*process{call}
	for step := 1; call.phase != stopped; step++ {
		able, err := s.settled()
		switch {
		case err != nil:
			return nil, err
		case len(able) == 0:
			return nil, fmt.Errorf("the call did not reach this statement (%w): it must send the same statements each time",
				orNone(errors.Join(append(call.answers, call.broken)...)))
		case step < p.Index:
			s.step(call)
		default:
			if err := s.abandon(call); err != nil {
				return nil, err
			}
		}
	}
	retry = startProcess(s.ctx, x.spare, 0, s.events, x.w.MaxCalls-1, x.afterExpiry(x.w.Call), always)
	s.procs[0] = retry
	for {
		able, err := s.settled()
		if err != nil || len(able) == 0 {
			return retry, err
		}
		s.step(retry)
	}
}

// afterExpiry is a call before whose first making leases run out.
func (x *explorer) afterExpiry(call func(context.Context, *sql.DB) error) func(context.Context, *sql.DB) error {
	expired := x.w.Expire == nil
	return func(ctx context.Context, db *sql.DB) error {
		if !expired {
			if err := x.w.Expire(ctx, db); err != nil {
				return &expireError{err}
			}
			expired = true
		}
		return call(ctx, db)
	}
}

// expireError tells what the workflow's Expire says from the answers of its calls.
type expireError struct{ err error }

func (e *expireError) Error() string { return "in Expire: " + e.err.Error() }
func (e *expireError) Unwrap() error { return e.err }
