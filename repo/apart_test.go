package repo_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
)

// TestApart: what is done with a row keeps no call about another one waiting, of another owner or of the
// same. Not asked of Activate and CancelDelete: they insert the entries that Archive and Delete deleted a
// moment ago, and InnoDB then locks the gap behind them.
func TestApart(t *testing.T) {
	db, p := open(t, dbtest.Isolation(sql.LevelReadCommitted)), newRepos(t).projects
	ids := map[int]int64{}
	create := func(ctx context.Context, db onerow.DB, n int) error {
		res, err := p.Create(ctx, db, Project{UserID: int64(1 + n%2), Name: fmt.Sprint("P", n)}, repo.RequestID(fmt.Sprint("r", n)))
		ids[n] = res.Row.ID
		return err
	}
	archive := func(ctx context.Context, db onerow.DB, n int) error { return second(p.Archive(ctx, db, ids[n])) }
	hide := func(ctx context.Context, db onerow.DB, n int) error {
		return second(p.Delete(ctx, db, ids[n], repo.Grace(time.Hour)))
	}
	created := func(ctx context.Context, db *sql.DB, n int) error { return create(ctx, db, n) }
	racetest.Apart(t, db, tables, []racetest.Verb{
		{Name: "create", Call: create},
		{Name: "create again", Setup: created, Call: create},
		{Name: "rename", Setup: created, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(p.Rename(ctx, db, ids[n], fmt.Sprint("Q", n)))
		}},
		{Name: "update", Setup: created, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(p.Update(ctx, db, ids[n], func(row *Project) error { row.Note = "x"; return nil }))
		}},
		{Name: "archive", Setup: created, Call: archive},
		{Name: "give", Setup: created, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(p.Move(ctx, db, ids[n], give(int64(1000+n))))
		}},
		{Name: "delete", Setup: created, Call: func(ctx context.Context, db onerow.DB, n int) error {
			return second(p.Delete(ctx, db, ids[n]))
		}},
		{Name: "hide", Setup: created, Call: hide},
	})
}
