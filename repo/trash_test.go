package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
	"github.com/onerow/onerow/schema/live"
)

// stays is a store whose assets must not be deleted.
type stays struct{}

func (stays) Delete(_ context.Context, names []string) error {
	return fmt.Errorf("assets of rows in the trash were deleted: %q", names)
}

// keeping is the plan with a trash, and its tables.
func keeping(t *testing.T, db *sql.DB) (schema.Plan, func() int64) {
	t.Helper()
	p := plan()
	p.Trash = schema.Age(time.Hour)
	cat := must(catalog.Read(t.Context(), db))
	for _, statement := range must(cat.TrashDDL(p)) {
		must(db.ExecContext(t.Context(), statement))
	}
	dbtest.Toolkit(t, db, "onerow_") // Verify asks for all
	if err := live.Verify(t.Context(), db, p); err != nil {
		t.Fatal(err)
	}
	return p, func() int64 { // works the queue
		w := must(cascade.NewWorker(db, p, cascade.Config{MaxFailures: 1, Assets: stays{}}))
		if err := w.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		return int64(count(t, db, "SELECT COUNT(*) FROM project") + count(t, db, "SELECT COUNT(*) FROM project_archive") + count(t, db, "SELECT COUNT(*) FROM screen") + count(t, db, "SELECT COUNT(*) FROM comment"))
	}
}

// TestRestoreJob: a deleted project comes back with everything below it, where it was and as it was, or as a copy.
func TestRestoreJob(t *testing.T) {
	db, ctx := open(t), t.Context()
	kept, work := keeping(t, db)
	r := newReposOf(t, kept)
	project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "Summer"})).Row
	screen := must(r.screens.Create(ctx, db, Screen{ProjectID: project.ID, Filename: "a.png"})).Row
	comment := must(r.comments.Create(ctx, db, Comment{ScreenID: screen.ID, Body: "!"})).Row
	for _, from := range []schema.State{schema.Active, schema.Archived} {
		if from == schema.Archived {
			must(r.projects.Archive(ctx, db, project.ID))
		}
		del := must(r.projects.Delete(ctx, db, project.ID))
		if n := work(); n != 0 {
			t.Fatalf("%d rows are left", n)
		}
		if again := must(r.projects.Delete(ctx, db, project.ID)); again.JobID != del.JobID || again.Changed {
			t.Errorf("%+v", again)
		}
		must(db.ExecContext(ctx, "DELETE FROM onerow_quota_mark"))
		back, p, err := recover.Job(ctx, db, kept, del.JobID, recover.Options{})
		if err != nil || !back.Changed || back.State != from || back.Name != "Summer" || p.Rows != 3 || p.Stuck > 0 {
			t.Fatalf("%+v, %+v, %v", back, p, err)
		}
		if row := must(r.projects.Get(ctx, db, project.ID)); row.CreatedAt != project.CreatedAt || row.Name != project.Name {
			t.Errorf("%+v, was %+v", row, project)
		}
		if row := must(r.comments.Get(ctx, db, comment.ID)); row != comment {
			t.Errorf("%+v, was %+v", row, comment)
		}
		if marks := count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark"); (marks > 0) != (from == schema.Active) {
			t.Errorf("%s: %d marks", from, marks)
		}
		if _, _, err := recover.Job(ctx, db, kept, del.JobID, recover.Options{}); !errors.Is(err, recover.ErrNotKept) {
			t.Error(err)
		}
	}

	// Under a name that is free, if its own is taken.
	must(r.projects.Activate(ctx, db, project.ID))
	del := must(r.projects.Delete(ctx, db, project.ID))
	work()
	must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "summer"}))
	back, _, err := recover.Job(ctx, db, kept, del.JobID, recover.Options{})
	if err != nil || back.Name != "Summer (Copy 1)" || !back.Renamed() {
		t.Errorf("%+v, %v", back, err)
	}

	// What is due and has kept nothing yet is left alone; in its grace period it is an undo.
	del = must(r.projects.Delete(ctx, db, project.ID))
	if back, p, err := recover.Job(ctx, db, kept, del.JobID, recover.Options{}); !errors.Is(err, recover.ErrNotKept) {
		t.Errorf("a job that is due: %+v, %+v, %v", back, p, err)
	}
	work()
	other := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "Winter"})).Row
	del = must(r.projects.Delete(ctx, db, other.ID, repo.Grace(time.Hour)))
	if back, _, err := recover.Job(ctx, db, kept, del.JobID, recover.Options{}); err != nil || back.State != schema.Active {
		t.Errorf("%+v, %v", back, err)
	}
}

// TestRestoreOvertaken: a row that is deleted again while it comes back goes, and the restore says so.
func TestRestoreOvertaken(t *testing.T) {
	db, ctx := open(t), t.Context()
	kept, work := keeping(t, db)
	r := newReposOf(t, kept)
	project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row
	for i := range 3 {
		must(r.screens.Create(ctx, db, Screen{ProjectID: project.ID, Filename: fmt.Sprint("a", i, ".png")}))
	}
	del := must(r.projects.Delete(ctx, db, project.ID))
	work()
	_, _, err := recover.Job(ctx, db, kept, del.JobID, recover.Options{Batch: 1, OnBatch: func(ctx context.Context, p recover.Progress) error {
		if p.Seen == 1 { // the root is there again, hidden
			must(r.projects.Delete(ctx, db, project.ID))
		}
		return nil
	}})
	if !errors.Is(err, queue.ErrWrongState) || !strings.Contains(err.Error(), "a new deletion has let it go on") {
		t.Error(err)
	}
	if n := work(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	back, p, err := recover.Job(ctx, db, kept, del.JobID, recover.Options{})
	if err != nil || back.State != schema.Active || p.Stuck > 0 {
		t.Errorf("%+v, %+v, %v", back, p, err)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM screen"); n != 3 {
		t.Errorf("%d screens", n)
	}
}

// TestNoTrash: what is erased leaves nothing behind; without an archive nothing else is possible.
func TestNoTrash(t *testing.T) {
	db, ctx := open(t), t.Context()
	kept, work := keeping(t, db)
	r := newReposOf(t, kept)
	project := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row
	screen := must(r.screens.Create(ctx, db, Screen{ProjectID: project.ID, Filename: "a.png"})).Row
	comment := must(r.comments.Create(ctx, db, Comment{ScreenID: screen.ID, Body: "!"})).Row
	if _, err := r.comments.Delete(ctx, db, comment.ID); !errors.Is(err, repo.ErrUnsupported) || !strings.Contains(err.Error(), "NoTrash") {
		t.Error(err)
	}
	must(r.comments.Delete(ctx, db, comment.ID, repo.NoTrash()))
	del := must(r.projects.Delete(ctx, db, project.ID, repo.NoTrash()))
	if n := count(t, db, "SELECT COUNT(*) FROM project_archive"); n != 0 {
		t.Error("it is hidden, and should be gone")
	}
	if n := work(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	for _, table := range kept.Kept() {
		if n := count(t, db, "SELECT COUNT(*) FROM "+ident.Quote(ident.TrashTable(table))); n != 0 {
			t.Errorf("%d rows of %s are in the trash", n, table)
		}
	}
	if _, _, err := recover.Job(ctx, db, kept, del.JobID, recover.Options{}); !errors.Is(err, recover.ErrNotKept) {
		t.Error(err)
	}
}
