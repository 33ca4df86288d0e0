package idempotency_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/keyadmin"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// wide is a result of which JSON says less than Go does.
type wide struct {
	Items  []string
	Left   []string `json:",omitempty"`
	Secret string   `json:"-"`
	At     time.Time
	Any    any
	hidden int
}

// freshAndReplayed gets a result from each verb that does work, and its replay.
func freshAndReplayed[T any](t *testing.T, db onerow.DB, keys *idempotency.Keys, name string, v T) {
	t.Helper()
	ctx := t.Context()
	for _, verb := range []string{"do", "undone", "joined", "work"} {
		k := key(name + " " + verb)
		fn := func(context.Context, *onerow.Tx) (T, error) {
			if verb == "undone" {
				return v, idempotency.ErrUndone
			}
			return v, nil
		}
		var fresh onerow.Result[T]
		var err error
		switch verb {
		case "work":
			fresh, err = idempotency.Work(ctx, db, keys, begun(t, db, keys, k), func(context.Context) (T, error) { return v, nil })
		case "joined":
			err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
				fresh, err = idempotency.Do(ctx, tx, keys, k, fn)
				return err
			})
		default:
			fresh, err = idempotency.Do(ctx, db, keys, k, fn)
		}
		if err != nil || !fresh.Changed {
			t.Errorf("%s, %s: %+v, %v", name, verb, fresh, err)
			continue
		}
		again, err := idempotency.Do(ctx, db, keys, k, fn)
		if err != nil || !again.Replayed || !reflect.DeepEqual(fresh.Row, again.Row) {
			t.Errorf("%s, %s: fresh %#v, replayed %#v, %v", name, verb, fresh.Row, again.Row, err)
		}
	}
}

// TestFreshIsReplayed: the first caller gets what all others get.
func TestFreshIsReplayed(t *testing.T) {
	db, _ := open(t)
	keys := newKeys(t, idempotency.Config{})
	freshAndReplayed(t, db, keys, "map", map[string]any{"id": int64(9007199254740992), "n": 1, "f": 0.1, "list": []int{1}})
	freshAndReplayed(t, db, keys, "struct", wide{Items: []string{}, Left: []string{}, Secret: "s", At: time.Now(), Any: receipt{ID: 7}, hidden: 1})
	freshAndReplayed(t, db, keys, "nil", wide{})
	freshAndReplayed(t, db, keys, "large", receipt{ID: 9007199254740993})
	freshAndReplayed(t, db, keys, "raw", json.RawMessage(`{"id": 9007199254740993,  "text":"\ufffd"}`))
	freshAndReplayed(t, db, keys, "pointer", &wide{Any: json.RawMessage(`{"b":"\ufffd","a":1.50}`)})
	freshAndReplayed[any](t, db, keys, "interface", receipt{ID: 7})
	freshAndReplayed[any](t, db, keys, "nothing", nil)
	freshAndReplayed[error](t, db, keys, "no error", nil)
	freshAndReplayed(t, db, keys, "replacement", "a\uFFFDb <&> \u2028")
}

type (
	left  struct{ X int }
	right struct{ X int }
	// twice has two fields X, of which encoding/json writes none.
	twice struct {
		left
		right
	}
)

type stamped struct {
	time.Time
	Amount int
}

// TestLossyResult: what would not come back is refused when it is to be stored: nothing is done in Do, and
// who has done it in two steps is told.
func TestLossyResult(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	for name, v := range map[string]any{
		"an integer in a map":         map[string]any{"orders": []any{map[string]any{"id": int64(9007199254740993)}}},
		"an unsigned one":             map[string]any{"id": ^uint64(0)},
		"a raw number in a map":       map[string]any{"n": json.RawMessage("0.12345678901234567890")},
		"a text":                      "a\xffb",
		"a text in a struct":          receipt{Note: "\xff"},
		"a name in a map":             map[string]int{"\xff": 1},
		"two fields of one name":      twice{left{1}, right{2}},
		"a list of them":              []*twice{{left{1}, right{2}}},
		"fields beside embedded time": stamped{time.Unix(1e9, 0), 500},
	} {
		k := key(name)
		_, err := idempotency.Do(ctx, db, keys, k, func(ctx context.Context, tx *onerow.Tx) (any, error) {
			if _, err := charge(1)(ctx, tx); err != nil {
				return nil, err
			}
			return v, nil
		})
		if !errors.Is(err, idempotency.ErrCodec) || charges(t, db) != 0 {
			t.Errorf("%s: %v, %d charges", name, err, charges(t, db))
		}
		if n := dbtest.Scan[int](t, db, "SELECT COUNT(*) FROM onerow_key WHERE idem_key = ?", []byte(name)); n != 0 {
			t.Errorf("%s: the key is stored", name)
		}
		claim := begun(t, db, keys, k)
		if err := keys.Complete(ctx, db, claim, v); !errors.Is(err, idempotency.ErrCodec) {
			t.Errorf("%s: Complete: %v", name, err)
		}
		if err := keys.Fail(ctx, db, claim, errors.New("x"), idempotency.Options{Result: v}); !errors.Is(err, idempotency.ErrCodec) {
			t.Errorf("%s: Fail: %v", name, err)
		}
		out, err := idempotency.Work(ctx, db, keys, claim, func(context.Context) (any, error) { return v, nil })
		if e := must(keyadmin.Find(ctx, db, k)); !errors.Is(err, idempotency.ErrCodec) || !reflect.DeepEqual(out.Row, v) || !e.Attention {
			t.Errorf("%s: Work: %+v, %v, %+v", name, out, err, e)
		}
	}
	_, err := idempotency.Do(ctx, db, keys, key("a method"), func(context.Context, *onerow.Tx) (fmt.Stringer, error) { return time.Second, nil })
	if !errors.Is(err, idempotency.ErrCodec) {
		t.Errorf("an interface that cannot be decoded: %v", err)
	}
}

type order struct {
	Items []string       `json:"items"`
	Notes map[string]int `json:"notes"`
	Lines []struct{ Tags []string }
	Zero  []int `json:",omitzero"`
	Raw   json.RawMessage
	By    *order
}

// TestEmptyPayload: to Go a nil list and an empty one are the same, and so is the payload; a key that was
// stored when they were two is answered.
func TestEmptyPayload(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	call := func(id string, payload idempotency.Options) error {
		_, err := idempotency.Do(ctx, db, keys, key(id), charge(1), payload)
		return err
	}
	lines := []struct{ Tags []string }{{}, {Tags: []string{"a"}}}
	linesEmpty := []struct{ Tags []string }{{Tags: []string{}}, {Tags: []string{"a"}}}
	without := order{Lines: lines, By: &order{}}
	with := order{Items: []string{}, Notes: map[string]int{}, Lines: linesEmpty, Zero: []int{}, By: &order{Items: []string{}, Lines: []struct{ Tags []string }{}}}
	for name, pair := range map[string][2]any{"struct": {without, with}, "pointer": {&without, &with}, "list": {[]string(nil), []string{}}, "map": {map[string]order{"a": {}}, map[string]order{"a": {Items: []string{}}}}} {
		for i, v := range []any{pair[0], pair[1], pair[0]} {
			if err := call(name, idempotency.Options{Payload: v}); err != nil {
				t.Errorf("%s, call %d: %v", name, i, err)
			}
		}
		if err := call(name+" turned", idempotency.Options{Payload: pair[1]}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := call(name+" turned", idempotency.Options{Payload: pair[0]}); err != nil {
			t.Errorf("%s, turned: %v", name, err)
		}
	}
	if with.Items == nil || with.Lines[0].Tags == nil || with.By.Items == nil {
		t.Error("the payload was changed")
	}
	for name, pair := range map[string][2]any{
		"raw":               {json.RawMessage(`{"a":null}`), json.RawMessage(`{"a":[]}`)},
		"left out":          {json.RawMessage(`{"a":null}`), json.RawMessage(`{}`)},
		"a list of nothing": {[][]int{nil}, [][]int{nil, nil}},
		"a zero":            {map[string]any{"a": nil}, map[string]any{"a": 0}},
		"interface":         {map[string]any{"a": nil}, map[string]any{"a": []any{}}},
		"left out of a map": {map[string]any{"a": nil}, map[string]any{}},
		"raw in a struct":   {struct{ Body json.RawMessage }{json.RawMessage(`{"limit":null}`)}, struct{ Body json.RawMessage }{json.RawMessage(`{}`)}},
		"pointer to a list": {struct{ A *[]int }{}, struct{ A *[]int }{&[]int{1}}},
	} {
		if err := call("two "+name, idempotency.Options{Payload: pair[0]}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := call("two "+name, idempotency.Options{Payload: pair[1]}); !errors.Is(err, idempotency.ErrMismatch) {
			t.Errorf("%s: two payloads are one: %v", name, err)
		}
	}
	// As the version before stored it: as the JSON is.
	raw := must(json.Marshal(with))
	if err := call("stored", idempotency.Options{Payload: json.RawMessage(raw)}); err != nil {
		t.Fatal(err)
	}
	before := charges(t, db)
	for range 2 { // the second time by a process that has seen it end
		if err := call("stored", idempotency.Options{Payload: with}); err != nil || charges(t, db) != before {
			t.Errorf("a stored fingerprint: %v, %d charges", err, charges(t, db)-before)
		}
	}
	if err := call("stored", idempotency.Options{Payload: order{Items: []string{"b"}}}); !errors.Is(err, idempotency.ErrMismatch) {
		t.Errorf("another payload: %v", err)
	}
}

// node has what is not for JSON.
type node struct {
	Note   string
	Tags   []string
	Parent *node        `json:"-"`
	Client *http.Client `json:"-"`
	Kids   []*node
}

// TestPayloadBesides: what JSON leaves out of a payload is not followed, it may lead back, nor read, it may be
// written by others meanwhile.
func TestPayloadBesides(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	client := &http.Client{}
	written := make(chan struct{})
	go func() {
		defer close(written)
		client.Timeout = time.Second
	}()
	top := &node{Client: client, Tags: []string{}}
	top.Parent, top.Kids = top, []*node{{Parent: top}}
	for name, payload := range map[string]any{"first": top, "again": &node{Kids: []*node{{Tags: []string{}}}}} {
		if _, err := idempotency.Do(ctx, db, keys, key("a"), charge(1), idempotency.Options{Payload: payload}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	<-written
	if top.Parent != top || top.Kids[0].Parent != top || top.Client != client || top.Tags == nil {
		t.Error("the payload was changed")
	}
}

// TestForeignForm: a result in a form that this version does not know is an error, for who has seen the key end and
// for who has not.
func TestForeignForm(t *testing.T) {
	db, _ := open(t)
	keys, ctx := newKeys(t, idempotency.Config{}), t.Context()
	must(idempotency.Do(ctx, db, keys, key("a"), func(context.Context, *onerow.Tx) (int, error) { return 12, nil }))
	dbtest.Exec(t, db, "UPDATE onerow_key SET codec = 'json/2'")
	for name, by := range map[string]*idempotency.Keys{"here": keys, "elsewhere": newKeys(t, idempotency.Config{})} {
		out, err := idempotency.Do(ctx, db, by, key("a"), func(context.Context, *onerow.Tx) (int, error) { return 1, nil })
		if !errors.Is(err, idempotency.ErrCodec) || out.Row != 0 {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// TestUnclearPayload: what JSON does not tell from something else is refused, not compared.
func TestUnclearPayload(t *testing.T) {
	for name, v := range map[string]any{
		"text": "a\xff", "text in a struct": receipt{Note: "\xfe"}, "map": map[string]any{"\xff": 1}, "twice": twice{left{1}, right{2}}, "stamped": stamped{Amount: 1},
		"raw, twice": json.RawMessage(`{"a":{"n":1,"n":2}}`), "half": json.RawMessage(`["\ud800"]`), "the other half": []byte(`"x\uDFFFy"`), "turned": []byte(`"\udc00\ud800"`),
		"half and text": []byte(`"\ud800x\udc00"`), "name": []byte(`{"\ud800":1}`), "deep": json.RawMessage(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)),
	} {

		_, err := idempotency.Do(t.Context(), nil, newKeys(t, idempotency.Config{}), key("k"), charge(1), idempotency.Options{Payload: v})
		if !errors.Is(err, idempotency.ErrField) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for doc, fine := range map[string]bool{
		`{"a":1,"b":"\ud800","c":{"x":1,"x":2}}`: true, // what is not named does not count
		`{"a":1,"a":1}`:                          false, `{"a":"\ud83d\ude00"}`: true, `{"a":"\\ud800"}`: true, `{"a":"\ud83d"}`: false, `{"a":{"b":1,"b":2}}`: false,
	} {
		if _, err := idempotency.KeyOf([]byte(doc), "a"); (err == nil) != fine || err != nil && !errors.Is(err, idempotency.ErrField) {
			t.Errorf("%s: %v", doc, err)
		}
	}
}
