package repo_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// greatID is beyond 2^53, so what passes through a float on the way is found.
const greatID = 1<<62 + 1

// TestListPages: pages of any size give each row once, with great ids too; a hidden row and other owners' are
// in none.
func TestListPages(t *testing.T) {
	for name, first := range map[string]int64{"small ids": 1, "ids beyond 2^31": 1<<31 - 3, "great ids": greatID} {
		t.Run(name, func(t *testing.T) {
			db, ctx := open(t), t.Context()
			p := newRepos(t).projects
			must(db.ExecContext(ctx, fmt.Sprintf("ALTER TABLE project AUTO_INCREMENT = %d", first)))
			want := map[schema.State][]int64{}
			for i := range 12 {
				id := must(p.Create(ctx, db, Project{UserID: int64(1 + i%2), Name: fmt.Sprint("p", i)})).Row.ID
				if id < first {
					t.Fatalf("id %d", id)
				}
				state := schema.Active
				if i%3 == 0 {
					must(p.Archive(ctx, db, id))
					state = schema.Archived
				}
				switch {
				case i > 9:
					must(p.Delete(ctx, db, id, repo.Grace(time.Hour)))
				case i%2 == 0:
					want[state] = append(want[state], id)
				}
			}
			for _, state := range []schema.State{schema.Active, schema.Archived} {
				next := map[int64]repo.Cursor{}
				dbtest.Pages(t, want[state], func(after int64, limit int) (ids []int64) {
					if after != 0 && next[after] == "" { // it said that there is no more
						return nil
					}
					page := must(p.List(ctx, db, 1, repo.PageOptions{State: state, Limit: limit, After: next[after]}))
					for _, row := range page.Items {
						ids = append(ids, row.ID)
					}
					if len(ids) > 0 {
						next[ids[len(ids)-1]] = page.Next
					}
					if page.Next != "" && len(ids) < limit {
						t.Errorf("a short page of %d says that there is more: %v", limit, ids)
					}
					return ids
				})
			}
		})
	}
}

// TestGreatIDs: every verb on rows, parents and owners with ids beyond 2^62.
func TestGreatIDs(t *testing.T) {
	db, ctx := open(t), t.Context()
	r := newRepos(t)
	for _, table := range []string{"project", "screen"} {
		must(db.ExecContext(ctx, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", table, int64(greatID))))
	}
	made := must(r.projects.Create(ctx, db, Project{UserID: greatID, Name: "p"}, repo.RequestID("r"))).Row
	if again := must(r.projects.Create(ctx, db, Project{UserID: greatID, Name: "p"}, repo.RequestID("r"))); !again.Replayed || again.Row.ID != made.ID {
		t.Errorf("replayed %+v of %+v", again, made)
	}
	if made.ID < greatID || made.UserID != greatID || must(r.projects.Find(ctx, db, greatID, "p")).ID != made.ID {
		t.Fatalf("%+v", made)
	}
	screen := must(r.screens.Create(ctx, db, Screen{ProjectID: made.ID, Filename: "s.png"})).Row
	must(r.screens.Archive(ctx, db, screen.ID))
	if got := must(r.screens.Activate(ctx, db, screen.ID)).Row; got != screen {
		t.Errorf("%+v, was %+v", got, screen)
	}
	must(r.projects.Rename(ctx, db, made.ID, "q"))
	must(r.projects.Update(ctx, db, made.ID, func(p *Project) error { p.Note = "n"; return nil }))
	must(r.projects.Archive(ctx, db, made.ID))
	must(r.projects.Activate(ctx, db, made.ID))
	must(r.projects.Delete(ctx, db, made.ID, repo.Grace(time.Hour)))
	if got := must(r.projects.CancelDelete(ctx, db, made.ID)).Row; got.ID != made.ID || got.Name != "q" || got.Note != "n" {
		t.Errorf("it came back as %+v", got)
	}
	must(r.projects.Delete(ctx, db, made.ID))
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_job WHERE resource_id = ?", fmt.Sprint(made.ID)); n != 1 {
		t.Errorf("%d jobs", n)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark WHERE owner <> ?", fmt.Sprint(int64(greatID))); n != 0 {
		t.Errorf("%d marks of other owners", n)
	}
}
