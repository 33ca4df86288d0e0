package ordering

import (
	"errors"
	"fmt"
)

var (
	// ErrInvalidArgument means: a configuration, a message or an update cannot be one.
	ErrInvalidArgument = errors.New("ordering: invalid argument")
	// ErrTooManyHeld means: the stream has as many parked messages as are allowed. The text says for which it
	// waits.
	ErrTooManyHeld = errors.New("ordering: too many messages are held")
	// ErrHeld means: a parked message could not be applied when its turn came. The message that was given is
	// dealt with, all before the one that failed are applied, and that one and those behind it stay parked.
	// It wraps the function's error; a refusal by the server is there only after the transaction was run
	// again in vain.
	ErrHeld = errors.New("ordering: a held message could not be applied")
	// ErrState means: the stored state is not of the consumer's type, or cannot be stored.
	ErrState = errors.New("ordering: the state of a stream")
	// ErrConflict means: others kept changing what an optimistic update had read. [Park] keeps the versions
	// that lost.
	ErrConflict = errors.New("ordering: conflict")
	// ErrColumn means: the column of a [ByTime] does not keep the time of an update as it is sent. The text
	// has its type, and the one that it must be.
	ErrColumn = errors.New("ordering: the column does not keep the time of an update")
)

// heldError is the detail of [ErrHeld].
type heldError struct {
	stream   string
	sequence int64
	err      error // the function's
}

// Error names the message and the function's error.
func (e *heldError) Error() string {
	return fmt.Sprintf("ordering: message %d of stream %q, parked until now, could not be applied and holds the stream: %v", e.sequence, e.stream, e.err)
}

// Unwrap makes errors.Is find [ErrHeld] and the function's error.
func (e *heldError) Unwrap() []error { return []error{ErrHeld, e.err} }

// Losing is a version of a row that an optimistic update decided on, in vain.
type Losing struct {
	// Version is what was read, Row the row as JSON, Wanted what was to be written. Where JSON would not keep
	// one, as a text that is not UTF-8, it is an object of the "error" that says so, and of the value in Go.
	Version int64  `json:"version"`
	Row     string `json:"row"`
	Wanted  string `json:"wanted"`
}

// conflictError is the detail of [ErrConflict].
type conflictError struct {
	what   string   // the row, in the words of the update
	losing []Losing // the versions that were read and lost, in their order
}

// Error says how often it was tried.
func (e *conflictError) Error() string {
	return fmt.Sprintf("ordering: %s changed under %d attempts to update it; try again later, or park the message", e.what, len(e.losing))
}

// Unwrap makes errors.Is find [ErrConflict].
func (e *conflictError) Unwrap() error { return ErrConflict }
