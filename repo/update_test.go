package repo_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestUpdateTogether: eight updaters of one row all get their turn, on a pool and in
// transactions of the caller's, and every change counts once.
func TestUpdateTogether(t *testing.T) {
	const updaters, each = 8, 15
	for _, level := range levels {
		for _, joined := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, joined %t", level, joined), func(t *testing.T) {
				db, r := open(t, dbtest.Isolation(level)), newRepos(t)
				if err := put(1, "A")(t.Context(), r, db); err != nil {
					t.Fatal(err)
				}
				run := add(1)
				if joined {
					run = func(ctx context.Context, r repos, db *sql.DB) error {
						return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return addIn(1)(ctx, r, tx) })
					}
				}
				var g errgroup.Group
				for range updaters {
					g.Go(func() error {
						for n := range each {
							if err := run(t.Context(), r, db); err != nil {
								return fmt.Errorf("update %d: %w", n, err)
							}
						}
						return nil
					})
				}
				if err := g.Wait(); err != nil {
					t.Error(err)
				}
				if sum := count(t, db, "SELECT code FROM project"); sum != updaters*each {
					t.Errorf("%d of %d changes", sum, updaters*each)
				}
			})
		}
	}
}

// TestUpdateLocksLate: the row is not locked when it is read until somebody was faster,
// and then it is.
func TestUpdateLocksLate(t *testing.T) {
	db, c := counted(t)
	other := newRepos(t).projects
	p, ctx := newRepos(t).projects, t.Context()
	id := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row.ID
	calls := 0
	log, err := crashtest.Count(c, func() error {
		return second(p.Update(ctx, db, id, func(row *Project) error {
			if calls++; calls == 1 {
				must(other.Rename(ctx, db, id, "B"))
			}
			row.Note += "x"
			return nil
		}))
	})
	if err != nil || calls != 2 || len(log) != 4+4+5 {
		t.Errorf("%d calls, %d statements, %v\n%s", calls, len(log), err, log)
	}
	var locked []bool
	for _, e := range log {
		if strings.Contains(e.SQL, "'active' FROM") {
			locked = append(locked, strings.HasSuffix(e.SQL, "FOR UPDATE"))
		}
	}
	if fmt.Sprint(locked) != "[false true false]" {
		t.Errorf("the reads lock the row: %v\n%s", locked, log)
	}
}
