// Package usage marks the errors that a user can put right himself: the command ends with the exit code 2 for
// them, and with 1 for all others.
//
// Open this package when an exit code of the command changes.
package usage

import (
	"errors"
	"fmt"
)

// Err marks what the user can put right on the command line, in the
// environment or in a file that was named there.
var Err = errors.New("usage")

// Error is a marked error.
type Error struct{ err error }

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// Is says that it is an [Err].
func (e *Error) Is(target error) bool { return target == Err }

// Mark marks an error.
func Mark(err error) error { return &Error{err} }

// Errorf makes a marked error, as [fmt.Errorf] does.
func Errorf(format string, args ...any) error { return Mark(fmt.Errorf(format, args...)) }
