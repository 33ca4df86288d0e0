// Package errtext writes the texts of errors, in which a package is named once: by the public verb that
// failed, which says what it was about.
//
// Open this package when the text of an error names a package twice.
package errtext

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Wrap says before an error what met it: Wrap(err, "repo: purge requests"). nil stays nil.
func Wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	about := fmt.Sprintf(format, args...)
	return fmt.Errorf("%s: %w", about, without(err, about))
}

// Errorf is fmt.Errorf, but an error among args does not say the name of a package with which the format, or
// an error before it, begins.
func Errorf(format string, args ...any) error {
	said := []string{format}
	shown := slices.Clone(args)
	for i, arg := range args {
		if err, isError := arg.(error); isError {
			shown[i] = without(err, said...)
			said = append(said, err.Error())
		}
	}
	return fmt.Errorf(format, shown...)
}

// name is that of the package with which a text begins.
var name = regexp.MustCompile(`^[a-z]+: `)

// without is an error without the name with which one of the texts begins, wherever it says that.
func without(err error, said ...string) error {
	text := ": " + err.Error()
	for _, other := range said {
		if name := name.FindString(other); name != "" {
			text = strings.ReplaceAll(text, ": "+name, ": ")
		}
	}
	return &named{text[len(": "):], err}
}

type named struct {
	text string
	error
}

// Error is the text.
func (e *named) Error() string { return e.text }

// Unwrap returns the error as it was.
func (e *named) Unwrap() error { return e.error }
