package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
)

// noAssets has nothing to delete: these screens name no asset.
type noAssets struct{}

func (noAssets) Delete(context.Context, []string) error { return nil }

// TestNoChildBelowADeletedParent: screens are made and moved while their project is deleted and
// the worker is at it. An acknowledged child is older than the deletion, and goes with it.
func TestNoChildBelowADeletedParent(t *testing.T) { bothPlans(t, noChildBelowADeletedParent) }

func noChildBelowADeletedParent(t *testing.T, db *sql.DB, r repos) {
	worker, err := cascade.NewWorker(db, plan(), cascade.Config{Assets: noAssets{}})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 10 {
		project := must(r.projects.Create(t.Context(), db, Project{UserID: 1, Name: fmt.Sprint("p", round)})).Row
		g, ctx := errgroup.WithContext(t.Context()) // who fails ends the others
		for i := range 8 {
			g.Go(func() error {
				for n := 0; ; n++ {
					res, err := r.screens.Create(ctx, db, Screen{ProjectID: project.ID, Filename: fmt.Sprintf("s%d-%d.png", i, n)})
					if errors.Is(err, repo.ErrParentNotFound) {
						return nil
					}
					if err != nil {
						return err
					}
					_, err = r.screens.Archive(ctx, db, res.Row.ID)
					if err != nil && !errors.Is(err, repo.ErrParentNotFound) && !errors.Is(err, onerow.ErrNotFound) { // the worker had it first
						return err
					}
				}
			})
		}
		dbtest.Eventually(t, time.Minute, func() (bool, string) {
			return count(t, db, "SELECT COUNT(*) FROM screen_archive WHERE project_id = ?", project.ID) > 4, "no screens yet"
		})
		if _, err := r.projects.Delete(ctx, db, project.ID); err != nil {
			t.Fatal(err)
		}
		if err := worker.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if left := count(t, db, "SELECT (SELECT COUNT(*) FROM screen) + (SELECT COUNT(*) FROM screen_archive)"); left > 0 {
			t.Fatalf("%d screens are left below nothing", left)
		}
	}
}

// TestChildOfAHiddenParent: below a parent that a deletion hides a child neither moves nor comes, as if the
// parent were gone; below one that is merely archived it moves.
func TestChildOfAHiddenParent(t *testing.T) { bothPlans(t, childOfAHiddenParent) }

func childOfAHiddenParent(t *testing.T, db *sql.DB, r repos) {
	ctx := t.Context()
	project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "p"})).Row.ID
	active := must(r.screens.Create(ctx, db, Screen{ProjectID: project, Filename: "a.png"})).Row.ID
	archived := must(r.screens.Create(ctx, db, Screen{ProjectID: project, Filename: "b.png"})).Row.ID
	must(r.screens.Archive(ctx, db, archived))
	try := func(what string, want error) {
		t.Helper()
		for _, id := range []int64{active, archived} {
			for verb, move := range map[string]func(context.Context, onerow.DB, int64) error{
				"archive": func(ctx context.Context, db onerow.DB, id int64) error {
					_, err := r.screens.Archive(ctx, db, id)
					return err
				},
				"activate": func(ctx context.Context, db onerow.DB, id int64) error {
					_, err := r.screens.Activate(ctx, db, id)
					return err
				},
			} {
				if stays := (id == active) == (verb == "activate"); stays {
					continue
				}
				err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
					return errors.Join(move(ctx, tx, id), errTakenBack)
				})
				if !errors.Is(err, errTakenBack) || errors.Is(err, repo.ErrParentNotFound) != (want != nil) {
					t.Errorf("%s, %s of %d: %v", what, verb, id, err)
				}
			}
		}
	}
	try("an active parent", nil)
	must(r.projects.Archive(ctx, db, project))
	try("an archived parent", nil)
	must(r.projects.Delete(ctx, db, project, repo.Grace(time.Hour)))
	try("a hidden parent", repo.ErrParentNotFound)
	if _, err := r.screens.Create(ctx, db, Screen{ProjectID: project, Filename: "c.png"}); !errors.Is(err, repo.ErrParentNotFound) {
		t.Errorf("a new child of a hidden parent: %v", err)
	}
	must(r.projects.CancelDelete(ctx, db, project))
	try("a parent that came back", nil)
}

// errTakenBack rolls back what was tried.
var errTakenBack = errors.New("only tried")

// TestChildLocksItsParent: until the transaction ends that makes or moves a child, nobody can
// lock the row above, as whoever deletes it does first.
func TestChildLocksItsParent(t *testing.T) { bothPlans(t, childLocksItsParent) }

func childLocksItsParent(t *testing.T, db *sql.DB, r repos) {
	ctx := t.Context()
	project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "p"})).Row.ID
	screen := must(r.screens.Create(ctx, db, Screen{ProjectID: project, Filename: "s.png"})).Row.ID
	move := func(ctx context.Context, tx *onerow.Tx) error {
		_, err := r.screens.Archive(ctx, tx, screen)
		return err
	}
	for _, c := range []struct {
		name, table string
		before      func() error
		call        func(ctx context.Context, tx *onerow.Tx) error
	}{
		{"create", "project", nil, func(ctx context.Context, tx *onerow.Tx) error {
			_, err := r.screens.Create(ctx, tx, Screen{ProjectID: project, Filename: "t.png"})
			return err
		}},
		{"create with a request id", "project", nil, func(ctx context.Context, tx *onerow.Tx) error {
			_, err := r.screens.Create(ctx, tx, Screen{ProjectID: project, Filename: "u.png"}, repo.RequestID("u"))
			return err
		}},
		{"archive", "project", nil, move},
		{"archive below an archived one", "project_archive", func() error {
			_, err := r.projects.Archive(ctx, db, project)
			return err
		}, move},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.before != nil {
				if err := c.before(); err != nil {
					t.Fatal(err)
				}
			}
			err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				if err := c.call(ctx, tx); err != nil {
					return err
				}
				var id int64
				err := onerow.QueryRow(ctx, db, "SELECT id FROM "+c.table+" WHERE id = ? FOR UPDATE NOWAIT", []any{project}, &id)
				var refused *mysql.MySQLError
				if !errors.As(err, &refused) || refused.Number != 1205 && refused.Number != 3572 {
					t.Errorf("its parent can be locked: %v", err)
				}
				return errUndo
			})
			if !errors.Is(err, errUndo) {
				t.Fatal(err)
			}
		})
	}
}

var errUndo = errors.New("undone by the test")
