package repo_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
)

// rebuild copies a table as tools for schema changes do; AUTO_INCREMENT of the copy begins
// above the highest id that is there, not above those that were given.
func rebuild(t *testing.T, db *sql.DB, table string) {
	t.Helper()
	for _, stmt := range []string{
		"CREATE TABLE copy_of_it LIKE " + table, "INSERT INTO copy_of_it SELECT * FROM " + table,
		"RENAME TABLE " + table + " TO old_one, copy_of_it TO " + table, "DROP TABLE old_one",
	} {
		must(db.ExecContext(t.Context(), stmt))
	}
}

// rows is all that the verbs could have changed.
func rows(t *testing.T, db *sql.DB) (all [5]int) {
	t.Helper()
	for i, query := range []string{
		"SELECT COALESCE(SUM(id * 100 + version), 0) FROM project",
		"SELECT COALESCE(SUM(id * 10000 + version * 100 + COALESCE(deletion_id, 0)), 0) FROM project_archive",
		"SELECT COUNT(*) FROM onerow_deletion", "SELECT COUNT(*) FROM onerow_job", "SELECT COUNT(*) FROM onerow_quota_mark",
	} {
		all[i] = count(t, db, query)
	}
	return all
}

// TestReusedID: AUTO_INCREMENT has fallen below the id of an archived row, and another
// user's row got it. No verb touches either, wherever the caller's transaction comes from.
func TestReusedID(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			db, p, ctx := open(t, dbtest.Isolation(level)), newRepos(t).projects, t.Context()
			must(p.Create(ctx, db, Project{UserID: 1, Name: "A"}))
			id := must(p.Create(ctx, db, Project{UserID: 1, Name: "B"})).Row.ID
			must(p.Archive(ctx, db, id))
			rebuild(t, db, "project")
			if other := must(p.Create(ctx, db, Project{UserID: 2, Name: "of another user"})).Row.ID; other != id {
				t.Fatalf("the new row has the id %d, not %d: nothing is tested", other, id)
			}
			before := rows(t, db)
			refused := func(where, verb string, err error) {
				t.Helper()
				var reused *repo.IDReusedError
				if !errors.Is(err, repo.ErrIDReused) || !errors.As(err, &reused) || reused.ID != id || reused.Resource != "project" || onerow.Retryable(err) {
					t.Errorf("%s, %s: %v", where, verb, err)
				}
			}
			all := func(where string, db onerow.DB) {
				t.Helper()
				_, err := p.Delete(ctx, db, id)
				refused(where, "delete", err)
				_, err = p.Delete(ctx, db, id, repo.Grace(time.Hour))
				refused(where, "delete with grace", err)
				_, err = p.Archive(ctx, db, id)
				refused(where, "archive", err)
				_, err = p.Activate(ctx, db, id)
				refused(where, "activate", err)
			}
			all("on a pool", db)
			tx := must(db.BeginTx(ctx, nil))
			all("joined", tx)
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if after := rows(t, db); after != before {
				t.Errorf("rows were touched: %v, before %v", after, before)
			}
		})
	}
}

// TestReusedIDUnseen: the caller's snapshot is from before the row was archived, and so
// does not show that the id has two rows; the primary keys do.
func TestReusedIDUnseen(t *testing.T) {
	db, p, ctx := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites()), newRepos(t).projects, t.Context()
	id := must(p.Create(ctx, db, Project{UserID: 1, Name: "B"})).Row.ID
	tx := oldSnapshot(t, db)
	must(p.Archive(ctx, db, id))
	must(db.ExecContext(ctx, "INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, version, created_at, updated_at)"+
		" VALUES (?, 2, 'x', 'x', 'x', 0, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", id))
	before := rows(t, db)
	for verb, call := range map[string]func() error{
		"delete with grace": func() error { return second(p.Delete(ctx, tx, id, repo.Grace(time.Hour))) },
		"archive":           func() error { return second(p.Archive(ctx, tx, id)) },
		"activate":          func() error { return second(p.Activate(ctx, tx, id)) },
	} {
		if err := call(); !errors.Is(err, repo.ErrIDReused) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if after := rows(t, db); after != before {
		t.Errorf("rows were touched: %v, before %v", after, before)
	}
}

// TestReplayOfTwin: the row of a request is archived, and an active row has its id, of whatever
// owner. The retry is told so: nobody knows which of the two it made.
func TestReplayOfTwin(t *testing.T) {
	for _, owner := range []int64{1, 2} {
		db, p, ctx := open(t), newRepos(t).projects, t.Context()
		must(p.Create(ctx, db, Project{UserID: 1, Name: "A"}))
		made := must(p.Create(ctx, db, Project{UserID: 1, Name: "B"}, repo.RequestID("r"))).Row.ID
		must(p.Archive(ctx, db, made))
		rebuild(t, db, "project")
		if other := must(p.Create(ctx, db, Project{UserID: owner, Name: "another"})).Row.ID; other != made {
			t.Fatalf("the new row has the id %d, not %d: nothing is tested", other, made)
		}
		refused := func(where string, db onerow.DB) {
			t.Helper()
			res, err := p.Create(ctx, db, Project{UserID: 1, Name: "B"}, repo.RequestID("r"))
			var reused *repo.IDReusedError
			if !errors.As(err, &reused) || reused.ID != made || reused.Table != "project_archive" || errors.Is(err, repo.ErrGone) || res != (onerow.Result[Project]{}) {
				t.Errorf("the replay %s, the other row is owner %d's: %+v, %v", where, owner, res, err)
			}
		}
		refused("on a pool", db)
		tx := must(db.BeginTx(ctx, nil))
		refused("joined", tx)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReplayOfReusedID: the row of a request is gone and its id is another user's; the
// retry is not given that row.
func TestReplayOfReusedID(t *testing.T) {
	db, p, ctx := open(t), newRepos(t).projects, t.Context()
	must(p.Create(ctx, db, Project{UserID: 1, Name: "A"}))
	made := must(p.Create(ctx, db, Project{UserID: 1, Name: "B"}, repo.RequestID("r"))).Row.ID
	must(p.Delete(ctx, db, made))
	rebuild(t, db, "project")
	if other := must(p.Create(ctx, db, Project{UserID: 2, Name: "of another user"})).Row.ID; other != made {
		t.Fatalf("the new row has the id %d, not %d: nothing is tested", other, made)
	}
	res, err := p.Create(ctx, db, Project{UserID: 1, Name: "B"}, repo.RequestID("r"))
	if !errors.Is(err, repo.ErrGone) || res.Row.ID != 0 {
		t.Errorf("the replay: %+v, %v", res, err)
	}
}
