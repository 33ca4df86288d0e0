package idempotency

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestKeyOf(t *testing.T) {
	type user struct {
		ID int64 `json:"id"`
	}
	type message struct {
		Order  string   `json:"order"`
		Amount float64  `json:"amount"`
		User   user     `json:"user"`
		Sent   string   `json:"sent"`
		Tags   []string `json:"tags"`
		Note   *string  `json:"note,omitempty"`
	}
	base := message{Order: "o1", Amount: 10, User: user{1 << 60}, Sent: "today", Tags: []string{"a"}}
	fields := []string{"order", "amount", "user.id", "tags"}
	want, err := KeyOf(base, fields...)
	if err != nil || len(want) != 64 {
		t.Fatalf("%q, %v", want, err)
	}
	later := base
	later.Sent = "tomorrow"
	for name, same := range map[string]any{
		"a volatile field": later, "a pointer": &later,
		"a map":       map[string]any{"tags": []any{"a"}, "user": map[string]any{"id": int64(1 << 60)}, "amount": 10, "order": "o1"},
		"raw":         json.RawMessage(` {"tags":["a"], "amount": 1.0e1, "user":{"id":1152921504606846976}, "order":"\u006f1", "retry": 3} `),
		"bytes":       []byte(`{"order":"o1","amount":10.00,"user":{"id":1152921504606846976},"tags":["a"]}`),
		"as numbers":  []byte(`{"order":"o1","amount":100e-1,"user":{"id":1152921504606846976.0},"tags":["a"]}`),
		"a flat path": []byte(`{"order":"o1","amount":10,"user.id":1152921504606846976,"tags":["a"]}`),
	} {
		if got, err := KeyOf(same, "tags", "user.id", "amount", "order", "order"); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for name, other := range map[string]message{
		"order": {Order: "o2", Amount: 10, User: user{1 << 60}, Tags: []string{"a"}}, "id": {Order: "o1", Amount: 10, User: user{1<<60 + 1}, Tags: []string{"a"}},
		"tags": {Order: "o1", Amount: 10, User: user{1 << 60}, Tags: []string{"a", ""}}, "sign": {Order: "o1", Amount: -10, User: user{1 << 60}, Tags: []string{"a"}},
	} {
		if got, err := KeyOf(other, fields...); err != nil || got == want {
			t.Errorf("another %s has the same key, %v", name, err)
		}
	}
	for name, call := range map[string]func() (string, error){
		"missing":       func() (string, error) { return KeyOf(base, "order", "custumer") },
		"missing, path": func() (string, error) { return KeyOf(base, "user.name") },
		"not an object": func() (string, error) { return KeyOf(base, "order.x") },
		"omitted":       func() (string, error) { return KeyOf(base, "note") },
		"null":          func() (string, error) { return KeyOf([]byte(`{"a":null}`), "a") },
		"no fields":     func() (string, error) { return KeyOf(base) },
		"a list":        func() (string, error) { return KeyOf([]int{1}, "a") },
		"two values":    func() (string, error) { return KeyOf([]byte(`{"a":1} {}`), "a") },
		"no JSON":       func() (string, error) { return KeyOf([]byte(`{`), "a") },
		"no UTF-8":      func() (string, error) { return KeyOf([]byte("{\"a\":\"\xff\"}"), "a") },
		"a function":    func() (string, error) { return KeyOf(map[string]any{"a": func() {}}, "a") },
	} {
		if got, err := call(); !errors.Is(err, ErrField) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if mustKey(t, `{"a":"b","c":"d"}`, "a") == mustKey(t, `{"c":"b"}`, "c") {
		t.Error("the name of a field does not count")
	}
}

// TestPayloadAfterDeploy: a struct whose fields were put in another order, and that has new ones which a
// retry does not set and JSON leaves out, is the same payload.
func TestPayloadAfterDeploy(t *testing.T) {
	type before struct {
		Amount int
		Note   string
	}
	type after struct {
		Tip    int `json:",omitzero"`
		Note   string
		Amount int
	}
	hash := func(v any) [32]byte {
		t.Helper()
		sum, _, err := hashOf(v)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	old := hash(before{Amount: 1})
	if hash(after{Amount: 1}) != old {
		t.Error("the retry is another payload")
	}
	if hash(after{Amount: 1, Tip: 1}) == old || hash(after{Amount: 1, Note: "n"}) == old {
		t.Error("another payload is the same")
	}
}

func mustKey(t *testing.T, doc string, fields ...string) string {
	t.Helper()
	k, err := KeyOf([]byte(doc), fields...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestHostileNumbers: a number of 64 Ki digits costs what reading it costs: the exponent that would have to
// be computed with is refused, everything else is one pass over the text.
func TestHostileNumbers(t *testing.T) {
	nines, zeros := strings.Repeat("9", 64<<10), strings.Repeat("0", 64<<10)
	for name, number := range map[string]string{"exponent": "1e" + nines, "negative": "-1.5E-" + nines, "19 digits": "1e1000000000000000000", "fraction": "0." + zeros + "1e" + nines} {
		for _, doc := range []string{`{"a":` + number + `}`, `{"a":[{"b":` + number + `}]}`} {
			if got, err := KeyOf([]byte(doc), "a"); !errors.Is(err, ErrField) || len(err.Error()) > 200 {
				t.Errorf("%s: %q, %.300v", name, got, err)
			}
		}
		if _, _, err := hashOf(json.RawMessage(number)); !errors.Is(err, ErrField) {
			t.Errorf("%s as a payload: %.300v", name, err)
		}
	}
	for name, pair := range map[string][2]string{
		"zero": {"0e" + nines, "0"}, "no zero": {"-0.0E-" + nines, "0"}, "leading zeros": {"1e" + zeros + "2", "100"}, "18 digits": {"1e999999999999999999", "0.1e+0999999999999999999"},
		"long": {"1" + zeros, fmt.Sprint("1e", len(zeros))}, "long fraction": {"0." + zeros + "1", fmt.Sprint("1e-", len(zeros)+1)},
	} {
		same := mustKey(t, `{"a":`+pair[0]+`}`, "a") == mustKey(t, `{"a":`+pair[1]+`}`, "a")
		if same != (name != "18 digits") {
			t.Errorf("%s: one key is %t", name, same)
		}
	}
	if mustKey(t, `{"a":1e999999999999999999}`, "a") != mustKey(t, `{"a":10e999999999999999998}`, "a") {
		t.Error("the largest exponent")
	}
}
