package repo_test

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
)

// counted opens a schema whose statements are counted.
func counted(t testing.TB) (*sql.DB, *crashtest.Connector) {
	t.Helper()
	dsn := dbtest.DSN(t)
	makeTables(t, dbtest.OpenDSN(t, dsn))
	return racetest.Counted(t, dsn)
}

// TestStatements holds the counts that doc.go states.
func TestStatements(t *testing.T) {
	db, c := counted(t)
	r, ctx := newRepos(t), t.Context()
	p := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row
	s := must(r.screens.Create(ctx, db, Screen{ProjectID: p.ID, Filename: "a.png"})).Row
	expect := func(what string, want int, call func() error) {
		t.Helper()
		log, err := crashtest.Count(c, call)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(log) != want {
			t.Errorf("%s: %d statements, doc.go says %d:\n%s", what, len(log), want, log)
		}
	}
	expect("create", 5, func() error { return second(r.projects.Create(ctx, db, Project{UserID: 1, Name: "B"})) })
	expect("create with a request id", 7, func() error {
		return second(r.projects.Create(ctx, db, Project{UserID: 1, Name: "C"}, repo.RequestID("r")))
	})
	expect("create a screen", 4, func() error { return second(r.screens.Create(ctx, db, Screen{ProjectID: p.ID, Filename: "b.png"})) })
	expect("get", 1, func() error { return second(r.projects.Get(ctx, db, p.ID)) })
	expect("find", 1, func() error { return second(r.projects.Find(ctx, db, 1, "a")) })
	expect("list", 1, func() error { return second(r.projects.List(ctx, db, 1, repo.PageOptions{})) })
	tasks := must(repo.New[Task](agenda(), "task"))
	fillTasks(t, db, tasks, 10)
	all := repo.PageOptions{State: repo.AnyState, Where: repo.Where{"status": "open"}, Sort: repo.Sort{Column: "due_at"}, Limit: 1}
	expect("list of both states", 1, func() error { return second(tasks.List(ctx, db, 1, all)) })
	expect("rename", 4, func() error { return second(r.projects.Rename(ctx, db, p.ID, "A2")) })
	expect("update", 5, func() error {
		return second(r.projects.Update(ctx, db, p.ID, func(row *Project) error { row.Note = "x"; return nil }))
	})
	expect("archive", 7, func() error { return second(r.projects.Archive(ctx, db, p.ID)) })
	expect("archive again", 5, func() error { return second(r.projects.Archive(ctx, db, p.ID)) })
	expect("activate", 7, func() error { return second(r.projects.Activate(ctx, db, p.ID)) })
	expect("archive a screen", 7, func() error { return second(r.screens.Archive(ctx, db, s.ID)) })
	expect("delete with grace", 8, func() error { return second(r.projects.Delete(ctx, db, p.ID, repo.Grace(time.Hour))) })
	expect("cancel", 11, func() error { return second(r.projects.CancelDelete(ctx, db, p.ID)) })
	must(r.projects.Archive(ctx, db, p.ID))
	expect("delete an archived row with grace", 7, func() error { return second(r.projects.Delete(ctx, db, p.ID, repo.Grace(time.Hour))) })
	must(r.projects.CancelDelete(ctx, db, p.ID))
	expect("delete an archived row", 7, func() error { return second(r.projects.Delete(ctx, db, p.ID)) })
	p = must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "D"})).Row
	expect("delete", 7, func() error { return second(r.projects.Delete(ctx, db, p.ID)) })
}

// TestRoundTrips holds how many a call takes where statements travel together.
func TestRoundTrips(t *testing.T) {
	dsn := dbtest.DSN(t)
	makeTables(t, dbtest.OpenDSN(t, dsn))
	db, c := racetest.CountedTogether(t, dsn)
	r, ctx := newRepos(t), t.Context()
	p := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row
	s := must(r.screens.Create(ctx, db, Screen{ProjectID: p.ID, Filename: "a.png"})).Row
	expect := func(what string, want int, call func() error) {
		t.Helper()
		racetest.RoundTrips(t, c, what, want, call)
	}
	slim := func(name string, opts ...repo.CreateOption) func() error {
		return func() error { return second(r.slim.Create(ctx, db, Slim{UserID: 1, Name: name}, opts...)) }
	}
	expect("create", 1, slim("B"))
	expect("create, the name taken", 3, func() error {
		if err := slim("B")(); !errors.Is(err, repo.ErrNameTaken) {
			return fmt.Errorf("not taken: %w", err)
		}
		return nil
	})
	expect("create with a request id", 1, slim("C", repo.RequestID("r")))
	expect("create with a request id, again", 6, slim("C", repo.RequestID("r")))
	expect("create, with fields of the database's", 2, func() error { return second(r.projects.Create(ctx, db, Project{UserID: 1, Name: "D"})) })
	expect("create with a request id, with fields of the database's", 4, func() error {
		return second(r.projects.Create(ctx, db, Project{UserID: 1, Name: "E"}, repo.RequestID("s")))
	})
	expect("create a screen", 3, func() error { return second(r.screens.Create(ctx, db, Screen{ProjectID: p.ID, Filename: "b.png"})) })
	expect("get", 1, func() error { return second(r.projects.Get(ctx, db, p.ID)) })
	expect("list", 1, func() error { return second(r.projects.List(ctx, db, 1, repo.PageOptions{})) })
	expect("rename", 3, func() error { return second(r.projects.Rename(ctx, db, p.ID, "A2")) })
	expect("update", 3, func() error {
		return second(r.projects.Update(ctx, db, p.ID, func(row *Project) error { row.Note = "x"; return nil }))
	})
	expect("archive", 3, func() error { return second(r.projects.Archive(ctx, db, p.ID)) })
	expect("activate", 3, func() error { return second(r.projects.Activate(ctx, db, p.ID)) })
	expect("archive a screen", 4, func() error { return second(r.screens.Archive(ctx, db, s.ID)) })
	expect("delete with grace", 5, func() error { return second(r.projects.Delete(ctx, db, p.ID, repo.Grace(time.Hour))) })
	expect("cancel", 7, func() error { return second(r.projects.CancelDelete(ctx, db, p.ID)) })
	expect("delete", 5, func() error { return second(r.projects.Delete(ctx, db, p.ID)) })
}

// TestActivateDoesNotGrow: activating against 1,000 copies takes as many
// statements as against 10.
func TestActivateDoesNotGrow(t *testing.T) {
	counts := map[int]int{}
	for _, copies := range []int{10, 1000} {
		db, c := counted(t)
		p, ctx := newRepos(t).projects, t.Context()
		id := must(p.Create(ctx, db, Project{UserID: 1, Name: "Email Campaign"})).Row.ID
		must(p.Archive(ctx, db, id))
		must(p.Create(ctx, db, Project{UserID: 1, Name: "email campaign"}))
		tx := must(db.BeginTx(ctx, nil))
		for n := 1; n <= copies; n++ {
			must(p.Create(ctx, tx, Project{UserID: 1, Name: fmt.Sprintf("Email Campaign (Copy %d)", n)}))
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		log, err := crashtest.Count(c, func() error { return second(p.Activate(ctx, db, id)) })
		if err != nil {
			t.Fatal(err)
		}
		if row := must(p.Get(ctx, db, id)); row.Name != fmt.Sprintf("Email Campaign (Copy %d)", copies+1) {
			t.Errorf("against %d copies it was renamed to %q", copies, row.Name)
		}
		counts[copies] = len(log)
	}
	if counts[10] != counts[1000] || counts[10] != 7 {
		t.Errorf("statements against 10 and 1,000 copies: %v, doc.go says 12", counts)
	}
}
