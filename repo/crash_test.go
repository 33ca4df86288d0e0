package repo_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/repo"
)

// verb is one verb under crashtest: the state before it and the call.
type verb struct {
	name   string
	setup  func(ctx context.Context, r repos, db *sql.DB) error
	call   func(ctx context.Context, r repos, db *sql.DB) error
	once   bool
	points int // at least
}

// start makes project 1 of owner 1, called "A".
func start(ctx context.Context, r repos, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `INSERT INTO project (id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at)
		VALUES (1, 1, 'A', 'a', 'a', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
	return err
}

func archived(ctx context.Context, r repos, db *sql.DB) error {
	return errors.Join(start(ctx, r, db), second(r.projects.Archive(ctx, db, 1)))
}

func archivedAndTaken(ctx context.Context, r repos, db *sql.DB) error {
	return errors.Join(archived(ctx, r, db), second(r.projects.Create(ctx, db, Project{UserID: 1, Name: "a"})))
}

func hidden(ctx context.Context, r repos, db *sql.DB) error {
	return errors.Join(start(ctx, r, db), second(r.projects.Delete(ctx, db, 1, repo.Grace(time.Hour))))
}

func hiddenArchived(ctx context.Context, r repos, db *sql.DB) error {
	return errors.Join(archived(ctx, r, db), second(r.projects.Delete(ctx, db, 1, repo.Grace(time.Hour))))
}

// begun is a deletion whose worker has deleted two rows and is gone.
func begun(ctx context.Context, r repos, db *sql.DB) error {
	err := errors.Join(start(ctx, r, db), second(r.projects.Delete(ctx, db, 1)))
	for _, query := range []string{
		"UPDATE onerow_job SET state = 'running', token = 1, batch_seq = 2, started_at = UTC_TIMESTAMP(6), due_at = UTC_TIMESTAMP(6) + INTERVAL 1 HOUR",
		"INSERT INTO onerow_job_count (job_id, table_name, deleted_rows) SELECT id, 'screen', 2 FROM onerow_job",
	} {
		if err == nil {
			_, err = db.ExecContext(ctx, query)
		}
	}
	return err
}

func nothing(context.Context, repos, *sql.DB) error { return nil }

func withScreen(ctx context.Context, r repos, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `INSERT INTO screen (id, project_id, client_filename, client_filename_base, stem_key, copy_no, created_at, updated_at)
		VALUES (5, 1, 'home.png', 'home', 'home', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
	return errors.Join(start(ctx, r, db), err)
}

var verbs = []verb{
	{"create", nothing, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"})
		if errors.Is(err, repo.ErrNameTaken) { // a call without a request id may meet its own row
			return nil
		}
		return err
	}, false, 30},
	{"create with a request id", nothing, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.projects.Create(ctx, db, Project{UserID: 1, Name: "A"}, repo.RequestID("r"))
		return err
	}, false, 40},
	{"create a child", start, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.screens.Create(ctx, db, Screen{ProjectID: 1, Filename: "home@2x.png"}, repo.RequestID("s"))
		return err
	}, false, 40},
	{"rename", start, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.projects.Rename(ctx, db, 1, "B")
		return err
	}, false, 25},
	{"update", start, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.projects.Update(ctx, db, 1, func(p *Project) error { p.Note = "set"; return nil })
		return err
	}, false, 30},
	{"archive", start, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.projects.Archive(ctx, db, 1)
		return err
	}, false, 40},
	{"archive a child", withScreen, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.screens.Archive(ctx, db, 5)
		return err
	}, false, 40},
	{"activate", archived, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.projects.Activate(ctx, db, 1)
		return err
	}, false, 40},
	{"activate and rename", archivedAndTaken, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.projects.Activate(ctx, db, 1)
		return err
	}, false, 60},
	{"delete", start, func(ctx context.Context, r repos, db *sql.DB) error {
		return withJob(r.projects.Delete(ctx, db, 1))
	}, false, 40},
	{"delete archived", archived, func(ctx context.Context, r repos, db *sql.DB) error {
		return withJob(r.projects.Delete(ctx, db, 1))
	}, false, 40},
	{"delete a row with an asset", withScreen, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.screens.Delete(ctx, db, 5)
		return err
	}, false, 40},
	{"delete with grace", start, func(ctx context.Context, r repos, db *sql.DB) error {
		return withJob(r.projects.Delete(ctx, db, 1, repo.Grace(time.Hour)))
	}, false, 40},
	{"delete hidden", hidden, func(ctx context.Context, r repos, db *sql.DB) error {
		return withJob(r.projects.Delete(ctx, db, 1))
	}, false, 25},
	{"cancel", hidden, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.projects.CancelDelete(ctx, db, 1)
		return err
	}, false, 50},
	{"cancel, archived before", hiddenArchived, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := r.projects.CancelDelete(ctx, db, 1)
		return err
	}, false, 50},
	{"cancel a job that has begun", begun, func(ctx context.Context, _ repos, db *sql.DB) error {
		var id int64
		if err := db.QueryRowContext(ctx, "SELECT id FROM onerow_job UNION ALL SELECT id FROM onerow_job_archive").Scan(&id); err != nil {
			return err
		}
		_, job, err := repo.CancelJob(ctx, db, plan(), id)
		if err == nil && (job.State != queue.Cancelled || job.Tables["screen"] != 2) {
			err = fmt.Errorf("%+v", job)
		}
		return err
	}, false, 80},
	{"get, find and list", start, func(ctx context.Context, r repos, db *sql.DB) error {
		return errors.Join(second(r.projects.Get(ctx, db, 1)), second(r.projects.Find(ctx, db, 1, "A")),
			second(r.projects.List(ctx, db, 1, repo.PageOptions{})))
	}, false, 15},
}

// refs: generated ids and who holds them. Marks come and go with their mutations;
// the audit may log an intent twice.
var refs = map[string]string{
	"project_archive.id": "project.id", "screen_archive.id": "screen.id", "onerow_job_archive.id": "onerow_job.id",
	"onerow_job_archive.deletion_id": "onerow_job.deletion_id", "project_archive.deletion_id": "onerow_job.deletion_id",
	"screen_archive.deletion_id": "onerow_job.deletion_id", "onerow_job_count.job_id": "onerow_job.id",
}

// TestCrash fails every verb at every statement, on both isolation levels.
func TestCrash(t *testing.T) {
	for _, level := range levels {
		t.Run(level.String(), func(t *testing.T) {
			r, dsn := newRepos(t), dbtest.DSN(t, dbtest.Isolation(level))
			makeTables(t, dbtest.OpenDSN(t, dsn))
			total := 0
			for _, v := range verbs {
				t.Run(v.name, func(t *testing.T) {
					report := crashtest.Run(t, racetest.Share(workflow(v, r, dsn)))
					if report.FaultPoints < racetest.Least(v.points) {
						t.Errorf("%d fault points, want at least %d", report.FaultPoints, v.points)
					}
					total += report.FaultPoints
				})
			}
			t.Logf("%s: %d verbs, %d fault points", level, len(verbs), total)
		})
	}
}

// TestCrashTogether does so where statements travel together, with the verbs whose last ones go with COMMIT.
func TestCrashTogether(t *testing.T) {
	t.Parallel()
	r, dsn := newRepos(t), dbtest.DSN(t, dbtest.Isolation(levels[0]))
	makeTables(t, dbtest.OpenDSN(t, dsn))
	slim := []verb{
		{"create a slim one", nothing, func(ctx context.Context, r repos, db *sql.DB) error {
			err := createSlim("A")(ctx, r, db)
			if errors.Is(err, repo.ErrNameTaken) {
				return nil
			}
			return err
		}, false, 0},
		{"create a slim one with a request id", nothing, createSlim("A", repo.RequestID("r")), false, 0},
	}
	for _, v := range slim {
		t.Run(v.name, func(t *testing.T) {
			report := crashtest.Run(t, racetest.Share(racetest.Together(workflow(v, r, dsn))))
			if log := report.Statements; len(log) != 1 || !log[0].Begins || log[0].Kind != "commit" {
				t.Errorf("it is not one packet:\n%s", log)
			}
		})
	}
	for _, v := range verbs {
		switch v.name {
		case "create", "create with a request id", "update", "archive", "activate", "activate and rename", "delete", "delete with grace", "cancel", "cancel, archived before":
			t.Run(v.name, func(t *testing.T) {
				report := crashtest.Run(t, racetest.Share(racetest.Together(workflow(v, r, dsn))))
				racetest.HasPackets(t, report.Statements)
			})
		}
	}
}

func workflow(v verb, r repos, dsn string) crashtest.Workflow {
	return crashtest.Workflow{
		Name: v.name, DSN: dsn,
		Empty:     tables,
		Setup:     func(ctx context.Context, db *sql.DB) error { return v.setup(ctx, r, db) },
		Call:      func(ctx context.Context, db *sql.DB) error { return v.call(ctx, r, db) },
		Tables:    tables,
		Refs:      refs,
		Generated: []string{"onerow_job.deletion_id", "onerow_request.row_id"},
		// A fencing token is never given twice, so a second cancel takes another one.
		Ignore: []string{"onerow_request.call_token", "onerow_job.batch_seq", "onerow_job_archive.batch_seq", "onerow_job.token", "onerow_job_archive.token"},
		Sets:   []string{"onerow_deletion"},
		Once:   v.once,
	}
}

// The naive twins: what people write. crashtest must catch each.
var naive = []verb{
	{"create: read, then write; the mark on its own", nothing, func(ctx context.Context, _ repos, db *sql.DB) error {
		var n int
		if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM project WHERE user_id = 1 AND name_key = 'a'").Scan(&n); err != nil || n > 0 {
			return err
		}
		if err := start(ctx, repos{}, db); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "INSERT INTO onerow_quota_mark (resource, owner, created_at) VALUES ('project', '1', UTC_TIMESTAMP(6))")
		return err
	}, false, 0},
	{"archive: copy and delete in two transactions", start, func(ctx context.Context, r repos, db *sql.DB) error {
		_, err := db.ExecContext(ctx, `INSERT INTO project_archive (id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at, archived_at)
			SELECT id, user_id, name, name_key, stem_key, copy_no, created_at, updated_at, UTC_TIMESTAMP(6) FROM project WHERE id = 1`)
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, "DELETE FROM project WHERE id = 1")
		return err
	}, false, 0},
	{"delete: the row first, then the job", start, func(ctx context.Context, _ repos, db *sql.DB) error {
		res, err := db.ExecContext(ctx, "DELETE FROM project WHERE id = 1")
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		_, err = db.ExecContext(ctx, `INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at)
			VALUES ('project', '1', 1, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
		return err
	}, false, 0},
}

// TestNaiveTwinsAreCaught is the negative control of TestCrash.
func TestNaiveTwinsAreCaught(t *testing.T) {
	r, dsn := newRepos(t), dbtest.DSN(t)
	makeTables(t, dbtest.OpenDSN(t, dsn))
	shows := []string{"\ntable onerow_quota_mark", "Error 1062", "\ntable onerow_job"} // the copy that is there refuses the retry
	for i, v := range naive {
		t.Run(v.name, func(t *testing.T) {
			_, err := crashtest.Explore(t.Context(), workflow(v, r, dsn))
			var failures *crashtest.Failures
			if !errors.As(err, &failures) {
				t.Fatalf("not caught: %v", err)
			}
			if first := failures.List[0].String(); !strings.Contains(first, shows[i]) {
				t.Errorf("the first failure does not show %q:\n%s", shows[i], first)
			}
			t.Logf("caught: %.400s", err.Error())
		})
	}
}
