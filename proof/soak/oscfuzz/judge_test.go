package oscfuzz

import (
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
)

func sample() *tree {
	return &tree{
		id: 7, user: 1, name: "p", body: "b", tickets: map[int64]*leaf{11: {title: "t", body: "x"}, 12: {title: "u", body: "y", archived: true}},
		notes: map[[2]int64]string{{11, 1}: "n"}, links: map[int64]string{21: "l"},
	}
}

// there is what tables have that hold the sample, in the form in which they are read.
func there() rows {
	r := rows{}
	r.add("project", "7", "active, of 1: p b")
	r.add("ticket", "11", "active, below 7: t x")
	r.add("ticket", "12", "archived, below 7: u y")
	r.add("note", "[11 1]", "n")
	r.add("link", "21", "below 7: l")
	return r
}

// TestRows plants each kind of damage; nothing is found where there is none.
func TestRows(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(r rows, t *tree)
		want  string
	}{
		"nothing":             {func(rows, *tree) {}, ""},
		"lost":                {func(r rows, _ *tree) { delete(r, "note [11 1]") }, "is gone"},
		"twice":               {func(r rows, _ *tree) { r.add("ticket", "11", "archived, below 7: t x") }, " AND "},
		"an old text":         {func(r rows, _ *tree) { r["ticket 11"] = "active, below 7: t w" }, "it was"},
		"another table":       {func(r rows, _ *tree) { r["ticket 12"] = "active, below 7: u y" }, "it was"},
		"a stranger":          {func(r rows, _ *tree) { r.add("note", "[11 2]", "n") }, "is there"},
		"a cut link":          {func(r rows, _ *tree) { r["link 21"] = "below NULL: l" }, "it was"},
		"deleted, but there":  {func(_ rows, t *tree) { t.state = deleted }, "is there"},
		"deleted, and linked": {func(r rows, t *tree) { clear(r); r.add("link", "21", "below 7: l"); t.state = deleted }, "below NULL"},
		"deleted":             {func(r rows, t *tree) { clear(r); r.add("link", "21", "below NULL: l"); t.state = deleted }, ""},
	} {
		have, want, tree := there(), rows{}, sample()
		c.plant(have, tree)
		tree.want(want)
		found := have.differences(want)
		if (len(found) == 0) != (c.want == "") || c.want != "" && !slices.ContainsFunc(found, func(d string) bool { return strings.Contains(d, c.want) }) {
			t.Errorf("%s: %q, want %q", name, found, c.want)
		}
	}
}

// TestAccount plants wrong counts.
func TestAccount(t *testing.T) {
	right := queue.Job{State: queue.Done, DeletedRows: 3, DetachedRows: 1}
	if told := sample().account(right); told != "" {
		t.Error(told)
	}
	for _, wrong := range []queue.Job{{State: queue.Running, DeletedRows: 3, DetachedRows: 1}, {State: queue.Done, DeletedRows: 4, DetachedRows: 1}, {State: queue.Done, DeletedRows: 3}} {
		if sample().account(wrong) == "" {
			t.Errorf("%+v is taken", wrong)
		}
	}
}

// TestLacks: whatever is missing is told, but for the values of a column that was taken away again.
func TestLacks(t *testing.T) {
	missing := recover.Missing{Table: "ticket", Rows: 1, Why: "taken"}
	dropped := recover.Missing{Table: "ticket", Rows: 1, Column: extra + "3", Why: "dropped"}
	other := recover.Missing{Table: "ticket", Rows: 1, Column: "body", Why: "dropped"}
	for _, c := range []struct {
		p     recover.Progress
		lacks bool
	}{
		{recover.Progress{}, false},
		{recover.Progress{Missing: []recover.Missing{dropped}}, false},
		{recover.Progress{Missing: []recover.Missing{dropped, missing}}, true},
		{recover.Progress{Missing: []recover.Missing{other}}, true},
		{recover.Progress{RootMissing: "taken"}, true},
	} {
		if got := lacks(c.p); (got != "") != c.lacks {
			t.Errorf("%+v: %q", c.p, got)
		}
	}
}
