package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// settings are the drivers' settings under which every verb must do the same.
var settings = map[string][]dbtest.Option{
	"recommended":         nil,
	"clientFoundRows":     {dbtest.Param("clientFoundRows", "true")},
	"prepared statements": {dbtest.Param("interpolateParams", "false")},
	"text times":          {dbtest.Param("parseTime", "false")},
	"local times":         {dbtest.Param("parseTime", "true"), dbtest.Param("loc", "America%2FLos_Angeles"), dbtest.Param("time_zone", "%27%2B05%3A30%27")},
	"repeatable read":     {dbtest.Isolation(sql.LevelRepeatableRead)},
}

// TestLife leads a project through all states, under all settings, on a pool and
// inside a caller's transaction.
func TestLife(t *testing.T) {
	for name, opts := range settings {
		t.Run(name, func(t *testing.T) {
			db := open(t, opts...)
			r := newRepos(t)
			t.Run("pool", func(t *testing.T) { life(t, r, db, 7) })
			t.Run("sqlx", func(t *testing.T) { life(t, r, sqlx.NewDb(db, "mysql"), 8) })
			t.Run("joined", func(t *testing.T) {
				tx := must(db.BeginTx(t.Context(), nil))
				life(t, r, tx, 9)
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
			})
			t.Run("InTx", func(t *testing.T) {
				err := onerow.InTx(t.Context(), db, func(_ context.Context, tx *onerow.Tx) error {
					life(t, r, tx, 10)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			})
			if n := count(t, db, "SELECT COUNT(*) FROM onerow_deletion WHERE owner = '9'"); n != 3 {
				t.Errorf("the joined transaction logged %d deletions, want 3", n)
			}
		})
	}
}

func life(t *testing.T, r repos, db onerow.DB, owner int64) {
	t.Helper()
	ctx, p := t.Context(), r.projects
	due := time.Date(2031, 3, 4, 5, 6, 7, 891011000, time.FixedZone("x", 3600))
	made := must(p.Create(ctx, db, Project{UserID: owner, Name: "  Email  Campaign ", Note: "n", Due: &due}))
	if !made.Changed || made.Replayed || made.Row.ID == 0 || made.Row.State != schema.Active || made.Row.Version != 1 {
		t.Fatalf("created: %+v", made)
	}
	id := made.Row.ID
	got := must(p.Get(ctx, db, id))
	if got.Due == nil || !got.Due.Equal(due) {
		t.Errorf("due = %v, want %v", got.Due, due)
	}
	if age := time.Since(got.CreatedAt); age < -time.Minute || age > time.Minute {
		t.Errorf("created_at = %v, %v ago", got.CreatedAt, age)
	}
	if found := must(p.Find(ctx, db, owner, "EMAIL campaign")); found.ID != id {
		t.Errorf("found %d, want %d", found.ID, id)
	}
	_, err := p.Create(ctx, db, Project{UserID: owner, Name: "ｅmail CAMPAIGN"})
	var taken *repo.NameTakenError
	if !errors.Is(err, repo.ErrNameTaken) || !errors.As(err, &taken) || taken.ID != id {
		t.Errorf("second create: %v", err)
	}
	if res := must(p.Update(ctx, db, id, func(row *Project) error { row.Note = "changed"; row.Version = 99; return nil })); !res.Changed || res.Row.Note != "changed" || res.Row.Version != 2 {
		t.Errorf("updated: %+v", res)
	}
	if res := must(p.Update(ctx, db, id, func(*Project) error { return nil })); res.Changed {
		t.Errorf("an update of nothing changed something: %+v", res)
	}
	if res := must(p.Rename(ctx, db, id, "Mail")); res.Row.Name != "Mail" || !res.Changed {
		t.Errorf("renamed: %+v", res)
	}
	if res := must(p.Rename(ctx, db, id, "Mail")); res.Changed {
		t.Errorf("renaming to the same name changed something: %+v", res)
	}
	if res := must(p.Rename(ctx, db, id, "MAIL")); !res.Changed || res.Row.Name != "MAIL" {
		t.Errorf("another spelling of its own name: %+v", res)
	}
	if res := must(p.Archive(ctx, db, id)); !res.Changed || res.Row.State != schema.Archived || res.Row.ID != id || res.Row.Note != "changed" {
		t.Errorf("archived: %+v", res)
	}
	if res := must(p.Archive(ctx, db, id)); res.Changed || res.Row.State != schema.Archived {
		t.Errorf("archived again: %+v", res)
	}
	if _, err := p.Rename(ctx, db, id, "x"); !errors.Is(err, repo.ErrNotActive) {
		t.Errorf("renaming an archived row: %v", err)
	}
	other := must(p.Create(ctx, db, Project{UserID: owner, Name: "mail"}))
	if res := must(p.Activate(ctx, db, id)); !res.Changed || res.Row.Name != "MAIL (Copy 1)" || res.Row.State != schema.Active {
		t.Errorf("activated: %+v", res)
	}
	if res := must(p.Activate(ctx, db, id)); res.Changed || res.Row.Name != "MAIL (Copy 1)" {
		t.Errorf("activated again: %+v", res)
	}
	deleteAndUndo(t, r, db, id)
	del := must(p.Delete(ctx, db, id))
	again := must(p.Delete(ctx, db, id))
	if !del.Changed || del.JobID == 0 || again.Changed || again.JobID != del.JobID {
		t.Errorf("deleted: %+v, again: %+v", del, again)
	}
	if _, err := p.Get(ctx, db, id); !errors.Is(err, onerow.ErrNotFound) {
		t.Errorf("get after delete: %v", err)
	}
	for verb, err := range map[string]error{
		"archive":  second(p.Archive(ctx, db, id)),
		"activate": second(p.Activate(ctx, db, id)),
		"rename":   second(p.Rename(ctx, db, id, "y")),
		"update":   second(p.Update(ctx, db, id, func(*Project) error { return nil })),
	} {
		if !errors.Is(err, onerow.ErrNotFound) {
			t.Errorf("%s after delete: %v", verb, err)
		}
	}
	if _, err := p.CancelDelete(ctx, db, id); !errors.Is(err, repo.ErrTooLate) {
		t.Errorf("cancelling a delete without grace: %v", err)
	}
	if res := must(p.Delete(ctx, db, 1<<40)); res.Changed || res.JobID != 0 {
		t.Errorf("deleting what never was: %+v", res)
	}
	page := must(p.List(ctx, db, owner, repo.PageOptions{}))
	if len(page.Items) != 1 || page.Items[0].ID != other.Row.ID || page.Next != "" {
		t.Errorf("list: %+v", page)
	}
}

func second[T any](_ T, err error) error { return err }

// deleteAndUndo deletes an active and an archived project with a grace period and
// takes it back.
func deleteAndUndo(t *testing.T, r repos, db onerow.DB, id int64) {
	t.Helper()
	ctx, p := t.Context(), r.projects
	name := must(p.Get(ctx, db, id)).Name
	del := must(p.Delete(ctx, db, id, repo.Grace(time.Hour)))
	if !del.Changed || del.JobID == 0 || del.Row.Name != name {
		t.Errorf("deleted with grace: %+v", del)
	}
	if _, err := p.Get(ctx, db, id); !errors.Is(err, onerow.ErrNotFound) {
		t.Errorf("get while hidden: %v", err)
	}
	again := must(p.Delete(ctx, db, id, repo.Grace(2*time.Hour)))
	if again.JobID != del.JobID || again.DeletionID != del.DeletionID || again.Changed {
		t.Errorf("deleted again: %+v, before %+v", again, del)
	}
	if res := must(p.CancelDelete(ctx, db, id)); !res.Changed || res.Row.Name != name || res.Row.State != schema.Active {
		t.Errorf("cancelled: %+v", res)
	}
	if res := must(p.CancelDelete(ctx, db, id)); res.Changed || res.Row.State != schema.Active {
		t.Errorf("cancelled again: %+v", res)
	}
	must(p.Archive(ctx, db, id))
	must(p.Delete(ctx, db, id, repo.Grace(time.Hour)))
	if _, err := p.Activate(ctx, db, id); !errors.Is(err, onerow.ErrNotFound) {
		t.Errorf("activating a hidden row: %v", err)
	}
	if res := must(p.CancelDelete(ctx, db, id)); !res.Changed || res.Row.State != schema.Archived {
		t.Errorf("cancelled, archived before: %+v", res)
	}
	must(p.Activate(ctx, db, id))
}

func TestRequestID(t *testing.T) {
	db := open(t)
	p, ctx := newRepos(t).projects, t.Context()
	first := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"}, repo.RequestID("r1")))
	replay := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"}, repo.RequestID("r1")))
	if !replay.Replayed || replay.Changed || replay.Row.ID != first.Row.ID || first.Replayed {
		t.Errorf("first %+v, replay %+v", first, replay)
	}
	if _, err := p.Create(ctx, db, Project{UserID: 1, Name: "A", Note: "other"}, repo.RequestID("r1")); !errors.Is(err, repo.ErrRequestMismatch) {
		t.Errorf("another payload: %v", err)
	}
	other := must(p.Create(ctx, db, Project{UserID: 2, Name: "A"}, repo.RequestID("r1")))
	if other.Replayed {
		t.Error("another owner's request id was replayed")
	}
	must(p.Archive(ctx, db, first.Row.ID))
	if res := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"}, repo.RequestID("r1"))); !res.Replayed || res.Row.State != schema.Archived {
		t.Errorf("replay of an archived row: %+v", res)
	}
	must(p.Delete(ctx, db, first.Row.ID))
	if _, err := p.Create(ctx, db, Project{UserID: 1, Name: "A"}, repo.RequestID("r1")); !errors.Is(err, repo.ErrGone) {
		t.Errorf("replay of a deleted row: %v", err)
	}
	must(p.Create(ctx, db, Project{UserID: 1, Name: "B"}, repo.RequestID("")))
	if _, err := p.Create(ctx, db, Project{UserID: 1, Name: "C"}, repo.RequestID(strings.Repeat("x", 256))); !errors.Is(err, onerow.ErrInvalidKey) {
		t.Errorf("a request id of 256 bytes: %v", err)
	}
	// A refused create leaves no record, in a joined transaction neither: the id
	// can be used again with another name.
	must(p.Create(ctx, db, Project{UserID: 3, Name: "taken"}))
	tx := must(db.BeginTx(ctx, nil))
	if _, err := p.Create(ctx, tx, Project{UserID: 3, Name: "taken"}, repo.RequestID("r2")); !errors.Is(err, repo.ErrNameTaken) {
		t.Errorf("taken: %v", err)
	}
	if res := must(p.Create(ctx, tx, Project{UserID: 3, Name: "free"}, repo.RequestID("r2"))); res.Replayed {
		t.Errorf("%+v", res)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestList(t *testing.T) {
	db := open(t)
	p, ctx := newRepos(t).projects, t.Context()
	for i := range 25 {
		row := must(p.Create(ctx, db, Project{UserID: 1, Name: fmt.Sprint("p", i)})).Row
		if i%5 == 0 {
			must(p.Archive(ctx, db, row.ID))
		}
	}
	for state, want := range map[schema.State]int{schema.Active: 20, schema.Archived: 5} {
		var seen []int64
		for after := repo.Cursor(""); ; {
			page := must(p.List(ctx, db, 1, repo.PageOptions{State: state, Limit: 3, After: after}))
			for _, row := range page.Items {
				if row.State != state || len(seen) > 0 && row.ID <= seen[len(seen)-1] {
					t.Fatalf("row %+v after %v", row, seen)
				}
				seen = append(seen, row.ID)
			}
			if after = page.Next; after == "" {
				break
			}
		}
		if len(seen) != want {
			t.Errorf("%s: %d rows, want %d", state, len(seen), want)
		}
	}
	for _, bad := range []repo.Cursor{"x", "'a", "1,2", "0x01", "007", "1 OR 1=1"} {
		if _, err := p.List(ctx, db, 1, repo.PageOptions{After: bad}); !errors.Is(err, repo.ErrInvalidCursor) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
	if _, err := p.List(ctx, db, 1, repo.PageOptions{State: "trash"}); !errors.Is(err, repo.ErrUnsupported) {
		t.Errorf("state: %v", err)
	}
}

// TestOtherUniqueIndex: a unique index of the application's own is not mistaken
// for the name.
func TestOtherUniqueIndex(t *testing.T) {
	db := open(t)
	p, ctx := newRepos(t).projects, t.Context()
	code := int64(5)
	must(p.Create(ctx, db, Project{UserID: 1, Name: "A", Code: &code}))
	b := must(p.Create(ctx, db, Project{UserID: 1, Name: "B"}))
	var conflict *repo.ConflictError
	if _, err := p.Create(ctx, db, Project{UserID: 1, Name: "C", Code: &code}); !errors.As(err, &conflict) || conflict.Err == nil {
		t.Errorf("create: %v", err)
	}
	if _, err := p.Create(ctx, db, Project{UserID: 1, Name: "C", Code: &code}, repo.RequestID("r")); !errors.Is(err, repo.ErrConflict) {
		t.Errorf("create with a request id: %v", err)
	}
	if _, err := p.Update(ctx, db, b.Row.ID, func(row *Project) error { row.Code = &code; return nil }); !errors.Is(err, repo.ErrConflict) {
		t.Errorf("update: %v", err)
	}
	if _, err := p.Update(ctx, db, b.Row.ID, func(row *Project) error { row.Name = "a"; return nil }); !errors.Is(err, repo.ErrNameTaken) {
		t.Errorf("update of the name: %v", err)
	}
}

func TestChildren(t *testing.T) {
	db := open(t)
	r, ctx := newRepos(t), t.Context()
	project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "P"})).Row
	screen := must(r.screens.Create(ctx, db, Screen{ProjectID: project.ID, Filename: "home@2x.png", BlobKey: "k"})).Row
	must(r.comments.Create(ctx, db, Comment{ScreenID: screen.ID, Body: "hi"}))
	if found := must(r.screens.Find(ctx, db, project.ID, "HOME.jpg")); found.ID != screen.ID {
		t.Errorf("found %+v", found)
	}
	if _, err := r.screens.Create(ctx, db, Screen{ProjectID: project.ID, Filename: "home.gif"}); !errors.Is(err, repo.ErrNameTaken) {
		t.Errorf("another density: %v", err)
	}
	must(r.projects.Archive(ctx, db, project.ID))
	if _, err := r.screens.Create(ctx, db, Screen{ProjectID: project.ID, Filename: "b.png"}); !errors.Is(err, repo.ErrParentNotFound) {
		t.Errorf("a child of an archived row: %v", err)
	}
	must(r.screens.Archive(ctx, db, screen.ID)) // moves under an archived parent are fine
	must(r.screens.Activate(ctx, db, screen.ID))
	del := must(r.screens.Delete(ctx, db, screen.ID)) // has an asset: stays, hidden, until the cascade is done
	if n := count(t, db, "SELECT COUNT(*) FROM screen_archive WHERE id = ? AND deletion_id = ?", screen.ID, del.DeletionID); n != 1 {
		t.Errorf("%d hidden rows", n)
	}
	must(r.projects.Delete(ctx, db, project.ID))
	if _, err := r.screens.CancelDelete(ctx, db, screen.ID); !errors.Is(err, repo.ErrTooLate) && !errors.Is(err, repo.ErrParentNotFound) {
		t.Errorf("bringing a screen back below a deleted project: %v", err)
	}
	if _, err := r.comments.Archive(ctx, db, 1); !errors.Is(err, repo.ErrUnsupported) {
		t.Errorf("archiving what has no archive: %v", err)
	}
	if _, err := r.comments.Delete(ctx, db, 1, repo.Grace(time.Second)); !errors.Is(err, repo.ErrUnsupported) {
		t.Errorf("grace without an archive: %v", err)
	}
}

func TestNew(t *testing.T) {
	type noID struct {
		UserID int64  `db:"user_id"`
		Name   string `db:"name"`
	}
	type badType struct {
		ID     string `db:"id"`
		UserID int64  `db:"user_id"`
		Name   string `db:"name"`
	}
	type unknown struct {
		ID     int64  `db:"id"`
		UserID int64  `db:"user_id"`
		Name   string `db:"name"`
		Color  string `db:"color"`
	}
	_, e1 := repo.New[noID](plan(), "project")
	_, e2 := repo.New[badType](plan(), "project")
	_, e3 := repo.New[unknown](plan(), "project")
	_, e4 := repo.New[Project](plan(), "projects")
	_, e5 := repo.New[int](plan(), "project")
	for want, err := range map[string]error{
		"no field": e1, "does not fit an integer column": e2, `"color"`: e3, "unknown resource": e4, "not a struct": e5,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
