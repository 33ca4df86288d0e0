package repo_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestListByName: pages of any size give each active row of the owner once, in the order of the name keys, with
// a prefix only those that begin with it, while names come and go before the page.
func TestListByName(t *testing.T) {
	db, p, ctx := open(t), newRepos(t).projects, t.Context()
	var want []string
	for n, name := range []string{"a", "A b", "ab", "abc", "abé", "ab🙂", "ac", "b", "Ab (Copy 1)", "é", "zz"} {
		must(p.Create(ctx, db, Project{UserID: 1, Name: name}))
		must(p.Create(ctx, db, Project{UserID: 2, Name: name}))
		if n > 0 {
			want = append(want, name)
		}
	}
	hide := must(p.Find(ctx, db, 1, "a"))
	must(p.Delete(ctx, db, hide.ID, repo.Grace(time.Hour)))
	key := func(name string) string { return string(must(names.KindName.Parse(name)).Key) }
	slices.SortFunc(want, func(a, b string) int { return slices.Compare([]byte(key(a)), []byte(key(b))) })
	for prefix, want := range map[string][]string{
		"": want, "ab": {"ab", "Ab (Copy 1)", "abc", "abé", "ab🙂"}, " AB ": {"ab", "Ab (Copy 1)", "abc", "abé", "ab🙂"},
		"abc": {"abc"}, "É": {"é"}, "x": nil, "zz": {"zz"}, "%": nil,
	} {
		for _, limit := range []int{1, 2, 50} {
			var got []string
			for page, n := (repo.Page[Project]{}), 0; ; n++ {
				page = must(p.ListByName(ctx, db, 1, prefix, repo.PageOptions{After: page.Next, Limit: limit}))
				for _, row := range page.Items {
					got = append(got, row.Name)
				}
				if n == 1 { // a name before the page that comes changes nothing behind it
					must(p.Create(ctx, db, Project{UserID: 1, Name: fmt.Sprint("!", prefix, limit)}))
				}
				if page.Next == "" {
					break
				}
			}
			got = slices.DeleteFunc(got, func(name string) bool { return name[0] == '!' })
			if !slices.Equal(got, want) {
				t.Errorf("%q in pages of %d: %q, want %q", prefix, limit, got, want)
			}
		}
	}
	next := must(p.ListByName(ctx, db, 1, "ab", repo.PageOptions{Limit: 1})).Next
	for name, err := range map[string]error{
		"another prefix's cursor": second(p.ListByName(ctx, db, 1, "z", repo.PageOptions{After: next})),
		"a list's cursor":         second(p.ListByName(ctx, db, 1, "", repo.PageOptions{After: "7"})),
		"no cursor":               second(p.ListByName(ctx, db, 1, "", repo.PageOptions{After: "x'"})),
		"the cursor of names":     second(p.List(ctx, db, 1, repo.PageOptions{After: next})),
	} {
		if !errors.Is(err, repo.ErrInvalidCursor) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"archived":         second(p.ListByName(ctx, db, 1, "", repo.PageOptions{State: schema.Archived})),
		"no names":         second(newRepos(t).comments.ListByName(ctx, db, 1, "", repo.PageOptions{})),
		"no owner":         second(newRepos(t).comments.List(ctx, db, 1, repo.PageOptions{})),
		"an unknown state": second(p.List(ctx, db, 1, repo.PageOptions{State: "gone"})),
	} {
		if !errors.Is(err, repo.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.OwnedBy(2).ListByName(ctx, db, 1, "", repo.PageOptions{}); !errors.Is(err, repo.ErrOtherOwner) {
		t.Errorf("another owner's names: %v", err)
	}
}
