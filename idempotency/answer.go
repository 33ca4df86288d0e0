package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
)

// errFree: the row may be claimed. It rolls a transaction back, so that the next
// attempt takes the strong lock first.
var errFree = fmt.Errorf("idempotency: the key is free: %w", onerow.ErrMoved)

// leastRetryAfter keeps callers from asking all the time.
const leastRetryAfter = time.Second

// answer is what a row that is there means for a call: its outcome, or an error;
// errFree where the row may be claimed.
func answer[T any](ctx context.Context, db onerow.DB, k *Keys, c *call, r *row) (out Outcome[T], err error) {
	mine := r.mine(c)
	switch {
	case r.Expired && !mine: // as if there were no row
		return out, errFree
	case r.differs(c): // also where it is free because its work was not done
		return out, &MismatchError{Key: c.key, Since: r.Since}
	case r.free && !mine:
		return out, errFree
	}
	switch r.Status {
	case Completed:
		how := Replayed
		switch {
		case mine:
			how = Fresh
		case r.sinceEnd < r.asked.Sub(c.start):
			how = ReplayedAfterWaiting
		}
		var v T
		if err := k.decode(ctx, db, c.key, r.result, &v); err != nil {
			return out, err
		}
		return outcome(v, how), nil
	case Failed:
		failed := &FailedError{Key: c.key, Message: r.Error, Attention: r.Attention, At: r.CompletedAt, Replayed: !mine}
		if r.result.codec != "" {
			var v T
			if err := k.decode(ctx, db, c.key, r.result, &v); err != nil {
				return out, errors.Join(failed, err)
			}
			failed.Result = v
		}
		return out, failed
	}
	return out, r.inProgress()
}

func (r *row) inProgress() error {
	e := &InProgressError{Key: r.Key, Holder: r.Holder, Since: r.Since, Age: r.Age, Token: r.Token, Overdue: r.Overdue, RetryAfter: leastRetryAfter}
	until := r.LeaseUntil
	if until.IsZero() {
		until = r.ExpectedCompletion
	}
	now := r.Since.Add(r.Age)
	if left := until.Sub(now); !until.IsZero() && left > leastRetryAfter {
		e.RetryAfter = left
	}
	return e
}

// count reports what an answer means to the metrics.
func (k *Keys) count(c *call, how How, err error) {
	var failed *FailedError
	switch {
	case err == nil && how == Fresh:
		k.event(EventCompleted, c.key)
	case err == nil:
		k.event(EventReplayed, c.key)
	case errors.As(err, &failed) && failed.Replayed:
		k.event(EventReplayed, c.key)
	case errors.Is(err, ErrFailed):
		k.event(EventFailed, c.key)
	case errors.Is(err, ErrMismatch):
		k.event(EventMismatched, c.key)
	case errors.Is(err, ErrBusy), errors.Is(err, ErrInProgress):
		k.event(EventConflicted, c.key)
	}
}
