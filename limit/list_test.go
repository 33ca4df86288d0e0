package limit_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/recount"
	"github.com/onerow/onerow/limit"
)

// TestList: owners of all limits, page by page, with what Look says of each: of one that was spread, of one
// without a maximum, of one that is to be counted, of one that never was.
func TestList(t *testing.T) {
	s := newShop(t)
	db, _ := open(t)
	ctx := t.Context()
	s.allow(t, db, 1, 3, 100_000)
	s.allow(t, db, 2, nil, nil)
	for user := range int64(2) {
		must(s.files.Create(ctx, db, File{UserID: user + 1, Name: "a", Bytes: 10}))
	}
	dbtest.Exec(t, db, "INSERT INTO onerow_limit (name, owner, stripe, room, maximum, version, counted_at) VALUES ('file.bytes', 'b', 0, 4, 6, 1, UTC_TIMESTAMP(6)), ('file.bytes', 'b', 1, 3, 5, 1, NULL), ('File', 'A', 0, 0, 1, 1, UTC_TIMESTAMP(6))")
	if err := errors.Join(recount.Limit(ctx, db, "file", "1"), recount.Limit(ctx, db, "file", "9")); err != nil {
		t.Fatal(err)
	}
	var want []limit.Line
	for _, l := range must(limit.List(ctx, db, limit.Line{}, 1000)) {
		want = append(want, l)
		state := l.State
		switch l.Name + " " + l.Owner {
		case "file 1", "file 2":
			state = must(s.number.Look(ctx, db, int64(l.Owner[0]-'0')))
		case "file.bytes 1", "file.bytes 2":
			state = must(s.bytes.Look(ctx, db, int64(l.Owner[0]-'0')))
		case "file.bytes b":
			state = limit.State{Used: 4, Max: 11, Known: true}
		case "file 9":
			state = limit.State{}
		}
		if again := !l.Known || l.Name == "file" && l.Owner == "1"; l.State != state || l.Recount != again {
			t.Errorf("%+v: it is %+v, to be counted: %v", l, state, again)
		}
	}
	names := make([]string, len(want))
	for i, l := range want {
		names[i] = l.Name + " " + l.Owner
	}
	if !slices.IsSorted(names) || !slices.Contains(names, "file 9") || !slices.Contains(names, "file.bytes b") || names[0] != "File A" {
		t.Errorf("%q", names)
	}
	dbtest.Pages(t, want, func(after limit.Line, n int) []limit.Line { return must(limit.List(ctx, db, after, n)) })
	if _, err := limit.List(ctx, db, limit.Line{}, 0); !errors.Is(err, limit.ErrAmount) {
		t.Error(err)
	}
}
