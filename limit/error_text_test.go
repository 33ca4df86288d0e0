package limit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/limit"
)

// A refusal names each package once, however deep it comes from.
func TestErrorsNamePackageOnce(t *testing.T) {
	db, _ := open(t)
	s, ctx := newShop(t), t.Context()
	s.allow(t, db, 1, 1, 5)
	must(s.create(ctx, db, 1, "one", 3))
	reserve := func(key string, amount int64, owner ...any) error {
		_, err := s.bytes.Reserve(ctx, db, key, amount, time.Hour, owner...)
		return err
	}
	if err := reserve("a", 1, 1); err != nil {
		t.Fatal(err)
	}
	_, full := s.create(ctx, db, 1, "two", 1)
	_, owner := s.bytes.Look(ctx, db, "x")
	_, unknown := limit.New(plan, "nothing", fixed(1))
	names := []string{"limit: ", "onerow: ", "repo: ", "quota: ", "schema: "}
	for what, err := range map[string]error{
		"no room":                full,
		"no room to reserve":     reserve("b", 5, 1),
		"another amount":         reserve("a", 2, 1),
		"no amount":              reserve("c", -1, 1),
		"no key":                 reserve("", 1, 1),
		"an owner that is none":  reserve("c", 1, "x"),
		"no owner":               reserve("c", 1),
		"look at no owner":       owner,
		"cancel for no owner":    s.bytes.Cancel(ctx, db, "a", "x"),
		"count no owner":         s.bytes.Recount(ctx, db, "x"),
		"no owner's new maximum": s.bytes.Changed(ctx, db, "x"),
		"an unknown limit":       unknown,
	} {
		for _, name := range names {
			if err == nil || strings.Count(err.Error(), name) > 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
