package onerow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/onerow/onerow/internal/mysqlerr"
	"github.com/onerow/onerow/internal/redact"
	"github.com/onerow/onerow/internal/trace"
	"github.com/onerow/onerow/internal/wire"
)

// A refused transaction lost against one that won, so somebody makes progress; the bounds are for what does
// not end by itself. A wait that ended without an answer is another matter: it has cost its whole time, and a
// session that was lost in it may still wait in the server, holding what it has.
const (
	maxAttempts = 20
	maxWaits    = 3
	maxTime     = 30 * time.Second
	leastWait   = 200 * time.Millisecond // a session that was cut sooner has not waited for anything
	firstPause  = 2 * time.Millisecond
	longPause   = 250 * time.Millisecond
	maxMoves    = 10 // in a joined transaction
)

// attempt is what one run came to.
type attempt struct {
	err error
	// again: it left nothing behind, or may be run again although it did.
	again bool
	// unanswered: it may have been committed.
	unanswered bool
	// settled: the error is the function's own answer, which also says what became of an earlier
	// run without an answer. An error of the server, the connection or the context never is.
	settled bool
	// waited: it ended by a lock wait timeout, or its session was lost under a statement.
	waited bool
	// large is the statement that the session was lost at, if it was a large one.
	large *TooLargeError
}

// retry calls try until another run is of no use, with growing pauses of random length. It ends after
// maxAttempts, after maxWaits that waited, with ctx, and, where maxTime has passed, after the first retry of
// what was refused, or at once after a wait. What was unknown stays unknown until a run settles it.
func retry(ctx context.Context, span trace.Span, try func() attempt) error {
	var unknown error
	begun, pause, waits := time.Now(), firstPause, 0
	for n := 1; ; n++ {
		started := time.Now()
		a := try()
		a.waited = a.waited && time.Since(started) >= leastWait
		if a.unanswered {
			unknown = a.err
		}
		if a.waited {
			waits++
		}
		late := time.Since(begun) >= maxTime && (n > 1 || a.waited)
		switch {
		case !a.again:
			return stillUnknown(unknown, a)
		case n == maxAttempts, waits == maxWaits, late:
			a.err = fmt.Errorf("onerow: gave up after %d attempts in %s: %w", n, time.Since(begun).Round(time.Millisecond), a.err)
			return stillUnknown(unknown, a)
		}
		if span.On() {
			span.Event("run again", slog.Int("attempt", n+1), slog.String("after", redact.Text(a.err.Error())))
		}
		timer := time.NewTimer(pause/2 + rand.N(pause)) //nolint:gosec // jitter, not a secret
		select {
		case <-ctx.Done():
			timer.Stop()
			a.err = fmt.Errorf("onerow: %w after %d attempts: %w", context.Cause(ctx), n, a.err)
			return stillUnknown(unknown, a)
		case <-timer.C:
		}
		pause = min(2*pause, longPause)
	}
}

// stillUnknown: only an attempt that got to the function's own answer has settled what an
// earlier one left unknown. One that was not let in, met a server that does not write, was
// refused to the last, or ended with its context has not.
func stillUnknown(unknown error, a attempt) error {
	switch {
	case a.err == nil, unknown == nil, a.unanswered:
		return a.err
	case a.settled:
		return &wire.SettledError{Err: a.err}
	}
	var first *OutcomeUnknownError
	if errors.As(unknown, &first) {
		unknown = first.Err
	}
	return &OutcomeUnknownError{Err: fmt.Errorf("%w (and then: %w)", unknown, a.err)}
}

// follow runs a part of a joined transaction, and again while it returns [ErrMoved].
func follow(ctx context.Context, fn func() error) error {
	for n := 1; ; n++ {
		err := fn()
		var tired *tiredError
		switch {
		case !errors.Is(err, ErrMoved), errors.As(err, &tired): // the last: a part of fn has been followed
			return err
		case ctx.Err() != nil:
			return fmt.Errorf("onerow: %w after %d attempts: %w", context.Cause(ctx), n, err)
		case n == maxMoves:
			return &tiredError{err}
		}
	}
}

// tiredError is the [ErrMoved] of what was run maxMoves times, so that it is not multiplied by who called it.
type tiredError struct{ err error }

func (e *tiredError) Error() string { return e.err.Error() }
func (e *tiredError) Unwrap() error { return e.err }

// waited says whether err ended a wait of which nothing is known but that it was long enough
// for somebody. A session that was not even opened, or refused at once, has not waited.
func waited(err error) bool {
	class := mysqlerr.Classify(err)
	return class == mysqlerr.TimedOut || class == mysqlerr.ConnectionLost
}
