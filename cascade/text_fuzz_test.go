package cascade

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onerow/onerow/cascade/internal/fault"
)

// FuzzRedact: a password in a DSN or a URL never comes through, wherever it stands; what
// comes is bounded, and text for a column of utf8mb4.
func FuzzRedact(f *testing.F) {
	for _, seed := range [][2]string{{"dial ", ": refused"}, {"", ""}, {"a\nb ", "\xff"}, {strings.Repeat("x", fault.MaxText), ""}, {"😀", "://u:p@h"}, {"password=", " password: x"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "hunter2secret"
		for _, dsn := range []string{"mysql://root:" + secret + "@host/db", "root:" + secret + "@tcp(host:3306)/db", "root:p@s/" + secret + "@unix(/run/m.sock)/db"} {
			text := fault.Redact(errors.New(before + " " + dsn + " " + after))
			if strings.Contains(text, secret) {
				t.Fatalf("%q %q: %q", before, after, text)
			}
			if len(text) > fault.MaxText+4 || utf8.ValidString(before+after) && !utf8.ValidString(text) {
				t.Fatalf("%q %q: %d bytes, %q", before, after, len(text), text)
			}
		}
	})
}

// TestRedactAll: several secrets in one text, with what stands between them left as it was.
func TestRedactAll(t *testing.T) {
	for text, want := range map[string]string{
		"mysql://a:one@h/x, mysql://b:two@i/y":                      "mysql://…@h/x, mysql://…@i/y",
		"a:one@tcp(h)/x b:two@tcp(i)/y":                             "…@tcp(h)/x …@tcp(i)/y",
		"postgres://a:one@two@h/x":                                  "postgres://…@h/x",
		"https://h/x?sig=one&se=9&token=two":                        "https://h/x?sig=…&se=9&token=…",
		"https://h/x?X-Amz-Credential=one&X-Amz-Signature=two#z":    "https://h/x?X-Amz-Credential=…&X-Amz-Signature=…",
		`{"password": "one", "note": "kept", "api_key":"two"}`:      `{"password": …, "note": "kept", "api_key":…}`,
		`password="one, two" user=kept secret='one two' pwd=two`:    `password=… user=kept secret=… pwd=…`,
		"Authorization: Bearer one; Authorization: Basic two; kept": "Authorization: …; Authorization: …; kept",
		"design=kept signed=kept https://h:80/x@2x.png":             "design=kept signed=kept https://h:80/x@2x.png",
	} {
		if got := fault.Redact(errors.New(text)); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
