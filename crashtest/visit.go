package crashtest

import (
	"context"
	"errors"
	"fmt"
)

// visit makes one run with one fault. The failure says what the workflow did wrong, hung that no further run
// makes sense; err says that the run itself could not be made.
func (x *explorer) visit(ctx context.Context, p point) (failure *Failure, hung bool, err error) {
	if p.Fault == Abandoned {
		return x.abandon(ctx, p)
	}
	start, err := x.setup(ctx)
	if err != nil {
		return nil, false, err
	}
	in := &injector{point: p, learnt: x.learnt[p.Index-1], server: x.server}
	answer, broken := x.call(ctx, in)
	x.connector.intercept(nil)
	f := failureAt(p, answer)
	switch {
	case broken != nil:
		return x.hung(f, broken)
	case in.err != nil:
		return nil, false, in.err
	case !in.fired:
		return nil, false, fmt.Errorf("the call did not reach this statement (it answered: %w): it must send the same statements each time", orNone(answer))
	}

	survived := answer == nil
	for len(f.Answers) < x.w.MaxCalls && answer != nil {
		answer, broken = x.call(ctx, nil)
		f.Answers = append(f.Answers, answer)
		if broken != nil {
			return x.hung(f, broken)
		}
	}
	if answer != nil {
		f.Reason = fmt.Sprintf("no call of %d succeeded", len(f.Answers))
		return f, false, nil
	}
	if f.Reason, f.Diff, err = x.compare(ctx, start); err != nil {
		return nil, false, err
	}
	if f.Reason == "" && survived {
		if f.Reason, f.Diff, err = x.again(ctx, start); err != nil {
			return x.hung(f, err)
		}
	}
	if f.Reason == "" {
		return nil, false, nil
	}
	return f, false, nil
}

// hung is the end of a run that ended with broken: the workflow's failure where it wraps errHung.
func (x *explorer) hung(f *Failure, broken error) (*Failure, bool, error) {
	if !errors.Is(broken, errHung) {
		return nil, false, broken
	}
	f.Reason = broken.Error()
	return f, true, nil
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
	var failed *checkError
	if errors.As(err, &failed) {
		return failed.Error(), "", nil
	}
	if err != nil {
		return "", "", err
	}
	if rows = diff(x.want, got); rows != "" {
		return "the tables differ from those of the run without faults", rows, nil
	}
	return "", "", nil
}

// again makes the call once more after one that returned nil: it must return nil and change nothing.
func (x *explorer) again(ctx context.Context, start snapshot) (reason, rows string, err error) {
	if x.w.Once {
		return "", "", nil
	}
	answer, broken := x.call(ctx, nil)
	if broken != nil {
		return "", "", broken
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
