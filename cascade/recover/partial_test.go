package recover_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// blogs have a key that people choose: somebody else may take it. Pages have a foreign key, notes have none,
// and links are detached.
var blogs = schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{
	{Name: "blog", Key: []string{"slug"}},
	{Name: "page", Key: []string{"id"}, Parents: []schema.Edge{{Table: "blog", Columns: []string{"blog"}}}},
	{Name: "note", Key: []string{"id"}, Parents: []schema.Edge{{Table: "page", Columns: []string{"page"}}}},
	{Name: "link", Key: []string{"id"}, Parents: []schema.Edge{{Table: "blog", Columns: []string{"blog"}, OnDelete: schema.OnDeleteDetach}}},
}}

// deletedBlog deletes the blog a, with 2 pages of 3 notes each and 2 links, as the plan says.
func deletedBlog(t *testing.T, plan schema.Plan) (*sql.DB, queue.Job) {
	t.Helper()
	db, ctx := dbtest.Open(t), t.Context()
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{
		"CREATE TABLE blog (slug VARCHAR(20) PRIMARY KEY, title VARCHAR(20) NOT NULL)",
		"CREATE TABLE page (id INT PRIMARY KEY, blog VARCHAR(20) NOT NULL, path VARCHAR(20) NOT NULL, `body` VARCHAR(20) NOT NULL DEFAULT 'x', UNIQUE KEY path (path), KEY blog (blog), FOREIGN KEY (blog) REFERENCES blog (slug))",
		"CREATE TABLE note (id INT PRIMARY KEY, page INT NOT NULL, KEY page (page))",
		"CREATE TABLE link (id INT PRIMARY KEY, blog VARCHAR(20) NULL, KEY blog (blog))",
		"INSERT INTO blog VALUES ('a', 'mine'), ('b', 'other')",
		"INSERT INTO page (id, blog, path) VALUES (1, 'a', '/1'), (2, 'a', '/2'), (9, 'b', '/9')",
		"INSERT INTO note VALUES (10, 1), (11, 1), (12, 1), (20, 2), (21, 2), (22, 2), (90, 9)",
		"INSERT INTO link VALUES (1, 'a'), (2, 'a'), (3, 'b')",
	} {
		dbtest.Exec(t, db, stmt)
	}
	if err := createTrash(ctx, db, plan); err != nil {
		t.Fatal(err)
	}
	w, err := cascade.NewWorker(db, plan, cascade.Config{MaxFailures: 1})
	if err != nil {
		t.Fatal(err)
	}
	key, err := onerow.EncodeKey("a")
	var job queue.Job
	if err == nil {
		job, err = queue.Enqueue(ctx, db, queue.Deletion{Resource: "blog", ResourceID: key})
	}
	if err == nil {
		err = w.Drain(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := blogRows(t, db); got != "blog 1, page 1, note 1, link 3, of a 0" {
		t.Fatalf("deleted: %s", got)
	}
	return db, job
}

// blogRows are how many rows there are, and how many links refer to the blog a.
func blogRows(t *testing.T, db *sql.DB) string {
	t.Helper()
	var n [5]int
	err := onerow.QueryRow(t.Context(), db, "SELECT (SELECT COUNT(*) FROM blog), (SELECT COUNT(*) FROM page), (SELECT COUNT(*) FROM note), (SELECT COUNT(*) FROM link), (SELECT COUNT(*) FROM link WHERE blog = 'a')",
		nil, &n[0], &n[1], &n[2], &n[3], &n[4])
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("blog %d, page %d, note %d, link %d, of a %d", n[0], n[1], n[2], n[3], n[4])
}

// missing are lines of what is missing.
func missing(p recover.Progress) (lines []string) {
	for _, m := range p.Missing {
		lines = append(lines, fmt.Sprintf("%s %d %d %s: %s", m.Table, m.Rows, m.References, m.Column, m.Why))
	}
	return lines
}

func wantMissing(t *testing.T, p recover.Progress, root string, want ...string) {
	t.Helper()
	got := missing(p)
	ok := slices.EqualFunc(got, want, func(line, part string) bool { return strings.Contains(line, part) })
	if !ok || (root == "") != (p.RootMissing == "") || !strings.Contains(p.RootMissing, root) {
		t.Errorf("missing: %q, root %q, why %q; want %q, root %q", got, p.RootMissing, p.Why, want, root)
	}
}

func restored(t *testing.T, db *sql.DB, plan schema.Plan, job queue.Job) recover.Progress {
	t.Helper()
	_, p, err := recover.Job(t.Context(), db, plan, job.ID, recover.Options{Batch: 2})
	if err != nil {
		t.Fatal(err)
	}
	j, err := queue.Get(t.Context(), db, job.ID)
	if err != nil || j.State != queue.Restored || j.LastError != "" {
		t.Errorf("%+v, %v", j, err)
	}
	return p
}

// TestRestoreBelowStranger: rows do not come back below a row that has taken the key of one that was deleted,
// whether that one is in the trash still or not; what is below others comes back.
func TestRestoreBelowStranger(t *testing.T) {
	t.Run("the root", func(t *testing.T) {
		db, job := deletedBlog(t, blogs)
		dbtest.Exec(t, db, "INSERT INTO blog VALUES ('A', 'a stranger')") // as the key's collation compares
		for range 2 {
			p := restored(t, db, blogs, job)
			wantMissing(t, p, "Duplicate entry", "blog 1 0 : row 'a", "link 0 2", "note 6 0 : row", "page 2 0 : row")
			if !strings.Contains(strings.Join(missing(p), " "), "the row of blog to which (blog) refers has not come back") {
				t.Errorf("%q", missing(p))
			}
			if got := blogRows(t, db); got != "blog 2, page 1, note 1, link 3, of a 0" {
				t.Errorf("below a stranger's row: %s", got)
			}
		}
		dbtest.Exec(t, db, "DELETE FROM blog WHERE title = 'a stranger'")
		wantMissing(t, restored(t, db, blogs, job), "")
		if got := blogRows(t, db); got != "blog 2, page 3, note 7, link 3, of a 2" {
			t.Errorf("when it was free: %s", got)
		}
	})
	t.Run("in between", func(t *testing.T) {
		db, job := deletedBlog(t, blogs)
		dbtest.Exec(t, db, "INSERT INTO page (id, blog, path) VALUES (1, 'b', 'a stranger')")
		p := restored(t, db, blogs, job)
		wantMissing(t, p, "", "note 3 0 : row", "page 1 0 : row 1: ")
		if got := blogRows(t, db); got != "blog 2, page 3, note 4, link 3, of a 2" {
			t.Errorf("%s", got)
		}
	})
	for name, gone := range map[string]string{"expired": "UPDATE onerow_trash SET expires_at = UTC_TIMESTAMP(6) WHERE table_name = 'page' AND step > 0", "purged": "DELETE FROM onerow_trash WHERE table_name = 'page'"} {
		t.Run(name, func(t *testing.T) {
			db, job := deletedBlog(t, blogs)
			dbtest.Exec(t, db, gone)
			dbtest.Exec(t, db, "INSERT INTO page (id, blog, path) VALUES (1, 'b', '1'), (2, 'b', '2')")
			dry, err := recover.Rows(t.Context(), db, blogs, job.ID, recover.Options{DryRun: true})
			if err != nil || dry.Total != 9 {
				t.Errorf("%+v, %v", dry, err)
			}
			why := map[string]string{"expired": "page 2 0 : their time in the trash is over", "purged": "page 2 0 : they are not in the trash"}[name]
			wantMissing(t, dry, "", "note 6 0 : the rows of page above them do not come back", why)
			p := restored(t, db, blogs, job)
			wantMissing(t, p, "", "note 6 0 : row", why)
			if got := blogRows(t, db); got != "blog 2, page 3, note 1, link 3, of a 2" {
				t.Errorf("%s", got)
			}
		})
	}
}

// TestRestorePartial: what does not come back is told by table with its reason, before and after.
func TestRestorePartial(t *testing.T) {
	t.Run("not kept", func(t *testing.T) {
		plan := blogs
		plan.Tables = slices.Clone(blogs.Tables)
		plan.Tables[2].Trash, plan.Tables[3].Trash = schema.NoTrash, schema.NoTrash
		db, job := deletedBlog(t, plan)
		want := []string{"link 0 2 : the plan does not keep rows of link", "note 6 0 : the plan does not keep rows of note"}
		dry, err := recover.Rows(t.Context(), db, plan, job.ID, recover.Options{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		wantMissing(t, dry, "", want...)
		wantMissing(t, restored(t, db, plan, job), "", want...)
		if got := blogRows(t, db); got != "blog 2, page 3, note 1, link 3, of a 0" {
			t.Error(got)
		}
	})
	t.Run("the root has expired", func(t *testing.T) {
		db, job := deletedBlog(t, blogs)
		dbtest.Exec(t, db, "UPDATE onerow_trash SET expires_at = UTC_TIMESTAMP(6) WHERE table_name = 'blog'")
		dry, err := recover.Rows(t.Context(), db, blogs, job.ID, recover.Options{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		wantMissing(t, dry, "its time in the trash is over", "blog 1 0 : their time", "note 6 0 : the rows of page", "page 2 0 : the rows of blog")
		wantMissing(t, restored(t, db, blogs, job), "its time in the trash is over", "blog 1 0 : their time", "link 0 2 : row", "note 6 0 : row", "page 2 0 : row")
	})
	t.Run("removed by hand", func(t *testing.T) {
		db, job := deletedBlog(t, blogs)
		dbtest.Exec(t, db, "DELETE FROM onerow_trash_note WHERE id IN (10, 21)")
		dbtest.Exec(t, db, "TRUNCATE TABLE onerow_trash_link")
		p := restored(t, db, blogs, job)
		wantMissing(t, p, "", "link 0 2 : they are not in the trash", "note 2 0 : they are not in the trash")
		if got := blogRows(t, db); got != "blog 2, page 3, note 5, link 3, of a 0" || p.Removed != 4 || p.Stuck+p.Changed != 0 {
			t.Errorf("%s, %+v", got, p)
		}
	})
	t.Run("columns dropped", func(t *testing.T) {
		db, job := deletedBlog(t, blogs)
		dbtest.Exec(t, db, "ALTER TABLE page DROP COLUMN `body`")
		dbtest.Exec(t, db, "ALTER TABLE link DROP COLUMN blog, ADD COLUMN other INT NULL")
		dbtest.Exec(t, db, "ALTER TABLE onerow_trash_link ADD COLUMN other INT NULL")
		plan := blogs
		plan.Tables = slices.Clone(blogs.Tables)
		plan.Tables[3].Parents = nil
		want := "page 2 0 body: page has no column body any more"
		dry, err := recover.Rows(t.Context(), db, plan, job.ID, recover.Options{DryRun: true})
		if err != nil {
			t.Fatal(err)
		}
		wantMissing(t, dry, "", "link 2 0 blog: link has no column blog any more", want)
		p := restored(t, db, plan, job)
		wantMissing(t, p, "", "link 0 2 : link has no column blog any more", "link 2 0 blog: link has no column", want)
	})
}

// TestReportRestored: the report says how many rows are back, also when restored in several calls.
func TestReportRestored(t *testing.T) {
	db, job := deletedBlog(t, blogs)
	dbtest.Exec(t, db, "INSERT INTO page (id, blog, path) VALUES (1, 'b', 'a stranger')")
	restored(t, db, blogs, job)
	if n, err := admin.PurgeTrash(t.Context(), db, blogs, nil, 1000); err != nil || n == 0 {
		t.Errorf("%d, %v", n, err)
	}
	dbtest.Exec(t, db, "DELETE FROM page WHERE path = 'a stranger'")
	wantMissing(t, restored(t, db, blogs, job), "")
	r, err := admin.ReadReport(t.Context(), db, 0, job.ID)
	want := []admin.Kept{{Table: "blog", Rows: 1}, {Table: "link", References: 2}, {Table: "note", Rows: 6}, {Table: "page", Rows: 2}}
	if err != nil || !slices.Equal(r.Restored, want) || r.Job.DeletedRows != 8 || len(r.Trash) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := blogRows(t, db); got != "blog 2, page 3, note 7, link 3, of a 2" {
		t.Error(got)
	}
}

// shelves have slugs, and books refer to three rows, without foreign keys; a lender's row has a code that may
// be NULL. Books of a shelf go with it, and lose what they refer to in others that go with it.
var shelves = schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{
	{Name: "shelf", Key: []string{"slug"}},
	{Name: "lender", Key: []string{"id"}, Parents: []schema.Edge{{Table: "lender", Columns: []string{"above"}, References: []string{"code"}}, {Table: "shelf", Columns: []string{"shelf"}}}},
	{Name: "book", Key: []string{"id"}, Parents: []schema.Edge{
		{Table: "shelf", Columns: []string{"shelf"}}, {Table: "lender", Columns: []string{"lender"}, OnDelete: schema.OnDeleteDetach},
		{Table: "book", Columns: []string{"next"}, OnDelete: schema.OnDeleteDetach},
	}},
}}

// deletedShelf deletes the shelf a with its books 1 to 3 and the lender 4, or another row. A book loses its
// lender before it goes.
func deletedShelf(t *testing.T) (*sql.DB, queue.Job) {
	t.Helper()
	db, job := deletedOf(t, "shelf", "a")
	if got := bookRows(t, db); got != "9 b 3 0" {
		t.Fatalf("deleted: %s", got)
	}
	return db, job
}

func deletedOf(t *testing.T, resource string, id any) (*sql.DB, queue.Job) {
	t.Helper()
	db, ctx := dbtest.Open(t), t.Context()
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range []string{
		"CREATE TABLE shelf (slug VARCHAR(20) PRIMARY KEY)",
		"CREATE TABLE lender (id INT PRIMARY KEY, code INT NULL, above INT NULL, shelf VARCHAR(20) NULL, UNIQUE KEY code (code), KEY above (above), KEY shelf (shelf))",
		"CREATE TABLE book (id INT PRIMARY KEY, shelf VARCHAR(20) NOT NULL, lender INT NULL, next INT NULL, KEY shelf (shelf), KEY lender (lender), KEY next (next))",
		"INSERT INTO shelf VALUES ('a'), ('b')",
		"INSERT INTO lender VALUES (3, 30, NULL, NULL), (4, NULL, 30, 'a')",
		"INSERT INTO book VALUES (1, 'a', 99, 2), (2, 'a', 99, 1), (3, 'a', 4, NULL), (9, 'b', 3, NULL)", // there is no lender 99
	} {
		dbtest.Exec(t, db, stmt)
	}
	if err := createTrash(ctx, db, shelves); err != nil {
		t.Fatal(err)
	}
	w, err := cascade.NewWorker(db, shelves, cascade.Config{MaxFailures: 1, Batch: 1, Chunk: 1})
	key, kerr := onerow.EncodeKey(id)
	if err := errors.Join(err, kerr); err != nil {
		t.Fatal(err)
	}
	job, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: resource, ResourceID: key})
	if err == nil {
		err = w.Drain(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	return db, job
}

func bookRows(t *testing.T, db *sql.DB) (rows string) {
	t.Helper()
	err := onerow.QueryRow(t.Context(), db, "SELECT GROUP_CONCAT(CONCAT_WS(' ', id, shelf, COALESCE(lender, 0), COALESCE(next, 0)) ORDER BY id) FROM book", nil, &rows)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestRestoreAbove: that a row referred to nothing over one edge says nothing of its other edges; and that
// what is referred to may be NULL hides nothing.
func TestRestoreAbove(t *testing.T) {
	t.Run("as it was", func(t *testing.T) {
		db, job := deletedShelf(t)
		wantMissing(t, restored(t, db, shelves, job), "")
		if got := bookRows(t, db); got != "1 a 99 2,2 a 99 1,3 a 4 0,9 b 3 0" {
			t.Error(got)
		}
	})
	for name, gone := range map[string]string{"the root": "", "of which the copy is lost": "DELETE FROM onerow_trash WHERE table_name = 'shelf'"} {
		t.Run(name, func(t *testing.T) {
			db, job := deletedShelf(t)
			dbtest.Exec(t, db, "INSERT INTO shelf VALUES ('A')")
			if gone != "" {
				dbtest.Exec(t, db, gone)
			}
			if p := restored(t, db, shelves, job); p.RootMissing == "" {
				t.Errorf("%+v", p)
			}
			if got := bookRows(t, db); got != "9 b 3 0" {
				t.Errorf("below a stranger's row: %s", got)
			}
		})
	}
	t.Run("nothing", func(t *testing.T) {
		db, job := deletedShelf(t)
		dbtest.Exec(t, db, "DELETE FROM lender")
		wantMissing(t, restored(t, db, shelves, job), "", "book 0 1 : ", "lender 1 0 : row 4: the row of lender to which (above) refers is not there")
	})
}

// TestRestoreAboveTenant: a foreign key from a table to itself that shares a column with what it refers to
// holds nothing on MySQL 9.7, which takes a row whose row above is not there.
func TestRestoreAboveTenant(t *testing.T) {
	db, ctx := dbtest.Open(t), t.Context()
	plan := schema.Plan{Trash: schema.Age(time.Hour), Tables: []schema.Table{{Name: "part", Key: []string{"tenant", "id"},
		Parents: []schema.Edge{{Table: "part", Columns: []string{"tenant", "up"}}}}}}
	err := migrations.Up(ctx, db)
	dbtest.Exec(t, db, "CREATE TABLE part (tenant VARCHAR(20) NOT NULL, id INT NOT NULL, up INT NULL, PRIMARY KEY (tenant, id), KEY up (tenant, up), FOREIGN KEY (tenant, up) REFERENCES part (tenant, id))")
	dbtest.Exec(t, db, "INSERT INTO part VALUES ('a', 1, NULL), ('a', 2, 1)")
	if err == nil {
		err = createTrash(ctx, db, plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := cascade.NewWorker(db, plan, cascade.Config{MaxFailures: 1})
	key, kerr := onerow.EncodeKey("a", 2)
	if err := errors.Join(err, kerr); err != nil {
		t.Fatal(err)
	}
	job, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "part", ResourceID: key})
	if err == nil {
		err = w.Drain(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	dbtest.Exec(t, db, "DELETE FROM part")
	p := restored(t, db, plan, job)
	wantMissing(t, p, "is not there", "part 1 0 : row 'a,2: ")
}

// TestRestoreCutStranger: a row that lost a reference, and then went, gets it back, not a stranger's that has
// its key since.
func TestRestoreCutStranger(t *testing.T) {
	db, job := deletedShelf(t)
	dbtest.Exec(t, db, "INSERT INTO book VALUES (3, 'b', NULL, NULL)")
	wantMissing(t, restored(t, db, shelves, job), "", "book 1 1 : row 3: ")
	if got := bookRows(t, db); got != "1 a 99 2,2 a 99 1,3 b 0 0,9 b 3 0" {
		t.Errorf("a stranger's row was written: %s", got)
	}
}

// TestRestoreRootPurged: where copies of rows of its table are lost, a root is not told as missing that is
// back and whose copy was purged since.
func TestRestoreRootPurged(t *testing.T) {
	db, job := deletedOf(t, "lender", 3)
	dbtest.Exec(t, db, "DELETE FROM onerow_trash_lender WHERE id = 4")
	cut := errors.New("cut")
	o := recover.Options{Batch: 1, OnBatch: func(context.Context, recover.Progress) error { return cut }}
	if _, _, err := recover.Job(t.Context(), db, shelves, job.ID, o); !errors.Is(err, cut) {
		t.Fatal(err)
	}
	if n, err := admin.PurgeTrash(t.Context(), db, shelves, nil, 1000); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	wantMissing(t, restored(t, db, shelves, job), "", "book 0 1 : row 3", "lender 1 0 : they are not in the trash")
}

// TestDryRunRestoreOpen: of a job that has not ended the dry run knows nothing of rows above, for they may be
// there.
func TestDryRunRestoreOpen(t *testing.T) {
	db, job := deletedBlog(t, blogs)
	for _, stmt := range []string{
		"INSERT INTO blog VALUES ('c', 'next')", "INSERT INTO page (id, blog, path) VALUES (5, 'c', '/5'), (6, 'c', '/6')", "INSERT INTO note VALUES (50, 6)",
	} {
		dbtest.Exec(t, db, stmt)
	}
	key, err := onerow.EncodeKey("c")
	if err == nil {
		job, err = queue.Enqueue(t.Context(), db, queue.Deletion{Resource: "blog", ResourceID: key})
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := cascade.NewWorker(db, blogs, cascade.Config{MaxFailures: 1, Batch: 1, Chunk: 1, Progress: true, OnEvent: progressed(func(j queue.Job) {
		if j.Tables["page"] > 0 && j.Tables["note"] > 0 {
			cancel()
		}
	})})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Drain(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was not stopped: %v", err)
	}
	dbtest.Exec(t, db, "UPDATE onerow_trash SET expires_at = UTC_TIMESTAMP(6) WHERE job_id = ? AND table_name = 'page'", job.ID)
	dry, err := recover.Rows(t.Context(), db, blogs, job.ID, recover.Options{DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range dry.Missing {
		if strings.Contains(m.Why, "above them") {
			t.Errorf("%+v", m)
		}
	}
}

// progressed hears of jobs alone.
func progressed(f func(queue.Job)) func(cascade.Event) {
	return func(e cascade.Event) {
		if e.Progress != nil {
			f(*e.Progress)
		}
	}
}
