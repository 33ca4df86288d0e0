package repo_test

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
)

// oldSnapshot begins a transaction at REPEATABLE READ whose snapshot is as old as this call.
func oldSnapshot(t *testing.T, db *sql.DB) *sql.Tx {
	t.Helper()
	tx := must(db.BeginTx(t.Context(), nil))
	t.Cleanup(func() {
		if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
			t.Error(err)
		}
	})
	var n int
	if err := tx.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM project").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestOldSnapshot: a caller's transaction at REPEATABLE READ does not see what others
// have committed since; the verbs that it joins answer by what is there now. A server that refuses
// to write there: TestSnapshotRefused.
func TestOldSnapshot(t *testing.T) {
	db, p, ctx := open(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites()), newRepos(t).projects, t.Context()

	tx := oldSnapshot(t, db)
	first := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"}, repo.RequestID("r"))).Row
	if res, err := p.Create(ctx, tx, Project{UserID: 1, Name: "A"}, repo.RequestID("r")); err != nil || !res.Replayed || res.Row.ID != first.ID {
		t.Errorf("a replay in an old snapshot: %+v, %v", res, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}

	tx = oldSnapshot(t, db)
	must(p.Delete(ctx, db, first.ID, repo.Grace(time.Hour)))
	if res, err := p.CancelDelete(ctx, tx, first.ID); err != nil || !res.Changed {
		t.Errorf("a cancel in an old snapshot: %+v, %v", res, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}

	must(p.Archive(ctx, db, first.ID))
	taken := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row
	tx = oldSnapshot(t, db)
	must(p.Rename(ctx, db, taken.ID, "B"))
	if res, err := p.Activate(ctx, tx, first.ID); err != nil || res.Row.Name != "A" {
		t.Errorf("activated in an old snapshot, in which its name was taken: %+v, %v", res, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}

	tx = oldSnapshot(t, db)
	del := must(p.Delete(ctx, db, first.ID))
	if again, err := p.Delete(ctx, tx, first.ID); err != nil || again.JobID != del.JobID || again.Changed {
		t.Errorf("a second delete in an old snapshot: %+v, %v; the first %+v", again, err, del)
	}
	if _, err := p.CancelDelete(ctx, tx, first.ID); !errors.Is(err, repo.ErrTooLate) {
		t.Errorf("a late cancel in an old snapshot: %v", err)
	}
}

// TestCancelLeavesNothing: a cancel that fails for a reason of business has written
// nothing into the caller's transaction.
func TestCancelLeavesNothing(t *testing.T) {
	db, r, ctx := open(t), newRepos(t), t.Context()
	id := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row.ID
	s := must(r.screens.Create(ctx, db, Screen{ProjectID: id, Filename: "a.png"})).Row.ID
	del := must(r.screens.Delete(ctx, db, s, repo.Grace(time.Hour)))
	must(r.projects.Delete(ctx, db, id))
	tx := must(db.BeginTx(ctx, nil))
	if _, err := r.screens.CancelDelete(ctx, tx, s); !errors.Is(err, repo.ErrParentNotFound) {
		t.Errorf("cancel below a deleted project: %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if job := must(queue.Get(ctx, db, del.JobID)); job.State != queue.Scheduled {
		t.Errorf("the job of a row that stays hidden is %s", job.State)
	}
}

// TestTimedOutRequest: a create that waited too long leaves no request record in the
// caller's transaction, whatever the caller does next.
func TestTimedOutRequest(t *testing.T) {
	db, p, ctx := open(t, dbtest.Param("innodb_lock_wait_timeout", "1")), newRepos(t).projects, t.Context()
	other := must(db.BeginTx(ctx, nil))
	must(p.Create(ctx, other, Project{UserID: 1, Name: "A"}))
	tx := must(db.BeginTx(ctx, nil))
	var my *mysql.MySQLError
	if _, err := p.Create(ctx, tx, Project{UserID: 1, Name: "a"}, repo.RequestID("r")); !errors.As(err, &my) || my.Number != 1205 {
		t.Errorf("create beside a create of the same name: %v", err)
	}
	if err := errors.Join(tx.Commit(), other.Rollback()); err != nil {
		t.Fatal(err)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_request"); n != 0 {
		t.Errorf("%d request records of a row that was not made", n)
	}
}

// TestUpdateInPlace: what change writes through a pointer of the row is a change too.
func TestUpdateInPlace(t *testing.T) {
	db, p, ctx := open(t), newRepos(t).projects, t.Context()
	code := int64(1)
	id := must(p.Create(ctx, db, Project{UserID: 1, Name: "A", Code: &code})).Row.ID
	res := must(p.Update(ctx, db, id, func(row *Project) error { *row.Code = 2; return nil }))
	if row := must(p.Get(ctx, db, id)); !res.Changed || *row.Code != 2 {
		t.Errorf("changed in place: %+v, stored %d", res, *row.Code)
	}
}

// TestDeleteAfterDeath: the row went at once and its job died; deleting again makes a
// new job, so that what is below it goes after all.
func TestDeleteAfterDeath(t *testing.T) {
	db, p, ctx := open(t), newRepos(t).projects, t.Context()
	id := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row.ID
	del := must(p.Delete(ctx, db, id))
	for _, stmt := range []string{
		`INSERT INTO onerow_job_archive SELECT id, resource, resource_id, deletion_id, 'dead', due_at, token, worker, batch_seq,
		failures, last_error, created_at, started_at, UTC_TIMESTAMP(6) FROM onerow_job`,
		`DELETE FROM onerow_job`,
	} {
		must(db.ExecContext(ctx, stmt))
	}
	again := must(p.Delete(ctx, db, id))
	if again.JobID == del.JobID || again.JobID == 0 || again.DeletionID != del.DeletionID {
		t.Errorf("deleted after the job %d died: %+v", del.JobID, again)
	}
	if third := must(p.Delete(ctx, db, id)); third.JobID != again.JobID {
		t.Errorf("deleted once more: job %d, open was %d", third.JobID, again.JobID)
	}
}

// TestOrderMarks: a write to the column by which the quota is ordered is marked.
func TestOrderMarks(t *testing.T) {
	db, ctx := open(t), t.Context()
	for by, want := range map[string][2]int{"note": {1, 0}, "name": {1, 1}, "created_at": {0, 0}, "version": {1, 1}} {
		pl := plan()
		pl.Resources[0].Quota.By = by
		p := must(repo.New[Project](pl, "project"))
		id := must(p.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row.ID
		marks := func() int { return count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark") }
		before := marks()
		must(p.Update(ctx, db, id, func(row *Project) error { row.Note, row.Name = "x", "B"; return nil }))
		if n := marks() - before; n != want[0] {
			t.Errorf("ordered by %s, an update: %d marks, want %d", by, n, want[0])
		}
		before = marks()
		must(p.Rename(ctx, db, id, "C"))
		if n := marks() - before; n != want[1] {
			t.Errorf("ordered by %s, a rename: %d marks, want %d", by, n, want[1])
		}
		must(p.Delete(ctx, db, id))
	}
}

// TestHiddenTwice: a row that stays hidden until its asset is gone keeps its
// deletion when it is deleted again, so that the cascade that runs may take it away.
func TestHiddenTwice(t *testing.T) {
	db, r, ctx := open(t), newRepos(t), t.Context()
	id := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row.ID
	s := must(r.screens.Create(ctx, db, Screen{ProjectID: id, Filename: "a.png", BlobKey: "k"})).Row.ID
	del := must(r.screens.Delete(ctx, db, s))
	again := must(r.screens.Delete(ctx, db, s))
	if again.DeletionID != del.DeletionID || again.JobID != del.JobID || again.Changed {
		t.Errorf("deleted %+v, then %+v", del, again)
	}
}

// TestGenericTime: a sql.Null[time.Time] travels like any time, whatever the driver's
// settings.
func TestGenericTime(t *testing.T) {
	type Row struct {
		ID     int64               `db:"id"`
		UserID int64               `db:"user_id"`
		Name   string              `db:"name"`
		Due    sql.Null[time.Time] `db:"due"`
	}
	db, ctx := open(t, dbtest.Param("loc", "Asia%2FTokyo"), dbtest.Param("parseTime", "false")), t.Context()
	p := must(repo.New[Row](plan(), "project"))
	due := time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)
	id := must(p.Create(ctx, db, Row{UserID: 1, Name: "A", Due: sql.Null[time.Time]{V: due, Valid: true}})).Row.ID
	if row := must(p.Get(ctx, db, id)); !row.Due.Valid || !row.Due.V.Equal(due) {
		t.Errorf("due %v, want %v", row.Due, due)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM project WHERE due = '2030-01-02 03:04:05.000006'"); n != 1 {
		t.Error("it was not stored in UTC")
	}
	must(p.Update(ctx, db, id, func(row *Row) error { row.Due = sql.Null[time.Time]{}; return nil }))
	if row := must(p.Get(ctx, db, id)); row.Due.Valid {
		t.Errorf("due %v, want none", row.Due)
	}
}

type base struct {
	ID int64 `db:"id"`
}

// TestPointerToStruct: a struct whose columns are behind a pointer is refused, for the
// pointer could be nil.
func TestPointerToStruct(t *testing.T) {
	type Behind struct {
		*base
		ScreenID int64  `db:"screen_id"`
		Body     string `db:"body"`
	}
	if _, err := repo.New[Behind](plan(), "comment"); err == nil {
		t.Error("an embedded pointer was accepted")
	}
}
