package repo_test

import (
	"testing"
	"time"

	"github.com/onerow/onerow/repo"
)

// TestZeroID: a row with the id 0, which somebody put there, comes back to a table whose ids AUTO_INCREMENT makes.
func TestZeroID(t *testing.T) {
	db, r := open(t), newRepos(t)
	ctx := t.Context()
	p := must(r.projects.Create(ctx, db, Project{UserID: 7, Name: "a"})).Row
	if _, err := db.ExecContext(ctx, "UPDATE project SET id = 0 WHERE id = ?", p.ID); err != nil {
		t.Fatal(err)
	}
	must(r.projects.Archive(ctx, db, 0))
	if res, err := r.projects.Activate(ctx, db, 0); err != nil || res.Row.ID != 0 {
		t.Errorf("activate: %+v, %v", res.Row, err)
		return
	}
	must(r.projects.Delete(ctx, db, 0, repo.Grace(time.Hour)))
	if res, err := r.projects.CancelDelete(ctx, db, 0); err != nil || res.Row.ID != 0 {
		t.Errorf("cancel: %+v, %v", res.Row, err)
	}
}
