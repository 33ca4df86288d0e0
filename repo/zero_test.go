package repo_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestZeroID: rows with the id 0, which AUTO_INCREMENT takes for none, leave their table and come back with it,
// by each verb and from the trash, whatever the sql_mode.
func TestZeroID(t *testing.T) {
	for name, mode := range map[string]string{
		"the server's": "@@GLOBAL.sql_mode", "loose": "'NO_BACKSLASH_ESCAPES'", "zero": "'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ANSI_QUOTES'",
	} {
		for _, guarded := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", guarded"}[guarded], func(t *testing.T) { zeroID(t, url.QueryEscape(mode), guarded) })
		}
	}
}

func zeroID(t *testing.T, mode string, guarded bool) {
	dsn, ctx := dbtest.DSN(t, dbtest.Param("sql_mode", mode)), t.Context()
	db := dbtest.OpenDSN(t, dsn)
	if guarded {
		db = must(pool.Open(dsn))
		t.Cleanup(func() { _ = db.Close() })
	}
	makeTables(t, db)
	kept, work := keeping(t, db)
	r := newReposOf(t, kept)
	project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "it's \\"})).Row
	screen := must(r.screens.Create(ctx, db, Screen{ProjectID: project.ID, Filename: "a.png"})).Row
	comment := must(r.comments.Create(ctx, db, Comment{ScreenID: screen.ID, Body: "!"})).Row
	dbtest.Exec(t, db, "UPDATE project SET id = 0")
	dbtest.Exec(t, db, "UPDATE screen SET id = 0, project_id = 0")
	dbtest.Exec(t, db, "UPDATE comment SET id = 0, screen_id = 0")
	project.ID, screen.ID, screen.ProjectID, comment.ID, comment.ScreenID = 0, 0, 0, 0, 0

	there := func(what string, state schema.State) {
		t.Helper()
		got := must(r.projects.Get(ctx, db, 0))
		if got.State != state || got.Name != project.Name || got.CreatedAt != project.CreatedAt {
			t.Errorf("after %s: %+v, was %+v", what, got, project)
		}
		if n := count(t, db, "SELECT (SELECT COUNT(*) FROM project) + (SELECT COUNT(*) FROM project_archive)"); n != 1 {
			t.Errorf("after %s: %d rows", what, n)
		}
	}
	for range 2 {
		must(r.projects.Archive(ctx, db, 0))
		there("archive", schema.Archived)
		must(r.projects.Activate(ctx, db, 0))
		there("activate", schema.Active)
	}
	must(r.projects.Delete(ctx, db, 0, repo.Grace(time.Hour)))
	must(r.projects.CancelDelete(ctx, db, 0))
	there("cancel", schema.Active)
	del := must(r.projects.Delete(ctx, db, 0, repo.Grace(time.Hour)))
	must(repo.Restore(ctx, db, kept, del.DeletionID))
	there("undo", schema.Active)
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		must(r.projects.Archive(ctx, tx, 0))
		must(r.projects.Activate(ctx, tx, 0))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	there("both in a transaction", schema.Active)
	for _, from := range []schema.State{schema.Active, schema.Archived} {
		if from == schema.Archived {
			must(r.screens.Archive(ctx, db, 0))
			must(r.projects.Archive(ctx, db, 0))
		}
		del := must(r.projects.Delete(ctx, db, 0))
		if n := work(); n != 0 {
			t.Fatalf("%d rows are left", n)
		}
		back, p, err := recover.Job(ctx, db, kept, del.JobID, recover.Options{})
		if err != nil || !back.Changed || back.State != from || p.Rows != 3 || p.Stuck > 0 || len(p.Missing) > 0 {
			t.Fatalf("%s: %+v, %+v, %v", from, back, p, err)
		}
		there("the trash", from)
		if got := must(r.screens.Get(ctx, db, 0)); got.ProjectID != 0 || got.State != from || got.Filename != screen.Filename {
			t.Errorf("%+v, was %+v", got, screen)
		}
		if got := must(r.comments.Get(ctx, db, 0)); got != comment {
			t.Errorf("%+v, was %+v", got, comment)
		}
	}
}
