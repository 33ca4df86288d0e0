package cascade

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRedact: a password in a DSN or a URL never comes through, wherever it stands; what
// comes is bounded, and text for a column of utf8mb4.
func FuzzRedact(f *testing.F) {
	for _, seed := range [][2]string{{"dial ", ": refused"}, {"", ""}, {"a\nb ", "\xff"}, {strings.Repeat("x", longestError), ""}, {"😀", "://u:p@h"}, {"password=", " password: x"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "hunter2secret"
		for _, dsn := range []string{"mysql://root:" + secret + "@host/db", "root:" + secret + "@tcp(host:3306)/db", "root:p@s/" + secret + "@unix(/run/m.sock)/db"} {
			text := redact(errors.New(before + " " + dsn + " " + after))
			if strings.Contains(text, secret) {
				t.Fatalf("%q %q: %q", before, after, text)
			}
			if len(text) > longestError+4 || utf8.ValidString(before+after) && !utf8.ValidString(text) {
				t.Fatalf("%q %q: %d bytes, %q", before, after, len(text), text)
			}
		}
	})
}

// FuzzReasonKind: the label of a metric is one of a few, whatever the reason says.
func FuzzReasonKind(f *testing.F) {
	for _, seed := range []string{"", "paused", "paused: x", "threads: 7", ":", "Paused", "lag :", "\xff", "a{b=\"c\"}\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reason string) {
		kind := ReasonKind(reason)
		if kind == "" != (reason == "") || kind != "" && !slices.Contains(ReasonKinds(), kind) {
			t.Fatalf("%q is %q", reason, kind)
		}
	})
}
