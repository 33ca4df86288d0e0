package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
)

// give moves a project to another owner.
func give(user int64) func(*Project) error {
	return func(p *Project) error { p.UserID = user; return nil }
}

// under moves a screen to another project.
func under(project int64) func(*Screen) error {
	return func(s *Screen) error { s.ProjectID = project; return nil }
}

// onScreen moves a comment to another screen.
func onScreen(screen int64) func(*Comment) error {
	return func(c *Comment) error { c.ScreenID = screen; return nil }
}

// TestMove holds what Move says and the statements of doc.go.
func TestMove(t *testing.T) {
	dsn := dbtest.DSN(t)
	makeTables(t, dbtest.OpenDSN(t, dsn))
	db, c := racetest.Counted(t, dsn)
	r, ctx := newRepos(t), t.Context()
	expect := func(what string, want int, call func() error) {
		t.Helper()
		log, err := crashtest.Count(c, call)
		if err != nil || len(log) != want {
			t.Errorf("%s: %d statements, want %d: %v\n%s", what, len(log), want, err, log)
		}
	}
	var res onerow.Result[Project]
	id := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A", Note: "n"})).Row.ID
	dbtest.Exec(t, db, "UPDATE project SET is_over_quota = 1")
	dbtest.Exec(t, db, "DELETE FROM onerow_quota_mark")
	expect("give", 7, func() (err error) {
		res, err = r.projects.Move(ctx, db, id, func(p *Project) error { p.UserID, p.Note, p.Name = 2, "lost", "lost"; return nil })
		return err
	})
	if got := res.Row; !res.Changed || got.UserID != 2 || got.Name != "A" || got.Note != "n" || got.IsOverQuota || got.Version != 2 {
		t.Errorf("given: %+v", res)
	}
	if marks := count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark WHERE resource = 'project' AND owner IN ('1', '2')"); marks != 2 {
		t.Errorf("%d marks", marks)
	}
	expect("give again", 3, func() (err error) {
		res, err = r.projects.Move(ctx, db, id, give(2))
		return err
	})
	if res.Changed || res.Row.Version != 2 {
		t.Errorf("given again: %+v", res)
	}
	for n := range 5 {
		must(r.projects.Create(ctx, db, Project{UserID: 3, Name: fmt.Sprintf("a (Copy %d)", n+1)}))
	}
	must(r.projects.Create(ctx, db, Project{UserID: 3, Name: "a"}))
	expect("give beside its name", 12, func() (err error) {
		res, err = r.projects.Move(ctx, db, id, give(3))
		return err
	})
	if got := must(r.projects.Find(ctx, db, 3, "A (Copy 6)")); got.ID != id || res.Row.Name != "A (Copy 6)" || !res.Changed {
		t.Errorf("renamed: %+v, found %+v", res, got)
	}

	other := must(r.projects.Create(ctx, db, Project{UserID: 2, Name: "B"})).Row.ID
	screen := must(r.screens.Create(ctx, db, Screen{ProjectID: id, Filename: "s.png"})).Row.ID
	comment := must(r.comments.Create(ctx, db, Comment{ScreenID: screen, Body: "b"})).Row.ID
	expect("move a screen", 8, func() error { return second(r.screens.Move(ctx, db, screen, under(other))) })
	taken := must(r.screens.Create(ctx, db, Screen{ProjectID: id, Filename: "s@2x.jpg"})).Row.ID
	expect("move a screen beside its name", 16, func() error { return second(r.screens.Move(ctx, db, screen, under(id))) })
	if got := must(r.screens.Get(ctx, db, screen)); got.Filename != "s (Copy 1).png" || got.ProjectID != id {
		t.Errorf("renamed: %+v", got)
	}
	expect("move a comment", 9, func() error { return second(r.comments.Move(ctx, db, comment, onScreen(taken))) })
	must(r.screens.Move(ctx, db, screen, under(other)))
	expect("move a comment to another project", 10, func() error { return second(r.comments.Move(ctx, db, comment, onScreen(screen))) })
	if got := must(r.comments.Get(ctx, db, comment)); got.ScreenID != screen || got.Body != "b" {
		t.Errorf("moved: %+v", got)
	}
	asked := 0 // whether the server is in a group, on a pool without the guard
	if version := dbtest.Scan[string](t, db, "SELECT VERSION()"); !strings.Contains(version, "MariaDB") {
		asked = 1
	}
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		expect("give, joined", 6+asked, func() error { return second(r.projects.Move(ctx, tx, id, give(4))) })
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestMoveRefused: what is not moved has its name, and nothing is written.
func TestMoveRefused(t *testing.T) {
	db, r, ctx := open(t), newRepos(t), t.Context()
	project := func(user int64, name string) int64 {
		return must(r.projects.Create(ctx, db, Project{UserID: user, Name: name})).Row.ID
	}
	code := int64(5)
	a, b := project(1, "a"), project(1, "b")
	coded := must(r.projects.Create(ctx, db, Project{UserID: 2, Name: "c", Code: &code})).Row.ID
	must(r.projects.Update(ctx, db, a, func(p *Project) error { p.Code = &code; return nil }))
	archived, hidden, gone := project(1, "d"), project(1, "e"), project(1, "f")
	screen := must(r.screens.Create(ctx, db, Screen{ProjectID: a, Filename: "s.png"})).Row.ID
	below := map[int64]int64{}
	for _, p := range []int64{archived, hidden, gone} {
		below[p] = must(r.screens.Create(ctx, db, Screen{ProjectID: p, Filename: "s.png"})).Row.ID
	}
	onGone := must(r.comments.Create(ctx, db, Comment{ScreenID: below[gone], Body: "b"})).Row.ID
	comment := must(r.comments.Create(ctx, db, Comment{ScreenID: screen, Body: "b"})).Row.ID
	must(r.projects.Archive(ctx, db, archived))
	must(r.projects.Delete(ctx, db, hidden, repo.Grace(time.Hour)))
	must(r.projects.Delete(ctx, db, gone))
	errMine := errors.New("not this one")
	before := dump(t, db)
	for name, c := range map[string]struct {
		err  error
		want error
		not  error
	}{
		"an archived row":              {second(r.projects.Move(ctx, db, archived, give(2))), repo.ErrNotActive, nil},
		"a hidden row":                 {second(r.projects.Move(ctx, db, hidden, give(2))), onerow.ErrNotFound, nil},
		"a row that is gone":           {second(r.projects.Move(ctx, db, gone, give(2))), onerow.ErrNotFound, nil},
		"a row that has never been":    {second(r.projects.Move(ctx, db, 1<<40, give(2))), onerow.ErrNotFound, nil},
		"the caller's error":           {second(r.projects.Move(ctx, db, a, func(*Project) error { return errMine })), errMine, nil},
		"below nothing":                {second(r.screens.Move(ctx, db, screen, under(1<<40))), repo.ErrParentNotFound, repo.ErrParentArchived},
		"below an archived row":        {second(r.screens.Move(ctx, db, screen, under(archived))), repo.ErrParentArchived, repo.ErrBeingDeleted},
		"below a hidden row":           {second(r.screens.Move(ctx, db, screen, under(hidden))), repo.ErrParentNotFound, repo.ErrParentArchived},
		"below a row that is gone":     {second(r.screens.Move(ctx, db, screen, under(gone))), repo.ErrParentNotFound, repo.ErrBeingDeleted},
		"from below a hidden row":      {second(r.screens.Move(ctx, db, below[hidden], under(a))), repo.ErrBeingDeleted, nil},
		"from below one that is gone":  {second(r.screens.Move(ctx, db, below[gone], under(a))), repo.ErrBeingDeleted, nil},
		"from further below":           {second(r.comments.Move(ctx, db, onGone, onScreen(screen))), repo.ErrBeingDeleted, nil},
		"to further below":             {second(r.comments.Move(ctx, db, comment, onScreen(below[gone]))), repo.ErrParentNotFound, repo.ErrBeingDeleted},
		"a value of another index":     {second(r.projects.Move(ctx, db, a, give(2))), repo.ErrConflict, nil},
		"another's, of a scoped owner": {second(r.projects.OwnedBy(2).Move(ctx, db, b, give(2))), onerow.ErrNotFound, nil},
		"to another, of a scoped one":  {second(r.projects.OwnedBy(1).Move(ctx, db, b, give(2))), repo.ErrOtherOwner, nil},
		"to another parent and owner":  {second(r.screens.OwnedBy(a).Move(ctx, db, screen, under(b))), repo.ErrOtherOwner, nil},
	} {
		if !errors.Is(c.err, c.want) || c.not != nil && errors.Is(c.err, c.not) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	var conflict *repo.ConflictError
	if err := second(r.projects.Move(ctx, db, a, give(2))); !errors.As(err, &conflict) || conflict.HolderID != coded || !slices.Equal(conflict.Columns, []string{"user_id", "code"}) {
		t.Errorf("a value of another index: %v", err)
	}
	if after := dump(t, db); after != before {
		t.Errorf("something was written:\n%s\nbefore:\n%s", after, before)
	}
	if res := must(r.screens.Move(ctx, db, below[archived], under(a))); res.Row.Filename != "s (Copy 1).png" {
		t.Errorf("from below an archived row: %+v", res)
	}
	must(r.projects.CancelDelete(ctx, db, hidden))
	must(r.screens.Move(ctx, db, below[hidden], under(b)))
}

// dump is what the tables of rows hold.
func dump(t testing.TB, db *sql.DB) (text string) {
	t.Helper()
	for _, query := range []string{
		"SELECT CONCAT_WS(' ', 'project', id, user_id, name, version) FROM project", "SELECT CONCAT_WS(' ', 'archived', id, user_id, name, version) FROM project_archive",
		"SELECT CONCAT_WS(' ', 'screen', id, project_id, client_filename, version) FROM screen", "SELECT CONCAT_WS(' ', 'comment', id, screen_id, version) FROM comment",
		"SELECT CONCAT(COUNT(*), ' marks') FROM onerow_quota_mark",
	} {
		err := onerow.Query(t.Context(), db, query+" ORDER BY 1", nil, func(rows *sql.Rows) error {
			var line string
			err := rows.Scan(&line)
			text += line + "\n"
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return text
}

// TestMoveOfOperators: nothing is moved out of, or into, what an operator has queued, although nothing hides it.
func TestMoveOfOperators(t *testing.T) {
	db, r, ctx := open(t), newRepos(t), t.Context()
	a, b := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "a"})).Row.ID, must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "b"})).Row.ID
	screen := must(r.screens.Create(ctx, db, Screen{ProjectID: a, Filename: "a.png"})).Row.ID
	other := must(r.screens.Create(ctx, db, Screen{ProjectID: b, Filename: "b.png"})).Row.ID
	comment := must(r.comments.Create(ctx, db, Comment{ScreenID: screen, Body: "b"})).Row.ID
	for resource, id := range map[string]int64{"project": a, "screen": screen, "comment": comment} {
		d := queue.Deletion{Resource: resource, ResourceID: must(onerow.EncodeKey(id)), From: queue.FromOperator, Grace: time.Hour}
		d.ID = must(queue.Log(ctx, db, d))
		must(queue.Enqueue(ctx, db, d))
		if _, err := r.comments.Move(ctx, db, comment, onScreen(other)); !errors.Is(err, repo.ErrBeingDeleted) {
			t.Errorf("below %s %d: %v", resource, id, err)
		}
		if resource == "project" {
			if _, err := r.screens.Move(ctx, db, other, under(a)); !errors.Is(err, repo.ErrBeingDeleted) {
				t.Errorf("to below %s %d: %v", resource, id, err)
			}
		}
		if err := queue.Cancel(ctx, db, resource, d.ResourceID, d.ID); err != nil {
			t.Fatal(err)
		}
	}
	must(r.comments.Move(ctx, db, comment, onScreen(other)))
}
