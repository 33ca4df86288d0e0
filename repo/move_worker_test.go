package repo_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
)

// TestMoveOutOfADeletion: rows leave a project while it is deleted and a worker is at it. Who was told that a row
// has moved finds it, with all that is below it; what was refused goes, and nothing is below nothing.
func TestMoveOutOfADeletion(t *testing.T) {
	db := open(t)
	r, ctx := newRepos(t), t.Context()
	worker, err := cascade.NewWorker(db, plan(), cascade.Config{Assets: noAssets{}, Batch: 2, Chunk: 2})
	if err != nil {
		t.Fatal(err)
	}
	var moved, refused int
	for round := range 20 {
		project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: fmt.Sprint("p", round)})).Row.ID
		other := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: fmt.Sprint("q", round)})).Row.ID
		shelter := must(r.screens.Create(ctx, db, Screen{ProjectID: other, Filename: "shelter.png"})).Row.ID
		var screens, comments []int64
		for n := range 8 {
			screens = append(screens, must(r.screens.Create(ctx, db, Screen{ProjectID: project, Filename: fmt.Sprintf("s%d.png", n)})).Row.ID)
			for range 3 {
				comments = append(comments, must(r.comments.Create(ctx, db, Comment{ScreenID: screens[n], Body: "b"})).Row.ID)
			}
		}
		var all errgroup.Group
		var mu sync.Mutex
		first := make(chan struct{}) // closed when a row has left
		var once sync.Once
		// try moves a row, after others of the same caller; what follows from the answer is checked at the end.
		var checks []func()
		try := func(move func() error, lives func() bool) error {
			err := move()
			once.Do(func() { close(first) }) // the first one has left: nothing is deleted before
			if err != nil && !errors.Is(err, repo.ErrBeingDeleted) && !errors.Is(err, onerow.ErrNotFound) {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				moved++
			} else {
				refused++
			}
			checks = append(checks, func() {
				if lives() != (err == nil) {
					t.Errorf("round %d: the move answered %v, and the row lives: %v", round, err, err != nil)
				}
			})
			return nil
		}
		for caller := range 2 {
			all.Go(func() error {
				for n := caller; n < 4; n += 2 { // whole screens
					err := try(func() error { return second(r.screens.Move(ctx, db, screens[n], under(other))) }, func() bool {
						screen := count(t, db, "SELECT COUNT(*) FROM screen WHERE id = ? AND project_id = ?", screens[n], other)
						below := count(t, db, "SELECT COUNT(*) FROM comment WHERE screen_id = ?", screens[n])
						if below != 3*screen {
							t.Errorf("round %d: %d screens with %d comments", round, screen, below)
						}
						return screen == 1
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
			all.Go(func() error {
				for n := 12 + caller; n < 24; n += 2 { // comments of the other ones
					err := try(func() error { return second(r.comments.Move(ctx, db, comments[n], onScreen(shelter))) }, func() bool {
						return count(t, db, "SELECT COUNT(*) FROM comment WHERE id = ?", comments[n]) == 1
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		all.Go(func() error {
			<-first
			if round%2 == 0 {
				if _, err := r.projects.Delete(ctx, db, project); err != nil {
					return err
				}
			} else { // an operator, who hides nothing
				d := queue.Deletion{Resource: "project", ResourceID: must(onerow.EncodeKey(project)), From: queue.FromOperator}
				err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
					if d.ID, err = queue.Log(ctx, tx, d); err == nil {
						_, err = queue.Enqueue(ctx, tx, d)
					}
					return err
				})
				if err != nil {
					return err
				}
			}
			return worker.Drain(ctx)
		})
		if err := all.Wait(); err != nil {
			t.Fatal(err)
		}
		if err := worker.Drain(ctx); err != nil { // a claim passes over a job that a move looks at
			t.Fatal(err)
		}
		for _, check := range checks {
			check()
		}
		if err := below(ctx, db); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		if n := count(t, db, "SELECT COUNT(*) FROM screen WHERE project_id = ?", project); n != 0 {
			t.Errorf("round %d: %d screens are left", round, n)
		}
		dbtest.Exec(t, db, "DELETE FROM comment")
		dbtest.Exec(t, db, "DELETE FROM screen")
	}
	if t.Logf("%d moved, %d refused", moved, refused); moved == 0 || refused == 0 {
		t.Errorf("%d moved, %d refused: nothing raced", moved, refused)
	}
}
