package idempotency

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/answers"
)

// A verb answers these errors beside those of package onerow. Those that concern a key have the detail
// [Error].
var (
	// ErrBusy: the context ended while another call had the key; no function was run to its end, and the
	// caller of Begin or Admit has not been let in.
	ErrBusy = answers.New(409, "a request with this key is being worked on; try again", "idempotency: the key is busy")
	// ErrInProgress: the work was begun in two steps and has not ended. The detail says by whom, since when,
	// and when to ask again.
	ErrInProgress = answers.New(409, "a request with this key is being worked on; try again later", "idempotency: the key is in progress")
	// ErrMismatch: the key was used with another payload.
	ErrMismatch = answers.New(422, "this key was used for another request", "idempotency: the key was used with another payload")
	// ErrFailed: the work failed for good, now or earlier. The detail has the stored error.
	ErrFailed = errors.New("idempotency: failed for good")
	// ErrLost: the claim is not the holder's any more; nothing was changed.
	ErrLost = answers.New(409, "another request with this key has taken over", "idempotency: the claim is lost")
	// ErrCompletionLost: the work was done, its outcome could not be written.
	ErrCompletionLost = answers.Fault("idempotency: the completion is lost")
	// ErrTooLarge: the result does not fit and there are no references.
	ErrTooLarge = answers.Fault("idempotency: the result is too large")
	// ErrField: a message lacks a field that its key is made of, or cannot be hashed.
	ErrField = answers.New(400, "the request lacks what its key is made of", "idempotency: no key can be made of the message")
	// ErrCodec: a result cannot be encoded as JSON, would not come back as it was (a number in an interface
	// that is no float64, a text that is not UTF-8, two fields of one name, fields beside an embedded type
	// that encodes itself, as time.Time), or cannot be decoded. Do has done nothing then; in two steps the
	// work is done and its result not stored.
	ErrCodec = errors.New("idempotency: the result cannot be encoded or decoded")
	// ErrInvalid: a key has an empty or too long part, or a configuration or an option is invalid.
	ErrInvalid = errors.New("idempotency: invalid")
	// ErrUndone is for a function of [Do] that has a result and wants nothing kept of what it wrote: it
	// returns both. Do rolls back, stores the result, and answers with it.
	ErrUndone = errors.New("idempotency: the function wants its result stored, and what it wrote undone")
)

// Error is what is known of the key that an error is about. errors.As finds it.
type Error struct {
	// Kind is ErrBusy or another one of those above.
	Kind error
	Key  Key
	// Entry is the key's row as it was found: who has it and since when, its state, the stored error. It is
	// the zero Entry where the row is gone or was not read.
	Entry Entry
	// RetryAfter is when to ask again after ErrInProgress: the end of the lease or the expected completion,
	// at least a second.
	RetryAfter time.Duration
	// Replayed says of ErrFailed that an earlier call failed; this one did nothing.
	Replayed bool
	// Result is what Fail stored with [Options].Result, as the type that Do or Begin was called for; nil if
	// there is nothing.
	Result any
	// Err is the cause: the error of the function, what ended the wait, or why the outcome could not be
	// written. After ErrCompletionLost it is onerow.ErrOutcomeUnknown where it may have been written, after
	// ErrTooLarge onerow.ErrTooLarge where the server refused the result, and not Config.MaxResult.
	Err error

	text string
}

// Error says what happened, and what to do.
func (e *Error) Error() string { return "idempotency: " + e.text }

// bare is the text of a cause that does not name the package again.
func bare(cause any) string { return strings.TrimPrefix(fmt.Sprint(cause), "idempotency: ") }

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// busyError says how long the call has waited for its key, and what ended the wait.
func (c *call) busyError(err error) error {
	return &Error{Kind: ErrBusy, Key: c.key, Err: err, text: fmt.Sprintf("another call has had the key %s for the %s that this one waited; call again to get its result: %s",
		c.key, time.Since(c.start).Round(time.Millisecond), bare(err))}
}

// tooLarge is the error of a result that the limit, or the server with err, refuses.
func tooLarge(key Key, size, limit int, err error) error {
	e := &Error{Kind: ErrTooLarge, Key: key, Err: err}
	if err == nil {
		e.text = fmt.Sprintf("the result of the key %s has %d bytes, %d are stored; return less, or configure References", key, size, limit)
	} else {
		e.text = fmt.Sprintf("the result of the key %s has %d bytes, more than the server takes; return less, set Config.MaxResult below that, or configure References: %s", key, size, bare(err))
	}
	return e
}

// failed is the error of a function, err, as the call that stores its text gets it.
func failed(key Key, text string, attention bool, err error) error {
	return &Error{Kind: ErrFailed, Key: key, Entry: Entry{Key: key, Status: Failed, Error: text, Attention: attention}, Err: err,
		text: fmt.Sprintf("the work of the key %s failed for good: %s", key, bare(text))}
}

// permanentError and notDoneError mark errors of functions.
type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

type notDoneError struct{ error }

func (e *notDoneError) Unwrap() error { return e.error }

// Permanent marks an error that doing the work again would not change: Do and Work store
// it, and every later call gets it back as [ErrFailed]. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// NotDone marks an error after which it is certain that nothing was done outside, as
// a connection that could not be made: Work releases the key. NotDone(nil) is nil.
func NotDone(err error) error {
	if err == nil {
		return nil
	}
	return &notDoneError{err}
}
