package idempotency

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// FuzzKeyOf: any bytes are refused or have one key, which does not depend on white
// space or on the order of fields, and changes with the value.
func FuzzKeyOf(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a":{"b":[1,2.0,null]}}`, `{"a.b":"x","a":{"b":"y"}}`, `{"a":"\u0000"}`, `{"a":1,"a":2}`, `{"a":1e400}`, `{"a":"\ud800"}`, `[`, `{}`, "\xff", `{"a":1}]`, `{"a":-0.0}`} {
		f.Add([]byte(seed), "a")
	}
	f.Add([]byte(`{"a":{"b":1}}`), "a.b")
	f.Fuzz(func(t *testing.T, doc []byte, name string) {
		id, err := KeyOf(doc, name)
		if err != nil {
			if id != "" || !errors.Is(err, ErrField) {
				t.Fatalf("%q: %q, %v", doc, id, err)
			}
			return
		}
		if len(id) != 64 {
			t.Fatalf("%q: %q", doc, id)
		}
		var spread bytes.Buffer
		if err := json.Indent(&spread, doc, " ", "\t"); err != nil {
			t.Fatalf("%q is accepted: %v", doc, err)
		}
		if again, err := KeyOf(spread.Bytes(), name, name); err != nil || again != id {
			t.Fatalf("%q: %q, and with white space %q, %v", doc, id, again, err)
		}
		if moved, err := KeyOf(doc, name+".x"); err == nil && moved == id {
			t.Fatalf("%q: the fields %q and %q have one key", doc, name, name+".x")
		}
	})
}
