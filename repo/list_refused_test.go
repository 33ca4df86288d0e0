package repo_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestListRefused: what no index serves, and what no row can have.
func TestListRefused(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	db := open(t)
	fillTasks(t, db, tasks, 1)
	ask := func(o repo.PageOptions) error {
		_, err := tasks.List(t.Context(), db, 1, o)
		return err
	}
	for want, o := range map[string]repo.PageOptions{
		"[{columns: [user_id, big, rank_no, due_at, id]}]":                                                         {Where: repo.Where{"rank_no": 1, "big": 2}, Sort: repo.Sort{Column: "due_at"}},
		"[{columns: [user_id, title, status, id]}]":                                                                {Where: repo.Where{"title": "a"}, Sort: repo.Sort{Column: "status"}},
		"archived rows of \"task\"; add indexes: [{columns: [user_id, due_at, mood, status, id], archived: true}]": {State: repo.AnyState, Where: repo.Where{"mood": "bad", "due_at": nil}, Sort: repo.Sort{Column: "status"}},
		"[{columns: [user_id, version, id], archived: true}]":                                                      {State: schema.Archived, Sort: repo.Sort{Column: "version"}},
		"no column \"color\"":               {Where: repo.Where{"color": 1}},
		"no column \"status = status -- \"": {Where: repo.Where{"status = status -- ": "open"}},
		"no column \"state\"":               {Sort: repo.Sort{Column: "state"}},
		"\"weight\", for it is DOUBLE":      {Sort: repo.Sort{Column: "weight"}},
		"\"at\", for it is TIMESTAMP":       {Where: repo.Where{"at": time.Now()}},
		"\"mood\" of \"task\" is ENUM":      {Sort: repo.Sort{Column: "mood"}},
		"by its id with Get":                {Where: repo.Where{"id": 1}},
		"one owner's already":               {Where: repo.Where{"user_id": 1}},
		"the same user_id":                  {Sort: repo.Sort{Column: "user_id"}},
		"the same status":                   {Where: repo.Where{"status": "open"}, Sort: repo.Sort{Column: "status", From: "a"}},
	} {
		err := ask(o)
		if !errors.Is(err, repo.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
		var detail *repo.NoIndexError
		if errors.As(err, &detail) != strings.Contains(want, "columns:") {
			t.Errorf("%v has the detail %+v", err, detail)
		}
		if detail != nil { // and it is enough
			p := agenda()
			if i := slices.IndexFunc(p.Resources[0].Indexes, func(x schema.Index) bool { return slices.Equal(x.Columns, detail.Index.Columns) }); i >= 0 {
				p.Resources[0].Indexes = slices.Delete(p.Resources[0].Indexes, i, i+1)
			}
			p.Resources[0].Indexes = append(p.Resources[0].Indexes, detail.Index)
			res := must(p.Resource("task"))
			if err := p.Check(); err != nil {
				t.Error(err)
			}
			equal := slices.DeleteFunc(slices.Clone(detail.Index.Columns), func(c string) bool { return c == "user_id" || c == "id" || c == o.Sort.Column })
			state := schema.Active
			if detail.Index.Archived {
				state = schema.Archived
			}
			if name, _ := res.ListIndex(state, equal, o.Sort.Column); name == "" {
				t.Errorf("%+v does not serve the list", detail.Index)
			}
		}
	}
	for name, value := range map[string]any{
		"status": 5, "big": -1, "rank_no": 1 << 40, "due_at": 7, "day": "tomorrow", "price": "1 OR 1", "lang": "日", "hash": strings.Repeat("x", 41),
		"title": "\xff", "code": time.Now, "mood": 1,
	} {
		if err := ask(repo.PageOptions{Where: repo.Where{name: value}}); !errors.Is(err, repo.ErrInvalidFilter) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s = %#v: %v", name, value, err)
		}
	}
	if err := ask(repo.PageOptions{Sort: repo.Sort{Column: "due_at", To: 7}}); !errors.Is(err, repo.ErrInvalidFilter) {
		t.Error(err)
	}
	if _, err := tasks.OwnedBy(2).List(t.Context(), db, 1, repo.PageOptions{Sort: repo.Sort{Column: "due_at"}}); !errors.Is(err, repo.ErrOtherOwner) {
		t.Error(err)
	}
	projects := newRepos(t).projects
	for name, o := range map[string]repo.PageOptions{"Where": {Where: repo.Where{"note": "x"}}, "Sort": {Sort: repo.Sort{Column: "name_key"}}, "both states": {State: repo.AnyState}} {
		if _, err := projects.ListByName(t.Context(), db, 1, "", o); !errors.Is(err, repo.ErrUnsupported) {
			t.Errorf("names with %s: %v", name, err)
		}
	}
}

// TestListCursors: a cursor is good for its list alone, whatever bounds it has.
func TestListCursors(t *testing.T) {
	tasks := must(repo.New[Task](agenda(), "task"))
	db := open(t)
	fillTasks(t, db, tasks, 80)
	lists := map[string]repo.PageOptions{
		"by id": {}, "descending": {Sort: repo.Sort{Descending: true}}, "both": {State: repo.AnyState}, "open": {Where: repo.Where{"status": "open"}},
		"done": {Where: repo.Where{"status": "done"}}, "due": {Sort: repo.Sort{Column: "due_at"}}, "latest": {Sort: repo.Sort{Column: "due_at", Descending: true}},
		"archived": {State: schema.Archived, Sort: repo.Sort{Column: "due_at"}}, "open, due": {Where: repo.Where{"status": "open"}, Sort: repo.Sort{Column: "due_at"}},
		"title": {Sort: repo.Sort{Column: "title"}}, "no rank": {Where: repo.Where{"rank_no": nil}}, "rank": {Where: repo.Where{"rank_no": 0}},
	}
	for name, o := range lists {
		o.Limit = 1
		next := must(tasks.List(t.Context(), db, 1, o)).Next
		if next == "" || strings.Trim(string(next), "0123456789-_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			t.Fatalf("%s: the cursor %q", name, next)
		}
		for other, o := range lists {
			o.After = next
			if _, err := tasks.List(t.Context(), db, 1, o); (err == nil) != (name == other) || err != nil && !errors.Is(err, repo.ErrInvalidCursor) {
				t.Errorf("the cursor of %q in %q: %v", name, other, err)
			}
		}
		o.After = next
		if _, err := tasks.List(t.Context(), db, 2, o); (err == nil) != (name == "by id") {
			t.Errorf("the cursor of %q for another owner: %v", name, err)
		}
		if name == "by id" {
			continue
		}
		for i := range next {
			for _, broken := range []repo.Cursor{next[:i], next[:i] + "!" + next[i+1:], next + "A"} {
				o.After = broken
				if _, err := tasks.List(t.Context(), db, 1, o); broken != "" && !errors.Is(err, repo.ErrInvalidCursor) {
					t.Errorf("%q of %q: %v", broken, next, err)
				}
			}
		}
	}
	o := repo.PageOptions{Sort: repo.Sort{Column: "due_at", From: time.Unix(1, 0)}, Limit: 1}
	o.After = must(tasks.List(t.Context(), db, 1, o)).Next
	o.Sort.From = time.Unix(2, 0)
	if page := must(tasks.List(t.Context(), db, 1, o)); len(page.Items) != 1 {
		t.Errorf("with another bound: %+v", page)
	}
}
