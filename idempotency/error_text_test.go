package idempotency_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
)

// A refusal names each package once, however deep it comes from.
func TestErrorsNamePackageOnce(t *testing.T) {
	db, _ := open(t)
	ctx, keys := t.Context(), newKeys(t, idempotency.Config{MaxResult: 20})
	do := func(id string, v any, err error, opts ...idempotency.Options) error {
		_, err = idempotency.Do(ctx, db, keys, idempotency.Key{Operation: "o", ID: id}, func(context.Context, *onerow.Tx) (any, error) { return v, err }, opts...)
		return err
	}
	begin := func(id string, opts ...idempotency.Options) (idempotency.Claim, error) {
		claim, _, err := idempotency.Begin[any](ctx, db, keys, idempotency.Key{Operation: "o", ID: id}, opts...)
		return claim, err
	}
	work := func(id string, v any, err error) error {
		_, err = idempotency.Work(ctx, db, keys, must(begin(id)), func(context.Context) (any, error) { return v, err })
		return err
	}
	if err := do("done", 1, nil, idempotency.Options{Payload: 1}); err != nil {
		t.Fatal(err)
	}
	claim := must(begin("open"))
	_, open := begin("open")
	tooLarge := work("large", strings.Repeat("x", 30), nil)
	_, failed := begin("large")
	_, noField := idempotency.KeyOf(json.RawMessage("{"), "a")
	_, twice := idempotency.KeyOf(json.RawMessage("{\"a\": 1, \"a\": 2}"), "a")
	claim.Token++
	names := []string{"idempotency: ", "onerow: ", "exactjson: "}
	for what, err := range map[string]error{
		"another payload":        do("done", 1, nil, idempotency.Options{Payload: 2}),
		"a payload that is none": do("new", 1, nil, idempotency.Options{Payload: json.RawMessage("{")}),
		"no key":                 do("", 1, nil),
		"too large":              do("new", strings.Repeat("x", 30), nil),
		"not as JSON":            do("new", "\xff", nil),
		"no JSON":                do("new", make(chan int), nil),
		"failed for good":        do("bad", nil, idempotency.Permanent(errors.New("no"))),
		"in progress":            open,
		"work that is too large": tooLarge,
		"work that was":          failed,
		"work that fails":        work("w", nil, errors.New("no")),
		"a lost claim":           keys.Complete(ctx, db, claim, 1),
		"a lost claim's write":   keys.Owned(ctx, db, claim, func(context.Context, *onerow.Tx) error { return nil }),
		"a wrong option":         keys.Complete(ctx, db, claim, 1, idempotency.Options{Attention: true}),
		"no cause":               keys.Fail(ctx, db, claim, nil),
		"no field":               noField,
		"a field twice":          twice,
	} {
		for _, name := range names {
			if err == nil || strings.Count(err.Error(), name) > 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
