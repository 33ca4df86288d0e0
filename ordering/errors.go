package ordering

import (
	"errors"
	"fmt"
)

var (
	// ErrInvalidArgument means: a guard, a message or an update cannot be one, or the column of a [ByTime]
	// does not keep the time of an update as it is sent.
	ErrInvalidArgument = errors.New("ordering: invalid argument")
	// ErrTooManyHeld means: the stream has as many parked messages as are allowed. The detail is
	// [*StreamError].
	ErrTooManyHeld = errors.New("ordering: too many messages are held")
	// ErrHeld means: a parked message could not be applied when its turn came. The message that was given is
	// dealt with, all before the one that failed are applied, and that one and those behind it stay parked.
	// The detail is [*StreamError]. It wraps the function's error; a refusal by the server is there only
	// after the transaction was run again in vain.
	ErrHeld = errors.New("ordering: a held message could not be applied")
	// ErrState means: the stored state is not of the consumer's type, or cannot be stored.
	ErrState = errors.New("ordering: the state of a stream")
	// ErrConflict means: others kept changing what an optimistic update had read. [Park] keeps the versions
	// that lost.
	ErrConflict = errors.New("ordering: conflict")
)

// StreamError is the detail of [ErrHeld] and [ErrTooManyHeld]: the message that holds the stream, because it
// cannot be applied, or has not come.
type StreamError struct {
	error
	Stream   string
	Sequence int64
}

// Unwrap makes errors.Is find the sentinel and the function's error.
func (e *StreamError) Unwrap() error { return e.error }

// losing is a version of a row that an optimistic update decided on, in vain.
type losing struct {
	Version int64  `json:"version"`
	Row     string `json:"row"`
	Wanted  string `json:"wanted"`
}

// conflictError is the detail of [ErrConflict], for [Park].
type conflictError struct {
	what   string   // the row, in the words of the update
	losing []losing // the versions that were read and lost, in their order
}

func (e *conflictError) Error() string {
	return fmt.Sprintf("ordering: %s changed under %d attempts to update it; try again later, or park the message", e.what, len(e.losing))
}

func (e *conflictError) Unwrap() error { return ErrConflict }
