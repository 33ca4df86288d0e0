package repo_test

import (
	"strings"
	"testing"

	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// A refusal names each package once, however deep it comes from.
func TestErrorsNamePackageOnce(t *testing.T) {
	db, r, ctx := open(t), newRepos(t), t.Context()
	project := func(name string) Project { return Project{UserID: 1, Name: name} }
	one := must(r.projects.Create(ctx, db, project("one"), repo.RequestID("1"))).Row.ID
	two := must(r.projects.Create(ctx, db, project("two"))).Row.ID
	gone := must(r.projects.Create(ctx, db, project("gone"), repo.RequestID("2"))).Row.ID
	must(r.projects.Archive(ctx, db, two))
	deleted := must(r.projects.Delete(ctx, db, gone))
	_, _, job := repo.CancelJob(ctx, db, plan(), 99)
	rename := func(name string) error { return second(r.projects.Rename(ctx, db, one, name)) }
	list := func(o repo.PageOptions) error { return second(r.projects.List(ctx, db, 1, o)) }
	nothing := func(*Project) error { return nil }
	names := []string{"repo: ", "onerow: ", "names: ", "queue: ", "schema: "}
	for what, err := range map[string]error{
		"a name that is taken":        second(r.projects.Create(ctx, db, project("ONE"))),
		"no name":                     second(r.projects.Create(ctx, db, project(" "))),
		"another payload":             second(r.projects.Create(ctx, db, project("other"), repo.RequestID("1"))),
		"a request whose row is gone": second(r.projects.Create(ctx, db, project("gone"), repo.RequestID("2"))),
		"a long request id":           second(r.projects.Create(ctx, db, project("three"), repo.RequestID(strings.Repeat("x", 256)))),
		"another owner":               second(r.projects.OwnedBy(2).Create(ctx, db, project("three"))),
		"no parent":                   second(r.screens.Create(ctx, db, Screen{ProjectID: 99, Filename: "a.png"})),
		"no row":                      second(r.projects.Get(ctx, db, 99)),
		"a key that is none":          second(r.projects.Get(ctx, db, -1)),
		"rename to nothing":           rename(""),
		"rename what is archived":     second(r.projects.Rename(ctx, db, two, "x")),
		"update what is archived":     second(r.projects.Update(ctx, db, two, nothing)),
		"move what is gone":           second(r.projects.Move(ctx, db, gone, nothing)),
		"archive what is gone":        second(r.projects.Archive(ctx, db, gone)),
		"no archive":                  second(r.comments.Archive(ctx, db, 1)),
		"a deletion that is too late": second(r.projects.CancelDelete(ctx, db, gone)),
		"no deletion":                 second(repo.Restore(ctx, db, plan(), 99)),
		"an old deletion":             second(repo.Restore(ctx, db, plan(), deleted.DeletionID+1)),
		"no job":                      job,
		"no index":                    list(repo.PageOptions{Sort: repo.Sort{Column: "due"}}),
		"no column":                   list(repo.PageOptions{Sort: repo.Sort{Column: "nothing"}}),
		"no value":                    list(repo.PageOptions{Where: repo.Where{"code": "x"}}),
		"no cursor":                   list(repo.PageOptions{After: "x"}),
		"a state that is none":        list(repo.PageOptions{State: "x"}),
		"an unknown resource":         second(repo.New[Project](plan(), "nothing")),
		"an invalid plan":             second(repo.New[Project](schema.Plan{Resources: []schema.Resource{{}}}, "project")),
		"a purge of nothing":          second(repo.PurgeRequests(ctx, db, 0, 0)),
	} {
		for _, name := range names {
			if err == nil || strings.Count(err.Error(), name) > 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
