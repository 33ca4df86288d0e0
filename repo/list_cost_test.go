package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestCostsAmongOwners: what is read and locked does not grow where each of many owners has a thousand rows,
// which an optimizer may think are few enough to sort. The index need not have the toolkit's name.
func TestCostsAmongOwners(t *testing.T) {
	r := newRepos(t)
	dsn := dbtest.DSN(t)
	db := dbtest.OpenDSN(t, dsn)
	makeTables(t, db)
	const rows = " SELECT i, (i + 999) DIV 1000, CONCAT('n (Copy ', i, ')'), CONCAT('n (copy ', i, ')'), 'n', i, 0, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)"
	dbtest.Exec(t, db, "INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, is_over_quota, version, created_at, updated_at) "+cost.Numbers(10_000)+rows+" FROM numbers")
	dbtest.Exec(t, db, "INSERT INTO project_archive (id, user_id, name, name_key, stem_key, copy_no, is_over_quota, version, created_at, updated_at, archived_at) "+
		cost.Numbers(10_000)+strings.Replace(rows, "SELECT i,", "SELECT 1000000 + i,", 1)+", UTC_TIMESTAMP(6) FROM numbers")
	dbtest.Exec(t, db, "ANALYZE TABLE project, project_archive")
	pages := func(ctx context.Context, db *sql.DB) error {
		var errs []error
		for _, owner := range []int64{1, 5, 10} {
			after := func(id int64) repo.Cursor { return repo.Cursor(must(onerow.EncodeKey(id))) }
			for _, o := range []repo.PageOptions{{}, {After: after(owner*1000 - 500)}, {State: schema.Archived}, {State: schema.Archived, After: after(1_000_000 + owner*1000 - 500)}} {
				o.Limit = 50
				page, err := r.projects.List(ctx, db, owner, o)
				if err == nil && len(page.Items) != 50 {
					err = errors.New("not 50 items")
				}
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}
	for _, s := range cost.Of(t, dsn, pages) {
		if s.Read > 60 {
			t.Errorf("%d rows are read for a page of 50: %s", s.Read, s.SQL)
		}
	}
	verbs := func(ctx context.Context, db *sql.DB) error {
		_, created := r.projects.Create(ctx, db, Project{UserID: 5, Name: "new"})
		_, archived := r.projects.Archive(ctx, db, 4400)
		_, activated := r.projects.Activate(ctx, db, 4400)
		_, found := r.projects.Find(ctx, db, 5, "new")
		_, renamed := r.projects.Rename(ctx, db, 4401, "renamed")
		_, deleted := r.projects.Delete(ctx, db, 4402)
		return errors.Join(created, archived, activated, found, renamed, deleted)
	}
	for _, s := range cost.Of(t, dsn, verbs) {
		if s.Read > 10 || s.Locked > 10 {
			t.Errorf("%d rows are read and %d locked: %s", s.Read, s.Locked, s.SQL)
		}
	}
	dbtest.Exec(t, db, "ALTER TABLE project RENAME INDEX owner_id TO by_owner")
	if err := pages(t.Context(), db); err != nil {
		t.Errorf("with an index of another name: %v", err)
	}
}
