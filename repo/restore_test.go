package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// withTable is the plan and a table that somebody else designed, whose rows stay where
// they are during the grace period.
func withTable() schema.Plan {
	p := plan()
	p.Tables = []schema.Table{{Name: "invoice", Key: []string{"id"}}}
	return p
}

// TestRestore: exactly the deletion of that number is taken back, once, and the answer
// says which row came back where and under which name.
func TestRestore(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			r, db := newRepos(t), open(t, dbtest.Isolation(level), dbtest.Param("clientFoundRows", "true"))
			ctx := t.Context()
			p := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A", Note: "kept"})).Row
			first := must(r.projects.Delete(ctx, db, p.ID, repo.Grace(time.Hour)))
			got, err := repo.Restore(ctx, db, plan(), first.DeletionID)
			want := repo.Restored{DeletionID: first.DeletionID, Resource: "project", Key: fmt.Sprint(p.ID), State: schema.Active, Name: "A", OldName: "A", Changed: true}
			if err != nil || got != want || got.Renamed() {
				t.Errorf("%+v, %v\nwant %+v", got, err, want)
			}
			if row := must(r.projects.Get(ctx, db, p.ID)); row.Note != "kept" || row.Name != "A" {
				t.Errorf("%+v", row)
			}
			want.Changed, want.OldName = false, ""
			if got, err = repo.Restore(ctx, db, plan(), first.DeletionID); err != nil || got != want {
				t.Errorf("again: %+v, %v", got, err)
			}

			// Its name is taken meanwhile.
			second := must(r.projects.Delete(ctx, db, p.ID, repo.Grace(time.Hour)))
			must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "a"}))
			if _, err = repo.Restore(ctx, db, plan(), first.DeletionID); !errors.Is(err, queue.ErrOtherDeletion) {
				t.Errorf("the earlier deletion of a row that another hides: %v", err)
			}
			marks := count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark WHERE resource = 'project' AND owner = '1'")
			got, err = repo.Restore(ctx, db, plan(), second.DeletionID)
			if err != nil || !got.Renamed() || got.Name != "A (Copy 1)" || got.OldName != "A" || !got.Changed {
				t.Errorf("%+v, %v", got, err)
			}
			if n := count(t, db, "SELECT COUNT(*) FROM onerow_quota_mark WHERE resource = 'project' AND owner = '1'"); n != marks+1 {
				t.Errorf("%d marks, %d before", n, marks)
			}

			// An archived row returns to the archive.
			must(r.projects.Archive(ctx, db, p.ID))
			third := must(r.projects.Delete(ctx, db, p.ID, repo.Grace(time.Hour)))
			if got, err = repo.Restore(ctx, db, plan(), third.DeletionID); err != nil || got.State != schema.Archived || got.Renamed() || !got.Changed {
				t.Errorf("%+v, %v", got, err)
			}

			// Too late: the grace period is over, and then the row is gone.
			fourth := must(r.projects.Delete(ctx, db, p.ID, repo.Grace(time.Hour)))
			must(db.ExecContext(ctx, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)"))
			if _, err = repo.Restore(ctx, db, plan(), fourth.DeletionID); !errors.Is(err, repo.ErrTooLate) {
				t.Errorf("after the grace period: %v", err)
			}
			must(db.ExecContext(ctx, "DELETE FROM project_archive"))
			if _, err = repo.Restore(ctx, db, plan(), fourth.DeletionID); !errors.Is(err, repo.ErrTooLate) {
				t.Errorf("after the row went: %v", err)
			}
			if got, err = repo.Restore(ctx, db, plan(), third.DeletionID); err != nil || got.Changed || got.State != "" {
				t.Errorf("a deletion that was cancelled, of a row that is gone since: %+v, %v", got, err)
			}
			if _, err = repo.Restore(ctx, db, plan(), 4711); !errors.Is(err, repo.ErrNoDeletion) {
				t.Errorf("a deletion that never was: %v", err)
			}
		})
	}
}

// TestRestoreVisible: a job that was queued for a row that nothing hides is cancelled,
// and the row stays where it is; of a table that the toolkit did not make, too.
func TestRestoreVisible(t *testing.T) {
	db := open(t)
	r, ctx := newRepos(t), t.Context()
	must(db.ExecContext(ctx, "CREATE TABLE invoice (id VARCHAR(20) PRIMARY KEY)"))
	must(db.ExecContext(ctx, "INSERT INTO invoice VALUES ('x,y')"))
	p := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row
	for _, root := range []struct {
		resource, key string
		state         schema.State
	}{{"project", fmt.Sprint(p.ID), schema.Active}, {"invoice", must(onerow.EncodeKey("x,y")), ""}} {
		enqueued := func() queue.Job {
			d := queue.Deletion{Resource: root.resource, ResourceID: root.key, Grace: time.Hour}
			d.ID = must(queue.Log(ctx, db, d))
			return must(queue.Enqueue(ctx, db, d))
		}
		job := enqueued()
		for _, changed := range []bool{true, false} {
			got, err := repo.Restore(ctx, db, withTable(), job.DeletionID)
			if err != nil || got.Changed != changed || got.State != root.state || got.Resource != root.resource {
				t.Errorf("%+v, %v", got, err)
			}
			if after := must(queue.Get(ctx, db, job.ID)); after.State != queue.Cancelled {
				t.Errorf("%+v", after)
			}
		}
		again := enqueued()
		must(db.ExecContext(ctx, "UPDATE onerow_job SET state = 'running', token = 1"))
		if _, err := repo.Restore(ctx, db, withTable(), again.DeletionID); !errors.Is(err, repo.ErrTooLate) {
			t.Errorf("while it runs: %v", err)
		}
		must(db.ExecContext(ctx, "DELETE FROM onerow_job"))
	}
	if _, err := repo.Restore(ctx, db, schema.Plan{Resources: plan().Resources[:1]}, int64(count(t, db, "SELECT MAX(id) FROM onerow_deletion"))); !errors.Is(err, schema.ErrUnknownResource) {
		t.Errorf("a plan without the resource: %v", err)
	}
}

// TestRestoreJoined: in the caller's transaction nothing is left after an error, and the
// snapshot's age does not matter.
func TestRestoreJoined(t *testing.T) {
	dsn := dbtest.DSN(t, dbtest.Isolation(sql.LevelRepeatableRead), dbtest.StaleWrites())
	db := dbtest.OpenDSN(t, dsn)
	makeTables(t, db)
	r, ctx := newRepos(t), t.Context()
	p := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row
	tx := must(db.BeginTx(ctx, nil))
	defer func() {
		if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
			t.Error(err)
		}
	}()
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM onerow_deletion").Scan(&n); err != nil || n != 0 {
		t.Fatal(n, err)
	}
	del := must(r.projects.Delete(ctx, db, p.ID, repo.Grace(time.Hour)))
	got, err := repo.Restore(ctx, tx, plan(), del.DeletionID)
	if err != nil || !got.Changed || got.State != schema.Active {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	must(r.projects.Get(ctx, db, p.ID))
}

// TestRestoreCrash fails an undo at every statement: job, row, name and mark change
// together or not at all, and the next call finishes.
func TestRestoreCrash(t *testing.T) {
	r := newRepos(t)
	for _, c := range []struct {
		name   string
		setup  func(ctx context.Context, r repos, db *sql.DB) error
		points int
	}{
		{"a row", start, 50},
		{"an archived row", archived, 50},
		{"a name that is taken", start, 60},
		{"a row that nothing hides", start, 30},
	} {
		for _, level := range levels {
			t.Run(c.name+"/"+level.String(), func(t *testing.T) {
				dsn := dbtest.DSN(t, dbtest.Isolation(level))
				makeTables(t, dbtest.OpenDSN(t, dsn))
				var deletion int64
				report := crashtest.Run(t, racetest.Share(crashtest.Workflow{
					Name: "undo " + c.name, DSN: dsn, Empty: tables,
					Setup: func(ctx context.Context, db *sql.DB) (err error) {
						if err := c.setup(ctx, r, db); err != nil {
							return err
						}
						if c.name == "a row that nothing hides" {
							d := queue.Deletion{Resource: "project", ResourceID: "1", Grace: time.Hour}
							if d.ID, err = queue.Log(ctx, db, d); err != nil {
								return err
							}
							deletion = d.ID
							_, err = queue.Enqueue(ctx, db, d)
							return err
						}
						del, err := r.projects.Delete(ctx, db, 1, repo.Grace(time.Hour))
						deletion = del.DeletionID
						if err == nil && c.name == "a name that is taken" {
							_, err = r.projects.Create(ctx, db, Project{UserID: 1, Name: "a"})
						}
						return err
					},
					Call: func(ctx context.Context, db *sql.DB) error {
						_, err := repo.Restore(ctx, db, plan(), deletion)
						return err
					},
					Tables: tables, Refs: refs,
					Generated: []string{"onerow_job.deletion_id", "onerow_request.row_id"},
					Ignore:    []string{"onerow_request.call_token", "onerow_job.batch_seq", "onerow_job_archive.batch_seq"},
					Sets:      []string{"onerow_deletion"},
				}))
				if report.FaultPoints < racetest.Least(c.points) {
					t.Errorf("%d fault points, want at least %d", report.FaultPoints, c.points)
				}
			})
		}
	}
}

// TestRestoreStatements: one to read the deletion and one to lock the row more than
// CancelDelete sends, whatever is in the tables.
func TestRestoreStatements(t *testing.T) {
	db, c := counted(t)
	r, ctx := newRepos(t), t.Context()
	p := must(r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})).Row
	var counts []int
	for _, undo := range []func(repo.Deleted[Project]) error{
		func(repo.Deleted[Project]) error { return second(r.projects.CancelDelete(ctx, db, p.ID)) },
		func(del repo.Deleted[Project]) error { return second(repo.Restore(ctx, db, plan(), del.DeletionID)) },
	} {
		del := must(r.projects.Delete(ctx, db, p.ID, repo.Grace(time.Hour)))
		log, err := crashtest.Count(c, func() error { return undo(del) })
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, len(log))
	}
	if counts[1] != counts[0]+2 {
		t.Errorf("%d statements, CancelDelete sends %d", counts[1], counts[0])
	}
}
