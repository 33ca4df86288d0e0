package shell

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
)

// The exit codes, which cmd/cascade-worker promises.
const (
	ExitOK      = 0 // done; help; the version; a worker that was told to stop
	exitFailure = 1 // failed, or found something: [ErrReported]
	exitUsage   = 2 // was called wrongly: what package usage has marked
)

// ErrReported says that what went wrong was the command's result and is printed already.
var ErrReported = errors.New("reported")

// packages are the names that the toolkit's packages put before their errors, often one behind the other. A
// reader of this program's lines does not know them.
var packages = regexp.MustCompile(`(?m)(^|: )(?:(?:adopt|cascade|flow|idempotency|keyadmin|limit|migrations|onerow|ordering|planfile|quota|repo|schema|serial): )+`)

// Report prints err as one line and returns the exit code.
func Report(s Environment, err error) int {
	code, line := exitFailure, err.Error()
	switch {
	case errors.Is(err, ErrReported):
		return code
	case errors.Is(err, usage.Err):
		code = exitUsage
	case errors.Is(err, context.Canceled):
		line = "interrupted: " + line
	}
	line = packages.ReplaceAllString(line, "$1")
	_, _ = fmt.Fprintf(s.Stderr, "%s: %s\n", output.ProgramName, output.OneLine(s.Hide(line))) //nolint:errcheck // there is no other place
	return code
}

// Stopped is err, but nil after a signal: one before the first job is a clean stop as well.
func Stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
