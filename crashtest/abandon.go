package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// callsAbandoned makes the call in a process that stops for good before a statement. Its connection stays
// open, with its locks, until a session of the retry is seen to wait; then it is killed, as the server does
// when it notices at last.
func (x *explorer) callsAbandoned(ctx context.Context, p point) (answers []error, err error) {
	s := newStepper(ctx, x.server)
	s.firstLook = 2 * time.Millisecond // only the retry may wait
	retry, err := x.stopAndRetry(s, p)
	if cleanup := s.tidy(x.lane, x.spare); cleanup != nil {
		return nil, errors.Join(err, cleanup)
	}
	answers = []error{errStopped}
	if retry != nil {
		answers = append(answers, retry.answers...)
		if err == nil {
			err = retry.broken
		}
	}
	if errors.Is(err, errStuck) {
		err = fmt.Errorf("%w: %w", errHung, err)
	}
	if expiry := (*expireError)(nil); err == nil && errors.As(answers[len(answers)-1], &expiry) {
		err = expiry
	}
	return answers, err
}

// stopAndRetry lets the statements of a call pass up to the fault point, where its process stops, and makes
// the call again in another process.
func (x *explorer) stopAndRetry(s *stepper, p point) (retry *process, err error) {
	always := func(error) bool { return true }
	call := s.start(x.lane, 0, 1, x.w.Call, always)
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
	retry = s.start(x.spare, 0, maxCalls-1, x.afterExpiry(x.w.Call), always)
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
