package names

import (
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/answers"
)

var (
	// ErrInvalid means that the text can never be a name. The detail is a *Error.
	ErrInvalid = answers.New(400, "the name is not valid", "names: name is invalid")
	// ErrEmpty means that nothing visible is left of the name. The detail is a *Error.
	ErrEmpty = answers.New(400, "the name is empty", "names: name is empty")
	// ErrTooLong means that the name or its key has too many characters. The detail is a *Error.
	ErrTooLong = answers.New(400, "the name is too long", "names: name is too long")
	// ErrTooManyCopies means that a copy number is not between 1 and MaxCopy.
	ErrTooManyCopies = answers.New(409, "there are too many copies of this name", "names: too many copies")
)

// Error says what is wrong with a name. errors.Is finds the sentinel in Err.
type Error struct {
	Name   string // the name as typed, cut to its first characters; may be invalid UTF-8 (Error quotes it)
	Reason string // what exactly, for people; empty where Err says everything
	Length int    // characters that there are, where Err is ErrTooLong
	Limit  int    // characters that there may be, where Err is ErrTooLong
	Err    error  // ErrInvalid, ErrEmpty or ErrTooLong
}

// Error quotes the name, so that no control or direction character of it reaches a log or terminal.
func (e *Error) Error() string {
	switch {
	case errors.Is(e.Err, ErrTooLong):
		what := e.Reason
		if what == "" {
			what = "it"
		}
		return fmt.Sprintf("names: name %q is too long: %s has %d characters, at most %d are allowed; choose a shorter name",
			e.Name, what, e.Length, e.Limit)
	case errors.Is(e.Err, ErrEmpty):
		return fmt.Sprintf("names: name %q is empty: nothing in it can be seen; choose a name", e.Name)
	default:
		return fmt.Sprintf("names: name %q is invalid: %s; choose another name", e.Name, e.Reason)
	}
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

func invalid(name, reason string) error {
	return &Error{Name: shorten(name), Reason: reason, Err: ErrInvalid}
}

func tooLong(name, what string, length, limit int) error {
	return &Error{Name: shorten(name), Reason: what, Length: length, Limit: limit, Err: ErrTooLong}
}

// shorten keeps the first characters of a name for an error. The copy lets go of a huge input.
func shorten(s string) string {
	const most = 40
	n := 0
	for i := range s {
		if n == most {
			return strings.Clone(s[:i]) + "…"
		}
		n++
	}
	return s
}
