package idempotency

import (
	"errors"
	"fmt"
	"time"
)

// What a verb can answer beside the errors of package onerow.
var (
	// ErrBusy: the context ended while another call had the key; no function was run to its end, and the
	// caller of Begin or Admit has not been let in. errors.As with *[BusyError].
	ErrBusy = errors.New("idempotency: the key is busy")
	// ErrInProgress: the work was begun in two steps and has not ended. errors.As with
	// *[InProgressError] says by whom, since when, and when to ask again.
	ErrInProgress = errors.New("idempotency: the key is in progress")
	// ErrMismatch: the key was used with another payload. errors.As with *[MismatchError].
	ErrMismatch = errors.New("idempotency: the key was used with another payload")
	// ErrFailed: the work failed for good, now or earlier. errors.As with *[FailedError]
	// has the stored error.
	ErrFailed = errors.New("idempotency: failed for good")
	// ErrLost: the claim is not the holder's any more; nothing was changed. errors.As with *[LostError].
	ErrLost = errors.New("idempotency: the claim is lost")
	// ErrCompletionLost: the work was done, its outcome could not be written. errors.As
	// with *[CompletionLostError].
	ErrCompletionLost = errors.New("idempotency: the completion is lost")
	// ErrTooLarge: the result does not fit and there are no references. errors.As with *[TooLargeError].
	ErrTooLarge = errors.New("idempotency: the result is too large")
	// ErrChanged: the key is not in the state that the operator saw. errors.As with *[ChangedError].
	ErrChanged = errors.New("idempotency: the key has changed since it was seen")
	// ErrNoKey: there is no such key.
	ErrNoKey = errors.New("idempotency: no such key")
	// ErrInvalidKey: a key has an empty or too long part.
	ErrInvalidKey = errors.New("idempotency: not a key")
	// ErrField: a message lacks a field that its key is made of, or cannot be hashed.
	ErrField = errors.New("idempotency: no key can be made of the message")
	// ErrCodec: a result cannot be encoded or decoded.
	ErrCodec = errors.New("idempotency: the result cannot be encoded or decoded")
	// ErrUndone is for a function of [Do] that has a result and wants nothing kept of what it wrote: it
	// returns both. Do rolls back, stores the result, and answers with it.
	ErrUndone = errors.New("idempotency: the function wants its result stored, and what it wrote undone")
	// ErrInvalidConfig: a configuration or an option is invalid.
	ErrInvalidConfig = errors.New("idempotency: invalid configuration")
)

// BusyError is the detail of [ErrBusy].
type BusyError struct {
	Key    Key
	Waited time.Duration
	// Err is what ended the wait: the context's error, the server's lock wait timeout, or [onerow.ErrMoved]
	// where others claimed the key whenever it was found free.
	Err error
}

// Error says how long was waited for what.
func (e *BusyError) Error() string {
	return fmt.Sprintf("idempotency: another call has had the key %s for the %s that this one waited; call again to get its result: %v",
		e.Key, e.Waited.Round(time.Millisecond), e.Err)
}

// Is makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// Unwrap returns what ended the wait.
func (e *BusyError) Unwrap() error { return e.Err }

// InProgressError is the detail of [ErrInProgress].
type InProgressError struct {
	Key Key
	// Holder began the work at Since, Age ago, with this Token.
	Holder string
	Since  time.Time
	Age    time.Duration
	Token  int64
	// Overdue: it should have ended by now.
	Overdue bool
	// RetryAfter is when to ask again: the end of the lease or the expected completion, at
	// least a second.
	RetryAfter time.Duration
}

// Error says who has the key and since when.
func (e *InProgressError) Error() string {
	late := ""
	if e.Overdue {
		late = ", it is overdue"
	}
	return fmt.Sprintf("idempotency: %s has had the key %s in progress since %s (%s)%s; ask again in %s",
		e.Holder, e.Key, e.Since.Format(time.RFC3339), e.Age.Round(time.Millisecond), late, e.RetryAfter.Round(time.Millisecond))
}

// Is makes errors.Is(err, ErrInProgress) true.
func (e *InProgressError) Is(target error) bool { return target == ErrInProgress }

// MismatchError is the detail of [ErrMismatch].
type MismatchError struct {
	Key   Key
	Since time.Time // of the call with the other payload
}

// Error names the key.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("idempotency: the key %s was used with another payload at %s; use a new key for new work", e.Key, e.Since.Format(time.RFC3339))
}

// Is makes errors.Is(err, ErrMismatch) true.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// FailedError is the detail of [ErrFailed].
type FailedError struct {
	Key Key
	// Message is the stored error.
	Message string
	// Attention: it waits for a human.
	Attention bool
	// At is when it was stored; the zero time where this call did it.
	At time.Time
	// Replayed: an earlier call failed; this one did nothing.
	Replayed bool
	// Result is what Fail stored with the option [Result], as the type that Do or Begin was called for; nil
	// if there is nothing.
	Result any
	// Err is the function's error where this call failed, else nil.
	Err error
}

// Error is the stored error.
func (e *FailedError) Error() string {
	if e.Replayed {
		return fmt.Sprintf("idempotency: the work of the key %s failed for good at %s: %s", e.Key, e.At.Format(time.RFC3339), e.Message)
	}
	return fmt.Sprintf("idempotency: the work of the key %s failed for good: %s", e.Key, e.Message)
}

// Is makes errors.Is(err, ErrFailed) true.
func (e *FailedError) Is(target error) bool { return target == ErrFailed }

// Unwrap returns the function's error.
func (e *FailedError) Unwrap() error { return e.Err }

// LostError is the detail of [ErrLost].
type LostError struct {
	Claim Claim
	// Current is the key as it is now; the zero Entry if it is gone.
	Current Entry
}

// Error says who has the key instead.
func (e *LostError) Error() string {
	switch c := e.Current; c.Token {
	case 0:
		return fmt.Sprintf("idempotency: the claim %d of the key %s is lost: the key is gone; nothing was changed, stop", e.Claim.Token, e.Claim.Key)
	case e.Claim.Token:
		return fmt.Sprintf("idempotency: the claim %d of the key %s has ended with the status %s; nothing was changed", e.Claim.Token, e.Claim.Key, c.Status)
	default:
		return fmt.Sprintf("idempotency: the claim %d of the key %s is lost: %s took it over at %s with the token %d (%s); nothing was changed, stop",
			e.Claim.Token, e.Claim.Key, c.Holder, c.Since.Format(time.RFC3339), c.Token, c.Status)
	}
}

// Is makes errors.Is(err, ErrLost) true.
func (e *LostError) Is(target error) bool { return target == ErrLost }

// CompletionLostError is the detail of [ErrCompletionLost].
type CompletionLostError struct {
	Claim Claim
	// Outcome is what could not be written: complete, error or released.
	Outcome Status
	// Err says why. It is onerow.ErrOutcomeUnknown where it may have been written.
	Err error
}

// Error says what was done and could not be recorded.
func (e *CompletionLostError) Error() string {
	return fmt.Sprintf("idempotency: the work of the key %s (claim %d) ended as %s and that could not be written, the key stays in progress; write it again or tell an operator: %v",
		e.Claim.Key, e.Claim.Token, e.Outcome, e.Err)
}

// Is makes errors.Is(err, ErrCompletionLost) true.
func (e *CompletionLostError) Is(target error) bool { return target == ErrCompletionLost }

// Unwrap returns why.
func (e *CompletionLostError) Unwrap() error { return e.Err }

// TooLargeError is the detail of [ErrTooLarge].
type TooLargeError struct {
	Key       Key
	Size, Max int // bytes
	// Err is onerow.ErrTooLarge where it is not Config.MaxResult but the server that refused it. Max is
	// then its max_allowed_packet, of the whole statement, 0 where it could not be asked.
	Err error
}

// Unwrap returns what the server said, if it was the server.
func (e *TooLargeError) Unwrap() error { return e.Err }

// Error says how large it is.
func (e *TooLargeError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("idempotency: the result of the key %s has %d bytes, more than the server takes; return less, set Config.MaxResult below that, or configure References: %v", e.Key, e.Size, e.Err)
	}
	return fmt.Sprintf("idempotency: the result of the key %s has %d bytes, %d are stored; return less, or configure References", e.Key, e.Size, e.Max)
}

// Is makes errors.Is(err, ErrTooLarge) true.
func (e *TooLargeError) Is(target error) bool { return target == ErrTooLarge }

// ChangedError is the detail of [ErrChanged].
type ChangedError struct {
	Seen Seen
	// Current is the key as it is now; the zero Entry if it is gone.
	Current Entry
}

// Error says what was seen and what is.
func (e *ChangedError) Error() string {
	if e.Current.Token == 0 {
		return fmt.Sprintf("idempotency: the key %s was seen %s with the token %d and is gone", e.Seen.Key, e.Seen.Status, e.Seen.Token)
	}
	return fmt.Sprintf("idempotency: the key %s was seen %s with the token %d and is now %s with %d; the action does not fit, look again",
		e.Seen.Key, e.Seen.Status, e.Seen.Token, e.Current.Status, e.Current.Token)
}

// Is makes errors.Is(err, ErrChanged) true.
func (e *ChangedError) Is(target error) bool { return target == ErrChanged }

// permanentError marks an error of a function.
type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

// Permanent marks an error that doing the work again would not change: Do and Work store
// it, and every later call gets it back as [ErrFailed]. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// notDoneError marks an error of a function.
type notDoneError struct{ err error }

func (e *notDoneError) Error() string { return e.err.Error() }
func (e *notDoneError) Unwrap() error { return e.err }

// NotDone marks an error after which it is certain that nothing was done outside, as
// a connection that could not be made: Work releases the key. NotDone(nil) is nil.
func NotDone(err error) error {
	if err == nil {
		return nil
	}
	return &notDoneError{err}
}
