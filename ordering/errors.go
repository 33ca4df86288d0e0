package ordering

import (
	"errors"
	"fmt"
)

var (
	// ErrInvalidArgument means: a configuration, a message or an update cannot be one.
	ErrInvalidArgument = errors.New("ordering: invalid argument")
	// ErrTooManyHeld means: the stream has as many parked messages as are allowed. The
	// detail is [*TooManyHeldError].
	ErrTooManyHeld = errors.New("ordering: too many messages are held")
	// ErrHeld means: a parked message could not be applied when its turn came. The
	// detail is [*HeldError].
	ErrHeld = errors.New("ordering: a held message could not be applied")
	// ErrState means: the stored state is not of the consumer's type, or cannot be stored.
	ErrState = errors.New("ordering: the state of a stream")
	// ErrConflict means: others kept changing what an optimistic update had read. The detail is
	// [*ConflictError].
	ErrConflict = errors.New("ordering: conflict")
	// ErrColumn means: the column of a [ByTime] does not keep the time of an update as it is sent.
	// The detail is [*ColumnError].
	ErrColumn = errors.New("ordering: the column does not keep the time of an update")
)

// TooManyHeldError is the detail of [ErrTooManyHeld].
type TooManyHeldError struct {
	Stream string
	// Sequence is the message that was not parked, Last the last one that was applied.
	Sequence, Last int64
	// Held is how many are parked.
	Held int64
}

// Error says what the stream waits for.
func (e *TooManyHeldError) Error() string {
	return fmt.Sprintf("ordering: stream %q has %d parked messages and waits for %d, so %d was not parked; redeliver %d, or give it up with Skip",
		e.Stream, e.Held, e.Last+1, e.Sequence, e.Last+1)
}

// Is makes errors.Is(err, ErrTooManyHeld) true.
func (e *TooManyHeldError) Is(target error) bool { return target == ErrTooManyHeld }

// HeldError is the detail of [ErrHeld]: the message that was given is dealt with, all
// before this one are applied, and this one and those behind it stay parked.
type HeldError struct {
	Stream   string
	Sequence int64
	// Err is what the function answered. A refusal by the server is there only after the
	// transaction was run again in vain.
	Err error
}

// Error names the message and the function's error.
func (e *HeldError) Error() string {
	return fmt.Sprintf("ordering: message %d of stream %q, parked until now, could not be applied and holds the stream: %v", e.Sequence, e.Stream, e.Err)
}

// Is makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }

// Unwrap returns the function's error.
func (e *HeldError) Unwrap() error { return e.Err }

// Losing is a version of a row that an optimistic update decided on, in vain.
type Losing struct {
	// Version is what was read, Row the row as JSON, Wanted what was to be written. Where JSON would not keep
	// one, as a text that is not UTF-8, it is an object of the "error" that says so, and of the value in Go.
	Version int64  `json:"version"`
	Row     string `json:"row"`
	Wanted  string `json:"wanted"`
}

// ConflictError is the detail of [ErrConflict].
type ConflictError struct {
	// What is the row, in the words of the update.
	What string
	// Losing are the versions that were read and lost, in their order.
	Losing []Losing
}

// Error says how often it was tried.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("ordering: %s changed under %d attempts to update it; try again later, or park the message", e.What, len(e.Losing))
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// ColumnError is the detail of [ErrColumn].
type ColumnError struct {
	Table, Column string
	// Type is the column's type as the server says, Wanted what it must be.
	Type, Wanted string
}

// Error names the column, its type and what to make of it.
func (e *ColumnError) Error() string {
	if e.Type == e.Wanted {
		return fmt.Sprintf("ordering: column %s.%s is %s and has another time than was written; is there a trigger?", e.Table, e.Column, e.Type)
	}
	return fmt.Sprintf("ordering: column %s.%s is %s, which does not keep the time of an update as it is sent; make it %s", e.Table, e.Column, e.Type, e.Wanted)
}

// Is makes errors.Is(err, ErrColumn) true.
func (e *ColumnError) Is(target error) bool { return target == ErrColumn }
