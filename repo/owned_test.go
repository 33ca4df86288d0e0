package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// ownedVerbs are the verbs that name a row by its id.
var ownedVerbs = map[string]func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], id int64) error{
	"Get": func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], id int64) error {
		_, err := p.Get(ctx, db, id)
		return err
	},
	"Rename": func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], id int64) error {
		_, err := p.Rename(ctx, db, id, "Renamed")
		return err
	},
	"Rename to a taken name": func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], id int64) error {
		_, err := p.Rename(ctx, db, id, "Taken")
		return err
	},
	"Update": func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], id int64) error {
		_, err := p.Update(ctx, db, id, func(p *Project) error { p.Note = "updated"; return nil })
		return err
	},
	"Archive": func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], id int64) error {
		_, err := p.Archive(ctx, db, id)
		return err
	},
	"Activate": func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], id int64) error {
		_, err := p.Activate(ctx, db, id)
		return err
	},
	"Delete": func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], id int64) error {
		_, err := p.Delete(ctx, db, id)
		return err
	},
	"Delete with Grace": func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], id int64) error {
		_, err := p.Delete(ctx, db, id, repo.Grace(time.Minute))
		return err
	},
	"CancelDelete": func(ctx context.Context, db onerow.DB, p *repo.Repo[Project], id int64) error {
		_, err := p.CancelDelete(ctx, db, id)
		return err
	},
}

// ownedStates make a row of user 1 and bring it there.
var ownedStates = map[string]func(t *testing.T, db *sql.DB, p *repo.Repo[Project], id int64){
	"active":   func(*testing.T, *sql.DB, *repo.Repo[Project], int64) {},
	"archived": func(t *testing.T, db *sql.DB, p *repo.Repo[Project], id int64) { must(p.Archive(t.Context(), db, id)) },
	"hidden": func(t *testing.T, db *sql.DB, p *repo.Repo[Project], id int64) {
		must(p.Delete(t.Context(), db, id, repo.Grace(time.Hour)))
	},
	"gone": func(t *testing.T, db *sql.DB, p *repo.Repo[Project], id int64) { must(p.Delete(t.Context(), db, id)) },
	"gone, its job dead": func(t *testing.T, db *sql.DB, p *repo.Repo[Project], id int64) {
		must(p.Delete(t.Context(), db, id))
		dbtest.EndJob(t, db, dbtest.Scan[int64](t, db, "SELECT id FROM onerow_job"), "dead")
	},
}

// contents are all rows of all tables.
func contents(t *testing.T, db *sql.DB) string {
	t.Helper()
	var b strings.Builder
	for _, table := range tables {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+ident.Quote(table))
		if err != nil {
			t.Fatal(err)
		}
		columns := must(rows.Columns())
		for rows.Next() {
			values, at := make([]sql.NullString, len(columns)), make([]any, len(columns))
			for i := range values {
				at[i] = &values[i]
			}
			if err := rows.Scan(at...); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, table, values)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestOwned: a row of user 1 in every state, and every verb. To user 2 it is not found, on a pool and in a
// transaction that is committed, and no table changes; the answer is that for a row that has never been. To
// user 1 it is what it is without an owner, in as many statements.
func TestOwned(t *testing.T) {
	t.Parallel()
	db, ctx := open(t), t.Context()
	p := newRepos(t).projects
	fresh := func(t *testing.T, reach func(*testing.T, *sql.DB, *repo.Repo[Project], int64)) int64 {
		if err := wipe(ctx, db); err != nil {
			t.Fatal(err)
		}
		must(p.Create(ctx, db, Project{UserID: 1, Name: "Taken"}))
		must(p.Create(ctx, db, Project{UserID: 2, Name: "Taken"}))
		id := must(p.Create(ctx, db, Project{UserID: 1, Name: "Mine"})).Row.ID
		reach(t, db, p, id)
		return id
	}
	for state, reach := range ownedStates {
		for verb, call := range ownedVerbs {
			t.Run(state+"/"+verb, func(t *testing.T) {
				id := fresh(t, reach)
				before := contents(t, db)
				none := call(ctx, db, p.OwnedBy(2), id+1000)
				theirs := call(ctx, db, p.OwnedBy(2), id)
				if said := strings.ReplaceAll(none.Error(), fmt.Sprint(id+1000), fmt.Sprint(id)); !errors.Is(none, onerow.ErrNotFound) || theirs == nil || theirs.Error() != said {
					t.Errorf("a row that has never been: %v; of another owner: %v", none, theirs)
				}
				if err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
					if err := call(ctx, tx, p.OwnedBy(2), id); !errors.Is(err, onerow.ErrNotFound) {
						t.Errorf("joined: %v", err)
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
				if after := contents(t, db); after != before {
					t.Errorf("before\n%s\nafter\n%s", before, after)
				}
				want := call(ctx, db, p, id)
				id = fresh(t, reach)
				if got := call(ctx, db, p.OwnedBy(1), id); fmt.Sprint(errors.Is(got, onerow.ErrNotFound), got == nil) != fmt.Sprint(errors.Is(want, onerow.ErrNotFound), want == nil) {
					t.Errorf("user 1: %v, without an owner: %v", got, want)
				}
			})
		}
	}
}

// TestOwnedLists: Create, Find and List, and a resource without an owner.
func TestOwnedLists(t *testing.T) {
	t.Parallel()
	db, ctx := open(t), t.Context()
	r := newRepos(t)
	mine := r.projects.OwnedBy(7)
	made := must(mine.Create(ctx, db, Project{Name: "a"}, repo.RequestID("r"))).Row
	if again := must(mine.Create(ctx, db, Project{UserID: 7, Name: "a"}, repo.RequestID("r"))); made.UserID != 7 || !again.Replayed || again.Row.ID != made.ID {
		t.Errorf("%+v, again %+v", made, again)
	}
	if found := must(mine.Find(ctx, db, 7, "A")); found.ID != made.ID {
		t.Errorf("found %+v", found)
	}
	if page := must(mine.List(ctx, db, 7, repo.PageOptions{})); len(page.Items) != 1 {
		t.Errorf("%+v", page)
	}
	_, created := mine.Create(ctx, db, Project{UserID: 8, Name: "b"})
	_, found := mine.Find(ctx, db, 8, "a")
	_, listed := mine.List(ctx, db, 8, repo.PageOptions{})
	comments := r.comments.OwnedBy(7)
	_, commented := comments.Create(ctx, db, Comment{ScreenID: 1, Body: "x"})
	for _, err := range []error{created, found, listed, commented} {
		if !errors.Is(err, repo.ErrOtherOwner) {
			t.Error(err)
		}
	}
	dbtest.Exec(t, db, "INSERT INTO comment (screen_id, body, created_at, updated_at) VALUES (1, 'x', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))")
	if _, err := comments.Get(ctx, db, 1); !errors.Is(err, onerow.ErrNotFound) {
		t.Error(err)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM project"); n != 1 {
		t.Errorf("%d projects", n)
	}
}

// TestOwnedParent: where tenants own both, no child comes below a parent of another tenant.
func TestOwnedParent(t *testing.T) {
	t.Parallel()
	type folder struct {
		ID     int64 `db:"id"`
		Tenant int64 `db:"tenant"`
	}
	type file struct {
		ID     int64 `db:"id"`
		Tenant int64 `db:"tenant"`
		Folder int64 `db:"folder_id"`
	}
	both := schema.Plan{Resources: []schema.Resource{
		{Name: "folder", Archive: "folder_archive", Owner: "tenant"},
		{Name: "file", Archive: "file_archive", Owner: "tenant", Parent: schema.Parent{Resource: "folder", Column: "folder_id"}},
	}}
	db, ctx := open(t), t.Context()
	for _, table := range both.DDL() {
		dbtest.Exec(t, db, table)
	}
	folders, files := must(repo.New[folder](both, "folder")), must(repo.New[file](both, "file"))
	theirs := must(folders.Create(ctx, db, folder{Tenant: 1})).Row
	mine := files.OwnedBy(2)
	if _, err := mine.Create(ctx, db, file{Folder: theirs.ID}); !errors.Is(err, repo.ErrParentNotFound) {
		t.Errorf("below another tenant's: %v", err)
	}
	own := must(folders.OwnedBy(2).Create(ctx, db, folder{})).Row
	below := must(mine.Create(ctx, db, file{Folder: own.ID})).Row
	// An owner that is the row above is no second condition on that row.
	type item struct {
		ID int64 `db:"id"`
		Up int64 `db:"up_id"`
	}
	chain := schema.Plan{Resources: []schema.Resource{
		{Name: "shelf", Owner: "up_id"}, {Name: "book", Owner: "up_id", Parent: schema.Parent{Resource: "shelf", Column: "up_id"}},
	}}
	for _, table := range chain.DDL() {
		dbtest.Exec(t, db, table)
	}
	shelf := must(must(repo.New[item](chain, "shelf")).Create(ctx, db, item{Up: 1000})).Row
	must(must(repo.New[item](chain, "book")).OwnedBy(shelf.ID).Create(ctx, db, item{}))

	// One that is below another tenant's all the same can be taken back.
	dbtest.Exec(t, db, "UPDATE file SET folder_id = ?", theirs.ID)
	must(mine.Delete(ctx, db, below.ID, repo.Grace(time.Hour)))
	if back := must(mine.CancelDelete(ctx, db, below.ID)); back.Row.ID != below.ID {
		t.Errorf("%+v", back)
	}
	must(mine.Archive(ctx, db, below.ID))
	must(mine.Activate(ctx, db, below.ID))
}

// TestOwnedReusedID: what is left of a deletion is not queued below an id that another owner's row has got
// since.
func TestOwnedReusedID(t *testing.T) {
	t.Parallel()
	db, ctx := open(t), t.Context()
	r := newRepos(t)
	id := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "Mine"})).Row.ID
	ownedStates["gone, its job dead"](t, db, r.projects, id)
	dbtest.Exec(t, db, "INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at) VALUES (?, 2, 'N', 'n', 'n', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", id)
	before := contents(t, db)
	if _, err := r.projects.OwnedBy(1).Delete(ctx, db, id); !errors.Is(err, onerow.ErrNotFound) {
		t.Error(err)
	}
	if after := contents(t, db); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
}

// TestOwnedStatements: the owner costs no statement but for a row that is gone.
func TestOwnedStatements(t *testing.T) {
	t.Parallel()
	dsn := dbtest.DSN(t)
	plain := dbtest.OpenDSN(t, dsn)
	makeTables(t, plain)
	db, c := racetest.Counted(t, dsn)
	p, ctx := newRepos(t).projects, t.Context()
	for verb, call := range ownedVerbs {
		var counts []int
		for _, r := range []*repo.Repo[Project]{p, p.OwnedBy(1)} {
			if err := wipe(ctx, plain); err != nil {
				t.Fatal(err)
			}
			id := must(p.Create(ctx, plain, Project{UserID: 1, Name: "Mine"})).Row.ID
			log, _ := crashtest.Count(c, func() error { return call(ctx, db, r, id) }) //nolint:errcheck // also those that an active row refuses
			counts = append(counts, len(log))
		}
		if counts[0] != counts[1] {
			t.Errorf("%s: %d statements, %d with an owner", verb, counts[0], counts[1])
		}
	}
	id := must(p.Create(ctx, plain, Project{UserID: 1, Name: "Gone"})).Row.ID
	must(p.Delete(ctx, plain, id))
	deletes := func(r *repo.Repo[Project]) int {
		return len(must(crashtest.Count(c, func() error {
			_, err := r.Delete(ctx, db, id)
			return err
		})))
	}
	if n, m := deletes(p), deletes(p.OwnedBy(1)); m != n+1 {
		t.Errorf("a row that is gone: %d statements, %d with an owner", n, m)
	}
	if _, err := queue.Find(ctx, plain, "project", must(onerow.EncodeKey(id))); err != nil {
		t.Error(err)
	}
}

// TestOwnedOldSnapshot: whose a row was is read as it is now, in a transaction that began before the
// deletion too.
func TestOwnedOldSnapshot(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites()), t.Context()
	p := newRepos(t).projects
	id := must(p.Create(ctx, db, Project{UserID: 1, Name: "Mine"})).Row.ID
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	must(p.Get(ctx, tx, id)) // here is its snapshot
	job := must(p.Delete(ctx, db, id)).JobID
	again, err := p.OwnedBy(1).Delete(ctx, tx, id)
	if err != nil || again.JobID != job || again.Changed {
		t.Errorf("%+v, %v; the job is %d", again, err, job)
	}
	if _, err := p.OwnedBy(2).Delete(ctx, tx, id); !errors.Is(err, onerow.ErrNotFound) {
		t.Error(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
}

// TestOwnedWaits: the lock of another owner's row is waited for, as the comment of OwnedBy says.
func TestOwnedWaits(t *testing.T) {
	t.Parallel()
	db, ctx := open(t, dbtest.Param("innodb_lock_wait_timeout", "1")), t.Context()
	p := newRepos(t).projects
	id := must(p.Create(ctx, db, Project{UserID: 1, Name: "Mine"})).Row.ID
	holder, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, holder, "SELECT id FROM project WHERE id = ? FOR UPDATE", id)
	if _, err := p.OwnedBy(2).Delete(ctx, db, id); !onerow.Retryable(err) || errors.Is(err, onerow.ErrNotFound) {
		t.Errorf("it did not wait: %v", err)
	}
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.OwnedBy(2).Delete(ctx, db, id); !errors.Is(err, onerow.ErrNotFound) {
		t.Error(err)
	}
}
