package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"unicode"

	"github.com/onerow/onerow/cascade/command/internal/daemon"
	"github.com/onerow/onerow/cascade/command/internal/records"
	"github.com/onerow/onerow/cascade/command/internal/shell"
	"github.com/onerow/onerow/cascade/internal/output"
)

// FuzzHide: whatever a DSN, a token or a replica's DSN that this process was given is
// wrapped in, it is not printed.
func FuzzHide(f *testing.F) {
	f.Add("cannot open ", ": no such file", "x")
	f.Add("", "", "a\"b")
	f.Add("mysql://", "@", "\n\\")
	f.Fuzz(func(t *testing.T, before, after, more string) {
		if strings.ContainsAny(more, " \t\n\v\f\r") || len(strings.Fields("x"+more)) != 1 || strings.IndexFunc(more, unicode.IsSpace) >= 0 {
			return // in $ONEROW_REPLICAS a space ends a DSN
		}
		dsn, replica, token := "root:hunter2"+more+"@tcp(h)/db", "mysql://root:hunter3"+more+"@h/db", "hunter4-"+strings.Repeat("x", shell.ShortestToken)
		s := shell.Environment{Args: []string{"run", "--dsn=" + dsn}, Getenv: func(name string) string {
			return map[string]string{shell.EnvReplicas: "mysql://a:b@c/d " + replica, output.EnvToken: token, shell.EnvDSN: dsn}[name]
		}}
		for _, given := range []string{dsn, replica, token} {
			if text := output.OneLine(s.Hide(before + given + after)); strings.Contains(text, "hunter2") || strings.Contains(text, "hunter3") || strings.Contains(text, "hunter4") {
				t.Fatalf("%q is printed: %q", given, text)
			}
		}
	})
}

// FuzzJSON: what is printed as JSON has nothing in it that a terminal obeys, and means
// what it meant.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{"a\u009b31m", "\u202egnirts", "\x7f", "\x1b[31m", "😀\U000e0041", "\u2028<ä>", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		plain, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if n, err := (output.JSONWriter{Out: &out}).Write(plain); n != len(plain) || err != nil {
			t.Fatal(n, err)
		}
		if strings.IndexFunc(out.String(), func(r rune) bool { return !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r) }) >= 0 {
			t.Errorf("%q becomes %q", text, out.String())
		}
		var got, want map[string]string
		if err := errors.Join(json.Unmarshal([]byte(out.String()), &got), json.Unmarshal(plain, &want)); err != nil || !maps.Equal(got, want) {
			t.Errorf("%q becomes %q: %v", text, got, err)
		}
		var log bytes.Buffer
		daemon.Logger(&log, "json", slog.LevelInfo).Info(text, "worker", text)
		if !json.Valid(log.Bytes()) || bytes.ContainsFunc(bytes.TrimSpace(log.Bytes()), unicode.IsControl) {
			t.Errorf("%q is logged as %q", text, log.String())
		}
	})
}

// FuzzOneLine: what is printed is one line that a terminal does not obey.
func FuzzOneLine(f *testing.F) {
	for _, seed := range []string{"a\nb", "\x1b[31m", "\u202egnirts", "\xff", "\r\n\r\n", "\u2028", "\u00a0", "😀", "\u200b", "\u0085"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, line := range []string{output.OneLine(text), output.Printable(text), records.ShellWord(text)} {
			if strings.IndexFunc(line, func(r rune) bool { return r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r) }) >= 0 {
				t.Fatalf("%q becomes %q", text, line)
			}
		}
		if short := output.Shorten(output.Printable(text), 20); len([]rune(short)) > 21 {
			t.Fatalf("%q becomes %q", text, short)
		}
	})
}
