package shell

import (
	"fmt"
	"strings"

	"github.com/onerow/onerow/cascade/internal/output"
)

// Hide takes every DSN that this process was given, and the page's token, out of a text. Messages are
// written so that none is in them; this is for those that quote what the user typed,
// because the user may have typed a DSN in the wrong place.
func (s Environment) Hide(text string) string {
	for _, name := range []string{output.EnvToken, output.EnvReadToken} {
		if token := s.Getenv(name); len(token) >= ShortestToken {
			text = strings.ReplaceAll(text, token, "(hidden: it is the page's token)")
		}
	}
	given := append([]string{s.Getenv(EnvDSN), s.Getenv(EnvPlan), s.Getenv(EnvAssets)}, strings.Fields(s.Getenv(EnvReplicas))...)
	for _, arg := range s.Args {
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

// ShortestToken is what nobody guesses, if it is random.
const ShortestToken = 16
