package cascade

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/trace"
)

// unknownTries bounds how often a batch is run that ends without an answer.
const unknownTries = 5

// Batch runs fn between the fence and the counts in one transaction. It begins
// only while ctx lasts; once begun it may go on for a second after ctx has ended. It may run more than once:
// also after an unknown outcome, for a batch deletes what is there. Afterwards it waits
// as the governor says, and may give way to other jobs, unless the batch was the last one.
func (l *lease) Batch(ctx context.Context, fn func(ctx context.Context, tx *onerow.Tx, t work.Tally) (last bool, err error)) error {
	if err := l.drift(ctx); err != nil {
		return err
	}
	late, cancel := finishing(ctx)
	defer cancel()
	plan := "" // that the job's first batch notes
	if !l.planned {
		plan = l.graph.Fingerprint
	}
	var unknown error
	for try := 1; ; try++ {
		var t work.Tally
		last := false
		begin, spent := time.Now(), time.Duration(0)
		traced, span := trace.Start(late, "cascade.batch", slog.Int64("onerow.job", l.job.ID))
		err := onerow.InTx(traced, l.db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			begin = time.Now()
			t = work.NewTally()
			if err := l.fence(ctx, tx, plan); err != nil {
				return err
			}
			fenced := time.Now()
			if last, err = fn(ctx, tx, t); err != nil {
				return err
			}
			spent = time.Since(fenced)
			done := l.job
			done.Tables, done.Detached = t.Deleted, t.Detached
			return queue.Note(ctx, tx, "", done)
		})
		if span.On() {
			span.Set(slog.Int64("onerow.rows", t.Rows()))
		}
		span.End(&err)
		switch {
		case err == nil:
			took := time.Since(begin)
			if last {
				l.tell(Event{Ended: l.state})
			}
			if err := l.committed(late, t, took, spent); err != nil || last {
				return err
			}
			if err := l.wait(ctx, took); err != nil {
				return err
			}
			return l.giveWay(ctx, t.Rows() > 0)
		case !errors.Is(err, onerow.ErrOutcomeUnknown) && unknown != nil && !mysqlerr.Answers(err): // this error must not hide the unknown outcome
			return &onerow.OutcomeUnknownError{Err: fmt.Errorf("%w (and then: %w)", unknown, err)}
		case !errors.Is(err, onerow.ErrOutcomeUnknown) || try == unknownTries || ctx.Err() != nil:
			return err
		}
		unknown, l.stale = err, true
	}
}

var errRehearsed = errors.New("cascade: a rehearsal is rolled back")

// Rehearse is a batch that is rolled back, with its fence.
func (l *lease) Rehearse(ctx context.Context, fn func(ctx context.Context, tx *onerow.Tx) error) error {
	if err := l.drift(ctx); err != nil {
		return err
	}
	fenced := l.fenced
	err := onerow.InTx(ctx, l.db, func(ctx context.Context, tx *onerow.Tx) error {
		if err := l.fence(ctx, tx, ""); err != nil {
			return err
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return errRehearsed
	})
	l.fenced = fenced // the renewal was rolled back
	if errors.Is(err, errRehearsed) {
		return nil
	}
	return err
}
