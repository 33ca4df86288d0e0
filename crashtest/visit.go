package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// visit makes one run with one fault. The failure says what the workflow did wrong, hung that no further run
// makes sense; err says that the run itself could not be made.
func (x *explorer) visit(ctx context.Context, p point) (failure *Failure, hung bool, err error) {
	start, err := x.setup(ctx)
	if err != nil {
		return nil, false, err
	}
	calls := x.callsFaulted
	if p.Fault == Abandoned {
		calls = x.callsAbandoned
	}
	f := &Failure{Index: p.Index, Fault: p.Fault, point: p}
	if f.Answers, err = calls(ctx, p); err == nil {
		err = x.assess(ctx, f, start)
	}
	switch {
	case errors.Is(err, errHung):
		f.Reason = err.Error()
		return f, true, nil
	case err != nil || f.Reason == "":
		return nil, false, err
	}
	return f, false, nil
}

// assess says in f what is wrong after its calls.
func (x *explorer) assess(ctx context.Context, f *Failure, start snapshot) (err error) {
	if f.Answers[len(f.Answers)-1] != nil {
		f.Reason = fmt.Sprintf("no call of %d succeeded", len(f.Answers))
		return nil
	}
	if f.Reason, f.Diff, err = x.compare(ctx, start); err != nil {
		return err
	}
	switch {
	case f.Reason == "" && len(f.Answers) == 1:
		f.Reason, f.Diff, err = x.again(ctx, start)
	case f.Reason != "" && f.Fault == Abandoned && x.w.Expire == nil:
		f.Reason += " (a lease that the process holds does not run out by itself here: that is what Expire is for)"
	}
	return err
}

// callsFaulted makes the call with the fault, and again without until one returns nil.
func (x *explorer) callsFaulted(ctx context.Context, p point) (answers []error, err error) {
	in := &injector{point: p, server: x.server}
	answer, err := x.call(ctx, in)
	answers = append(answers, answer)
	switch {
	case err != nil:
		return answers, err
	case in.err != nil:
		return nil, in.err
	case !in.fired:
		return nil, fmt.Errorf("the call did not reach this statement (it answered: %w): it must send the same statements each time", orNone(answer))
	}
	for answer != nil && err == nil && len(answers) < maxCalls {
		answer, err = x.call(ctx, nil)
		answers = append(answers, answer)
	}
	return answers, err
}

// errNone stands for the answer nil in an error.
var errNone = errors.New("nil")

func orNone(err error) error {
	if err == nil {
		return errNone
	}
	return err
}

// compare holds the tables against those of the run without faults. An empty reason: they are equal.
func (x *explorer) compare(ctx context.Context, start snapshot) (reason, rows string, err error) {
	got, err := x.look(ctx, start)
	if failed, ok := errors.AsType[*hookError](err); ok {
		return failed.Error(), "", nil
	}
	if err != nil {
		return "", "", err
	}
	if rows = diff(x.want, got, faultSides); rows != "" {
		reason = "the tables differ from those of the run without faults"
	}
	return reason, rows, nil
}

// again makes the call once more after one that returned nil: it must return nil and change nothing.
func (x *explorer) again(ctx context.Context, start snapshot) (reason, rows string, err error) {
	if x.w.Once {
		return "", "", nil
	}
	answer, err := x.call(ctx, nil)
	if err != nil {
		return "", "", err
	}
	if answer != nil {
		return fmt.Sprintf("the call returned nil; made again, it fails: %v", answer), "", nil
	}
	reason, rows, err = x.compare(ctx, start)
	if reason != "" {
		reason = "the call returned nil; made again, it changes something: " + reason
	}
	return reason, rows, err
}

// callsAbandoned makes the call in a process that stops for good before a statement. Its connection stays
// open, with its locks, until a session of the retry is seen to wait; then it is killed, as the server does
// when it notices at last.
func (x *explorer) callsAbandoned(ctx context.Context, p point) (answers []error, err error) {
	s := newStepper(ctx, x.server)
	s.firstLook = 2 * time.Millisecond // only the retry may wait
	retry, err := x.stopAndRetry(s, p)
	x.stepped = &s.trace
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
	if expiry, ok := errors.AsType[*hookError](answers[len(answers)-1]); ok && err == nil {
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
	retry = s.start(x.spare, 1, maxCalls-1, x.afterExpiry(x.w.Call), always)
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
				return &hookError{"in Expire", err}
			}
			expired = true
		}
		return call(ctx, db)
	}
}
