package httpkey_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onerow/onerow/idempotency/httpkey"
)

func TestParseKey(t *testing.T) {
	long := strings.Repeat("k", 255)
	for _, c := range []struct{ value, key string }{ // an empty key: malformed
		{`abc`, `abc`}, {`"abc"`, `abc`}, {` "abc" `, `abc`}, {"\tabc ", `abc`}, {`ABC`, `ABC`},
		{`"a \"b\" \\ c"`, `a "b" \ c`}, {`"a, b; c"`, `a, b; c`}, {`a\b`, `a\b`}, {`'abc'`, `'abc'`}, {`:YWJj:`, `:YWJj:`},
		{`8e03978e-40d5-43dd-bc93-6894a57f9324`, `8e03978e-40d5-43dd-bc93-6894a57f9324`},
		{long, long}, {`"` + long + `"`, long}, {`"` + strings.Repeat(`\"`, 255) + `"`, strings.Repeat(`"`, 255)},
		{``, ``}, {` `, ``}, {`""`, ``}, {`"`, ``}, {`"abc`, ``}, {`abc"`, ``}, {`"a"b"`, ``}, {`"abc";p=1`, ``}, {`"a", "b"`, ``},
		{`a,b`, ``}, {`a;b`, ``}, {`a b`, ``}, {`"a\b"`, ``}, {`"a\`, ``}, {`"a\"`, ``}, {"\"a\tb\"", ``}, {"\"a\x00\"", ``},
		{"a\x7f", ``}, {"ключ", ``}, {`"é"`, ``}, {"a\r\nSet-Cookie: x", ``}, {long + "k", ``}, {`"` + long + `k"`, ``},
	} {
		key, err := httpkey.ParseKey(http.Header{httpkey.HeaderKey: {c.value}})
		if key != c.key || (err == nil) != (c.key != "") || err != nil && !errors.Is(err, httpkey.ErrKeyMalformed) {
			t.Errorf("%q: the key %q and %v, want %q", c.value, key, err, c.key)
		}
	}
	if _, err := httpkey.ParseKey(http.Header{}); !errors.Is(err, httpkey.ErrKeyMissing) {
		t.Errorf("no header: %v", err)
	}
}

// quote writes a structured-field string.
func quote(key string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
}

// FuzzParseKey: a key that is accepted is printable, whole, and the same in both spellings.
func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{"abc", `"abc"`, `"a\"b\\"`, `"`, `""`, "a,b", "\"\x00\"", `"a";q=1`, "ключ", strings.Repeat("k", 256)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, err := httpkey.ParseKey(http.Header{httpkey.HeaderKey: {value}})
		if err != nil {
			if key != "" || !errors.Is(err, httpkey.ErrKeyMalformed) {
				t.Fatalf("%q: the key %q with %v", value, key, err)
			}
			return
		}
		if len(key) == 0 || len(key) > 255 {
			t.Fatalf("%q: a key of %d bytes", value, len(key))
		}
		for _, c := range []byte(key) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q: the byte %#x in a key", value, c)
			}
		}
		again, err := httpkey.ParseKey(http.Header{httpkey.HeaderKey: {quote(key)}})
		if err != nil || again != key {
			t.Fatalf("%q is the key %q, quoted it is %q, %v", value, key, again, err)
		}
		if trimmed := strings.Trim(value, " \t"); !strings.HasPrefix(trimmed, `"`) && trimmed != key {
			t.Fatalf("the raw %q became %q", value, key)
		}
	})
}

// testSpellings: over the wire the raw and the quoted spelling are one key.
func testSpellings(t *testing.T, db *sql.DB) {
	g := newRig(t, form{false, db}, httpkey.Config{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
	for i, key := range []string{"plain", `back\slash`, "8e03978e-40d5-43dd-bc93-6894a57f9324", "~!#$%&'()*+-./:<=>?@[]^_`{|}"} {
		first := g.want(201, call{key: key, body: fmt.Sprint(i)})
		for _, spelling := range []string{quote(key), "  " + quote(key) + "\t", key} {
			if r := g.want(201, call{key: spelling, body: fmt.Sprint(i)}); first.replayed() || !r.replayed() {
				t.Errorf("%s is another key than %s", spelling, key)
			}
		}
	}
}
