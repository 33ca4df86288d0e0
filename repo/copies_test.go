package repo_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/repo"
)

// TestLastCopyTyped: somebody has typed the last copy number, or the last ones; every verb that gives a free
// name finds one, in as many statements as without.
func TestLastCopyTyped(t *testing.T) {
	for name, tt := range map[string]struct {
		own   string
		typed []string
		want  string // "" where the number is drawn and any will do
		count int    // statements of Activate on a pool
	}{
		"the last":           {"x", []string{"X", "x (Copy 999999)"}, "x (Copy 1)", 7},
		"the last, and some": {"x", []string{"x", "x (Copy 4)", "x (Copy 999999)"}, "x (Copy 5)", 7},
		"the last but one":   {"x", []string{"x", "x (Copy 999998)"}, "x (Copy 999999)", 7},
		"the last two":       {"x", []string{"x", "x (Copy 999998)", "x (Copy 999999)"}, "x (Copy 1)", 12},
		"its own":            {"x (Copy 999999)", []string{"x (Copy 999999)"}, "x (Copy 1)", 7},
		"scattered":          {"x", []string{"x", "x (Copy 1)", "x (Copy 250000)", "x (Copy 500000)", "x (Copy 999998)", "x (Copy 999999)"}, "", 12},
	} {
		t.Run(name, func(t *testing.T) {
			db, c := counted(t)
			p, ctx := newRepos(t).projects, t.Context()
			take := func() {
				for _, typed := range tt.typed {
					must(p.Create(ctx, db, Project{UserID: 1, Name: typed}))
				}
			}
			check := func(verb string, id int64, err error) {
				t.Helper()
				if err != nil {
					t.Errorf("%s: %v", verb, err)
					return
				}
				if got := must(p.Get(ctx, db, id)).Name; tt.want != "" && got != tt.want {
					t.Errorf("%s: the row is %q, want %q", verb, got, tt.want)
				}
				must(db.ExecContext(ctx, "DELETE FROM project"))
			}

			id := must(p.Create(ctx, db, Project{UserID: 1, Name: tt.own})).Row.ID
			must(p.Archive(ctx, db, id))
			take()
			log, err := crashtest.Count(c, func() error { return second(p.Activate(ctx, db, id)) })
			check("activate", id, err)
			if len(log) != tt.count {
				t.Errorf("activate: %d statements, want %d:\n%v", len(log), tt.count, log)
			}

			id = must(p.Create(ctx, db, Project{UserID: 1, Name: tt.own})).Row.ID
			must(p.Archive(ctx, db, id))
			take()
			check("activate, joined", id, onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				return onerow.InTx(ctx, tx, func(ctx context.Context, tx *onerow.Tx) error { return second(p.Activate(ctx, tx, id)) })
			}))

			for _, verb := range []string{"cancel", "restore"} {
				id = must(p.Create(ctx, db, Project{UserID: 1, Name: tt.own})).Row.ID
				del := must(p.Delete(ctx, db, id, repo.Grace(time.Hour)))
				take()
				if verb == "cancel" {
					err = second(p.CancelDelete(ctx, db, id))
				} else {
					err = second(repo.Restore(ctx, db, plan(), del.DeletionID))
				}
				check(verb, id, err)
			}

			id = must(p.Create(ctx, db, Project{UserID: 2, Name: tt.own})).Row.ID
			take()
			check("move", id, second(p.Move(ctx, db, id, func(p *Project) error { p.UserID = 1; return nil })))
		})
	}
}

// TestLastCopyTogether: many rows of one name come back at once beside the last copy.
func TestLastCopyTogether(t *testing.T) {
	db, p, ctx := open(t), newRepos(t).projects, t.Context()
	const rows = 8
	ids := make([]int64, rows)
	for i := range ids {
		ids[i] = must(p.Create(ctx, db, Project{UserID: 1, Name: "x"})).Row.ID
		must(p.Archive(ctx, db, ids[i]))
	}
	for _, name := range []string{"x", "x (Copy 999998)", "x (Copy 999999)"} {
		must(p.Create(ctx, db, Project{UserID: 1, Name: name}))
	}
	errs := make(chan error, rows)
	for _, id := range ids {
		go func() { errs <- second(p.Activate(ctx, db, id)) }()
	}
	for range rows {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	for n := 1; n <= rows; n++ {
		must(p.Find(ctx, db, 1, fmt.Sprintf("x (Copy %d)", n)))
	}
}
