package crashtest

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// abandon makes one run in which the process of the first call stops for good before a statement. Its
// connection stays open, with its locks, until a session of the retry is seen to wait; then it is killed, as
// the server does when it notices at last.
func (x *explorer) abandon(ctx context.Context, p Point) (failure *Failure, hung bool, err error) {
	start, err := x.setup(ctx)
	if err != nil {
		return nil, false, err
	}
	f := &Failure{Point: p}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	zombie, err := x.runUntil(ctx, p)
	if err != nil {
		return nil, false, err
	}
	buried := false
	bury := func() error {
		if buried {
			return nil
		}
		buried = true
		return killSessions(zombie.lane, x.side)
	}
	f.Calls = append(f.Calls, errStopped)
	answer := x.retryBeside(ctx, f, bury)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		answer = errors.Join(errHung, answer)
	}
	if err := bury(); err != nil {
		return nil, false, err
	}
	x.connector.intercept(nil)
	x.connector.refuse(nil)
	for _, session := range x.connector.takeEnded() {
		if err := x.side.awaitEnd(session); err != nil {
			return nil, false, err
		}
	}
	switch {
	case errors.Is(answer, errHung):
		return x.hung(f, answer)
	case answer != nil && len(f.Calls) == 1:
		return nil, false, answer
	case answer != nil:
		f.Reason = fmt.Sprintf("no call of %d succeeded", len(f.Calls))
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

// runUntil begins the call in a process of its own and lets its statements pass up to the fault point, where
// the process stops.
func (x *explorer) runUntil(ctx context.Context, p Point) (*process, error) {
	events := make(chan event)
	call := startProcess(ctx, &lane{x.connector, x.faulted}, 0, events, 1, x.w.Call, func(error) bool { return false })
	step := 0
	for {
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), endProcess(call, x.side))
		case e := <-events:
			switch e.kind {
			case eventArrived:
				step++
				if step == p.Index {
					return call, call.release()
				}
				close(e.r.turn)
			case eventReturned:
			case eventEnded:
				return nil, fmt.Errorf("the call did not reach this statement (%w): it must send the same statements each time",
					orNone(errors.Join(append(e.answers, e.broken)...)))
			}
		}
	}
}

// retryBeside lets leases run out and makes the call again, on other connections, until one returns nil.
func (x *explorer) retryBeside(ctx context.Context, f *Failure, bury func() error) error {
	if err := x.expire(ctx, x.spare, bury); err != nil {
		return err
	}
	for {
		var broken error
		answer := x.waits.beside(ctx, x.spare, func() error {
			answer := x.w.Call(ctx, x.spare.db)
			broken = settle(x.spare.db)
			return answer
		}, bury)
		f.Calls = append(f.Calls, answer)
		if broken != nil {
			return fmt.Errorf("%w: %w", errHung, broken)
		}
		if answer == nil || len(f.Calls) >= x.w.MaxCalls {
			return answer
		}
	}
}

// expire runs the workflow's Expire.
func (x *explorer) expire(ctx context.Context, l *lane, bury func() error) error {
	if x.w.Expire == nil {
		return nil
	}
	l.connector.refuse(nil)
	l.connector.intercept(nil)
	if err := x.waits.beside(ctx, l, func() error { return x.w.Expire(ctx, l.db) }, bury); err != nil {
		return fmt.Errorf("in Expire: %w", err)
	}
	return nil
}

// beside runs f, which uses the lane, while another process may stand still with its locks. When a session of
// the lane is seen to wait, free is called, once.
func (w *waits) beside(ctx context.Context, l *lane, f func() error, free func() error) error {
	done := make(chan error, 1)
	go func() {
		err := errors.New("the call ended its goroutine (t.Fatal is for the test's own)")
		defer func() { done <- err }()
		err = f()
	}()
	begin, freed := time.Now(), false
	for pause := firstLook; ; pause = min(2*pause, 2*time.Millisecond) {
		timer := time.NewTimer(pause)
		select {
		case err := <-done:
			timer.Stop()
			return err
		case <-timer.C:
		}
		if freed || ctx.Err() != nil {
			return <-done
		}
		held, err := w.forRows(ctx)
		if err == nil && !anyOf(l.connector.openSessions(), held) && time.Since(begin) > otherWaitsAfter {
			held, err = w.forOthers(ctx)
		}
		if err != nil {
			return errors.Join(err, <-done)
		}
		if anyOf(l.connector.openSessions(), held) {
			freed = true
			if err := free(); err != nil {
				return errors.Join(err, <-done)
			}
		}
	}
}
