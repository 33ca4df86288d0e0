package crashtest

import (
	"context"
	"errors"
	"fmt"
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
	if failed := (*checkError)(nil); errors.As(err, &failed) {
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
