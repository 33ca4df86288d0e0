package repo_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// plan is the schema of these tests: projects with screens with comments.
func plan() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{
		{
			Name: "project", Archive: "project_archive", Owner: "user_id",
			Label:   schema.Label{Column: "name"},
			Quota:   schema.Quota{Flag: "is_over_quota"},
			Columns: []schema.Column{{Name: "note", Type: "VARCHAR(80) NOT NULL DEFAULT ''"}, {Name: "due", Type: "DATETIME(6) NULL"}, {Name: "code", Type: "INT NULL"}},
			Indexes: []schema.Index{{Columns: []string{"user_id", "code"}, Unique: true}},
		},
		{
			Name: "screen", Archive: "screen_archive", Owner: "project_id",
			Label:   schema.Label{Column: "client_filename", Key: "client_filename_base", Kind: names.KindFilename},
			Parent:  schema.Parent{Resource: "project", Column: "project_id"},
			Asset:   "blob_key",
			Columns: []schema.Column{{Name: "blob_key", Type: "VARCHAR(64) NOT NULL DEFAULT ''"}},
		},
		{
			Name: "comment", Parent: schema.Parent{Resource: "screen", Column: "screen_id"},
			Columns: []schema.Column{{Name: "body", Type: "TEXT NOT NULL"}},
		},
	}}
}

type Project struct {
	ID          int64        `db:"id"`
	UserID      int64        `db:"user_id"`
	Name        string       `db:"name"`
	Note        string       `db:"note"`
	Due         *time.Time   `db:"due"`
	Code        *int64       `db:"code"`
	IsOverQuota bool         `db:"is_over_quota"`
	Version     int64        `db:"version"`
	CreatedAt   time.Time    `db:"created_at"`
	State       schema.State `db:"state"`
	Ignored     struct{ A, B int }
}

type Screen struct {
	ID        int64        `db:"id"`
	ProjectID int64        `db:"project_id"`
	Filename  string       `db:"client_filename"`
	BlobKey   string       `db:"blob_key"`
	State     schema.State `db:"state"`
}

type Comment struct {
	ID       int64  `db:"id"`
	ScreenID int64  `db:"screen_id"`
	Body     string `db:"body"`
}

// repos are the repositories of the plan.
type repos struct {
	projects *repo.Repo[Project]
	screens  *repo.Repo[Screen]
	comments *repo.Repo[Comment]

	slim *repo.Repo[Slim]
}

// Slim is a project of which nothing has to be read back.
type Slim struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

func newRepos(t testing.TB) repos { return newReposOf(t, plan()) }

func newReposOf(t testing.TB, plan schema.Plan) repos {
	t.Helper()
	var r repos
	var err error
	if r.projects, err = repo.New[Project](plan, "project"); err != nil {
		t.Fatal(err)
	}
	if r.screens, err = repo.New[Screen](plan, "screen"); err != nil {
		t.Fatal(err)
	}
	if r.comments, err = repo.New[Comment](plan, "comment"); err != nil {
		t.Fatal(err)
	}
	if r.slim, err = repo.New[Slim](plan, "project"); err != nil {
		t.Fatal(err)
	}
	return r
}

// makeTables puts the toolkit's tables and the plan's into a schema.
func makeTables(t testing.TB, db *sql.DB) {
	t.Helper()
	dbtest.Toolkit(t, db, dbtest.OfQueue()...)
	for _, stmt := range plan().DDL() {
		if _, err := db.ExecContext(t.Context(), stmt); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t testing.TB, opts ...dbtest.Option) *sql.DB {
	t.Helper()
	db := dbtest.Open(t, opts...)
	db.SetMaxOpenConns(40)
	makeTables(t, db)
	return db
}

// tables that a run starts from empty.
var tables = []string{
	"project", "project_archive", "screen", "screen_archive", "comment", "onerow_request",
	"onerow_quota_mark", "onerow_deletion", "onerow_job", "onerow_job_archive", "onerow_job_count",
}

func wipe(ctx context.Context, db *sql.DB) error {
	for _, table := range tables {
		if _, err := db.ExecContext(ctx, "DELETE FROM "+ident.Quote(table)); err != nil {
			return err
		}
	}
	return nil
}

// count returns the single number that a query gives.
func count(t testing.TB, db *sql.DB, query string, args ...any) int {
	t.Helper()
	var n int
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("unexpected error: %v", err))
	}
	return v
}
