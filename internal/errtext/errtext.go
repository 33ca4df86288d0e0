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

// Wrap says before an error what met it: Wrap(err, "repo: purge requests"). nil stays nil. Where a table of
// the toolkit's is missing, it says behind it what makes it.
func Wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	about := fmt.Sprintf(format, args...)
	if noTable.MatchString(err.Error()) {
		return fmt.Errorf("%s: %w (migrations.Up makes the toolkit's tables)", about, without(err, about))
	}
	return fmt.Errorf("%s: %w", about, without(err, about))
}

// noTable is what both engines answer where migrations have not been applied.
var noTable = regexp.MustCompile(`Error 1146 \(42S02\): Table '.*\.onerow_[a-z_]+' doesn't exist$`)

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

// without is an error without the name with which one of the texts begins, wherever an error in it begins so.
func without(err error, said ...string) error {
	var names []string
	for _, s := range said {
		if n := name.FindString(s); n != "" {
			names = append(names, n)
		}
	}
	return &named{strings.TrimPrefix(cut(": "+err.Error(), err, names), ": "), err}
}

// cut takes a name from where an error of the tree begins with it, the outermost first. What a value says,
// stays.
func cut(text string, err error, names []string) string {
	whole := err.Error()
	for _, n := range names {
		if rest, ok := strings.CutPrefix(whole, n); ok {
			text = strings.Replace(text, ": "+whole, ": "+rest, 1)
			break
		}
	}
	switch e := err.(type) { //nolint:errorlint // the tree is walked
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			text = cut(text, inner, names)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if inner != nil { // a detail that has no error of the driver's
				text = cut(text, inner, names)
			}
		}
	}
	return text
}

type named struct {
	text string
	error
}

func (e *named) Error() string { return e.text }

func (e *named) Unwrap() error { return e.error }
