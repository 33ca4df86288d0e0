package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
)

// errReported: what went wrong was the command's result and is printed already.
var errReported = errors.New("reported")

// report prints err as one line and returns the exit code.
func report(s environment, err error) int {
	code, line := exitFailure, err.Error()
	switch {
	case errors.Is(err, errReported):
		return code
	case errors.Is(err, usage.Err):
		code = exitUsage
	case errors.Is(err, context.Canceled):
		line = "interrupted: " + line
	}
	if _, err := fmt.Fprintf(s.stderr, "%s: %s\n", output.ProgramName, output.OneLine(s.hide(line))); err != nil {
		return max(code, exitFailure)
	}
	return code
}

// hide takes every DSN that this process was given, and the page's token, out of a text. Messages are
// written so that none is in them; this is for those that quote what the user typed,
// because the user may have typed a DSN in the wrong place.
func (s environment) hide(text string) string {
	if token := s.getenv(output.EnvToken); len(token) >= shortestToken {
		text = strings.ReplaceAll(text, token, "(hidden: it is the page's token)")
	}
	given := append([]string{s.getenv(envDSN), s.getenv(envPlan), s.getenv(envAssets)}, strings.Fields(s.getenv(envReplicas))...)
	for _, arg := range s.args {
		given = append(given, arg)
		if _, value, found := strings.Cut(arg, "="); found && strings.HasPrefix(arg, "-") {
			given = append(append(given, value), strings.Fields(value)...) // several DSNs in one
		}
	}
	for _, value := range given {
		if !looksSecret(value) {
			continue
		}
		for _, form := range []string{value, fmt.Sprintf("%q", value), strings.Trim(fmt.Sprintf("%q", value), `"`)} {
			text = strings.ReplaceAll(text, form, "(hidden: it looks like a DSN)")
		}
	}
	return text
}

// looksSecret says whether a value may carry credentials: it has a colon that is neither
// a drive's nor within a time.
func looksSecret(value string) bool {
	before, after, found := strings.Cut(value, ":")
	return found && len(before) > 1 && after != "" && strings.Trim(value, "0123456789:.") != ""
}

// shortestToken is what nobody guesses, if it is random.
const shortestToken = 16

// stopped is err, but nil after a signal: one before the first job is a clean stop as well.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
