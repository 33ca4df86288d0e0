package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// unstable are columns that a retry may leave otherwise: times, the number of
// claims and batches, and what went wrong on the way.
var unstable = []string{
	"onerow_job.due_at", "onerow_job.created_at", "onerow_job.started_at", "onerow_job.batch_seq", "onerow_job.token", "onerow_job.worker",
	"onerow_job_archive.due_at", "onerow_job_archive.created_at", "onerow_job_archive.started_at", "onerow_job_archive.finished_at",
	"onerow_job_archive.batch_seq", "onerow_job_archive.token", "onerow_job_archive.last_error", "onerow_job.last_error",
	"onerow_deletion.requested_at", "onerow_quota_mark.created_at", "onerow_goose_version",
	"onerow_plan", // for people, written beside the work
}

// crash fails a workflow at every statement, at both isolation levels.
func crash(t *testing.T, points int, w func(store *shelf) crashtest.Workflow) {
	crashMapped(t, points, func(_ string, store *shelf, _ func(*Worker)) crashtest.Workflow { return w(store) })
}

// crashMapped is crash for workflows with workers, which get the catalog from ready. setting is the name of
// one of sessions.
func crashMapped(t *testing.T, points int, w func(setting string, store *shelf, ready func(*Worker)) crashtest.Workflow) {
	for name, opts := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t, opts...)
			plant(t, dbtest.OpenDSN(t, dsn))
			report := crashtest.Run(t, racetest.Share(complete(w(name, &shelf{}, mapped(t, dsn, forest)), dsn)))
			if report.FaultPoints < racetest.Least(points) {
				t.Errorf("only %d fault points", report.FaultPoints)
			}
		})
	}
}

func complete(w crashtest.Workflow, dsn string) crashtest.Workflow {
	w.DSN, w.Ignore = dsn, unstable
	w.Sets = []string{"onerow_deletion", "onerow_quota_mark"}
	w.Refs = map[string]string{"onerow_job.deletion_id": "onerow_deletion.id", "onerow_job_archive.deletion_id": "onerow_deletion.id",
		"onerow_job_archive.id": "onerow_job.id", "onerow_job_count.job_id": "onerow_job.id", "onerow_job_detached.job_id": "onerow_job.id", "onerow_job_plan.job_id": "onerow_job.id",
		"onerow_parked.job_id": "onerow_job.id"}
	w.Empty = []string{"onerow_deletion", "onerow_job", "onerow_job_archive", "onerow_job_count", "onerow_job_detached", "onerow_job_plan",
		"onerow_parked", "onerow_quota_mark"}
	for _, r := range forest.Resources {
		w.Empty = append(w.Empty, r.Name)
		if r.Archive != "" {
			w.Empty = append(w.Empty, r.Archive)
		}
	}
	return w
}

func execAll(ctx context.Context, db *sql.DB, queries ...string) error {
	for _, query := range queries {
		if _, err := db.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("%s: %w", query, err)
		}
	}
	return nil
}

// putJob is an INSERT of an open job for a row, due at once or after a while.
func putJob(resource, state, due string) string {
	return fmt.Sprintf(`INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at)
VALUES (1, '%s', '1', 5, '%s', UTC_TIMESTAMP(6) + INTERVAL %s, UTC_TIMESTAMP(6))`, resource, state, due)
}

func TestCrashEnqueue(t *testing.T) {
	crash(t, 30, func(*shelf) crashtest.Workflow {
		return crashtest.Workflow{Call: func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				d := queue.Deletion{Resource: "project", ResourceID: "1", Owner: "7", From: "active", Grace: time.Hour}
				var err error
				if d.ID, err = queue.Log(ctx, tx, d); err != nil {
					return err
				}
				_, err = queue.Enqueue(ctx, tx, d)
				return err
			})
		}}
	})
}

func TestCrashEnqueueOpen(t *testing.T) {
	crash(t, 30, func(*shelf) crashtest.Workflow {
		return crashtest.Workflow{
			Setup: func(ctx context.Context, db *sql.DB) error {
				return execAll(ctx, db, putJob("project", "scheduled", "1 HOUR"))
			},
			Call: func(ctx context.Context, db *sql.DB) error {
				job, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "project", ResourceID: "1"})
				if err == nil && (job.ID != 1 || job.State != queue.Ready) {
					return fmt.Errorf("%+v", job)
				}
				return err
			},
		}
	})
}

func TestCrashCancel(t *testing.T) {
	crash(t, 40, func(*shelf) crashtest.Workflow {
		return crashtest.Workflow{
			Setup: func(ctx context.Context, db *sql.DB) error {
				return execAll(ctx, db, putJob("project", "scheduled", "1 HOUR"))
			},
			Call: func(ctx context.Context, db *sql.DB) error { return queue.Cancel(ctx, db, "project", "1", 5) },
		}
	})
}

func TestCrashRetry(t *testing.T) {
	crash(t, 50, func(*shelf) crashtest.Workflow {
		return crashtest.Workflow{
			Setup: func(ctx context.Context, db *sql.DB) error {
				return execAll(ctx, db, putJob("project", "dead", "0 SECOND"), moveColumns+"UTC_TIMESTAMP(6) FROM onerow_job", "DELETE FROM onerow_job")
			},
			Call: func(ctx context.Context, db *sql.DB) error {
				_, err := queue.Retry(ctx, db, 1)
				if errors.Is(err, queue.ErrWrongState) { // an earlier call did it
					return nil
				}
				return err
			},
		}
	})
}

// until runs rounds until the job is in a state. A claim passes by a job that a process
// holds which has stopped; crashtest ends that process when somebody waits for it.
func until(ctx context.Context, db *sql.DB, w *Worker, state queue.State) error {
	for ctx.Err() == nil {
		worked, err := w.RunOnce(ctx)
		if err == nil && worked == 0 {
			err = execAll(ctx, db, "SELECT id FROM onerow_job WHERE id = 1 FOR UPDATE")
		}
		if err != nil {
			return err
		}
		job, err := queue.Get(ctx, db, 1)
		if err != nil {
			return err
		}
		if job.State == state {
			return nil
		}
		backoff.Sleep(ctx, 10*time.Millisecond)
	}
	return context.Cause(ctx)
}

func TestCrashFailure(t *testing.T) {
	crashMapped(t, 60, func(_ string, _ *shelf, ready func(*Worker)) crashtest.Workflow {
		return crashtest.Workflow{
			Setup: func(ctx context.Context, db *sql.DB) error {
				return execAll(ctx, db, putJob("project", "ready", "0 SECOND"), "UPDATE onerow_job SET resource_id = 'nonsense'")
			},
			Call: func(ctx context.Context, db *sql.DB) error {
				w, err := NewWorker(db, forest, Config{MaxFailures: 1, Lease: time.Millisecond, Name: "w", Assets: &shelf{}})
				if err != nil {
					return err
				}
				still(w)
				ready(w)
				return until(ctx, db, w, queue.Dead)
			},
		}
	})
}

// smallForest has something of everything below project 1.
func smallForest(ctx context.Context, db *sql.DB) error {
	for _, row := range []struct {
		table  string
		values map[string]any
	}{
		{"project_archive", map[string]any{"id": 1, "user_id": 7, "deletion_id": 5, "deleted_from": "active"}},
		{"project", map[string]any{"id": 2, "user_id": 7}},
		{"screen", map[string]any{"id": 11, "project_id": 1, "blob_key": "a"}},
		{"screen_archive", map[string]any{"id": 12, "project_id": 1, "blob_key": "b"}},
		{"screen", map[string]any{"id": 13, "project_id": 2, "blob_key": "c"}},
		{"comment", map[string]any{"id": 21, "screen_id": 11}},
		{"comment", map[string]any{"id": 22, "screen_id": 13}},
		{"reaction", map[string]any{"id": 31, "comment_id": 21}},
		{"reaction", map[string]any{"id": 32, "comment_id": 21}},
		{"reaction_archive", map[string]any{"id": 33, "comment_id": 21}},
		{"reaction", map[string]any{"id": 34, "comment_id": 22}},
		{"tag", map[string]any{"id": 41, "screen_id": 12}},
		{"note", map[string]any{"id": 51, "project_id": 1}},
		{"widget", map[string]any{"id": 61, "project_id": 1, "user_id": 70}},
	} {
		if err := insertRow(ctx, db, row.table, row.values); err != nil {
			return err
		}
	}
	return execAll(ctx, db, putJob("project", "ready", "0 SECOND"))
}

// smallCounts is what the job of smallForest must have counted.
func smallCounts(ctx context.Context, db *sql.DB) error {
	job, err := queue.Get(ctx, db, 1)
	if err != nil {
		return err
	}
	if want := "map[comment:1 note:1 reaction:2 reaction_archive:1 screen:1 screen_archive:1 tag:1 widget:1]"; fmt.Sprint(job.Tables) != want || job.State != queue.Done || job.Failures != 0 {
		return fmt.Errorf("%+v, want %s", job, want)
	}
	return nil
}

// TestCrashHoldJob: a job that has begun is cancelled. What is gone and counted stays so, what it has
// parked is forgotten, the worker that had it changes nothing any more, and the rest stays.
func TestCrashHoldJob(t *testing.T) {
	for _, state := range []queue.State{queue.Running, queue.Dead} {
		t.Run(string(state), func(t *testing.T) {
			crash(t, 60, func(*shelf) crashtest.Workflow {
				return crashtest.Workflow{
					Setup: func(ctx context.Context, db *sql.DB) error {
						err := errors.Join(smallForest(ctx, db), execAll(ctx, db, "DELETE FROM note", "INSERT INTO onerow_job_count VALUES (1, 'note', 1)",
							"UPDATE onerow_job SET state = 'running', token = 1, worker = 'w#1', due_at = UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE",
							"INSERT INTO onerow_parked (id, job_id, table_name, row_key, error, state, parked_at) VALUES (1, 1, 'tag', '41', 'e', 'parked', UTC_TIMESTAMP(6))"))
						if state == queue.Dead && err == nil {
							err = execAll(ctx, db, "UPDATE onerow_job SET state = 'dead'", moveColumns+"UTC_TIMESTAMP(6) FROM onerow_job", "DELETE FROM onerow_job")
						}
						return err
					},
					Call: func(ctx context.Context, db *sql.DB) error {
						if _, err := queue.HoldJob(ctx, db, 1, "cancelled"); err != nil {
							return err
						}
						return queue.Cancel(ctx, db, "project", "1", 5)
					},
					Check: func(ctx context.Context, db *sql.DB) error {
						l := lease{Worker: &Worker{}, job: queue.Claimed{Job: queue.Job{ID: 1, Token: 1}}}
						if err := l.fence(ctx, db, ""); !errors.Is(err, fault.ErrLeaseLost) {
							return fmt.Errorf("the worker that had it may go on: %w", err)
						}
						job, err := queue.Get(ctx, db, 1)
						if err == nil && (job.State != queue.Cancelled || fmt.Sprint(job.Tables) != "map[note:1]" || job.Parked > 0 || time.Since(job.DueAt).Abs() > time.Hour) {
							err = fmt.Errorf("%+v", job)
						}
						return err
					},
				}
			})
		})
	}
}

// TestCrashCascade: in batches as small as they can be, and at the other isolation level in one of each
// level, which is half as many statements.
func TestCrashCascade(t *testing.T) {
	crashMapped(t, 400, func(setting string, store *shelf, ready func(*Worker)) crashtest.Workflow {
		c := Config{Batch: 2, Chunk: 1, Target: -1, Lease: time.Millisecond, Name: "w", Assets: store}
		if setting != "read committed" {
			c.Batch, c.Chunk = 20, 20
		}
		return crashtest.Workflow{
			Setup: smallForest,
			Call: func(ctx context.Context, db *sql.DB) error {
				w, err := NewWorker(db, forest, c)
				if err != nil {
					return err
				}
				ready(w)
				return until(ctx, db, w, queue.Done)
			},
			Check: func(ctx context.Context, db *sql.DB) error {
				if store.names() != 2 {
					return fmt.Errorf("%d assets were deleted", store.names())
				}
				return smallCounts(ctx, db)
			},
		}
	})
}

// TestCrashCatalog: nor do failures while the catalog is read count against a job. The
// isolation level makes no difference to that, and reading it takes its time.
func TestCrashCatalog(t *testing.T) {
	dsn, store := dbtest.DSN(t), &shelf{}
	plant(t, dbtest.OpenDSN(t, dsn))
	report := crashtest.Run(t, racetest.Share(complete(crashtest.Workflow{
		Setup: func(ctx context.Context, db *sql.DB) error {
			return execAll(ctx, db, putJob("note", "ready", "0 SECOND"))
		},
		Call: func(ctx context.Context, db *sql.DB) error {
			w, err := NewWorker(db, forest, Config{Lease: time.Millisecond, Name: "w", Assets: store})
			if err != nil {
				return err
			}
			still(w)
			return until(ctx, db, w, queue.Done)
		},
		Check: func(ctx context.Context, db *sql.DB) error {
			job, err := queue.Get(ctx, db, 1)
			if err == nil && (job.State != queue.Done || job.Failures > 0) {
				err = fmt.Errorf("%+v", job)
			}
			return err
		},
	}, dsn)))
	if report.FaultPoints < racetest.Least(100) {
		t.Errorf("only %d fault points", report.FaultPoints)
	}
}

// naive are workers as one would write them at first: one counts in a statement of
// its own, the other deletes parents before their children.
var naive = map[string]func(ctx context.Context, db *sql.DB) error{
	"counts afterwards": func(ctx context.Context, db *sql.DB) error {
		n, err := onerow.Affected(ctx, db, "DELETE FROM reaction WHERE comment_id = 21")
		if err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, `INSERT INTO onerow_job_count VALUES (1, 'reaction', ?)
ON DUPLICATE KEY UPDATE deleted_rows = deleted_rows + VALUES(deleted_rows)`, n)
		return err
	},
	"parents first": func(ctx context.Context, db *sql.DB) error {
		var comments []string
		err := onerow.Query(ctx, db, "SELECT id FROM comment WHERE screen_id = 11", nil, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			comments = append(comments, id)
			return err
		})
		if err != nil || len(comments) == 0 {
			return err
		}
		return execAll(ctx, db, "DELETE FROM comment WHERE screen_id = 11", "DELETE FROM reaction WHERE comment_id IN ("+strings.Join(comments, ", ")+")")
	},
}

func TestCrashCatchesTheNaive(t *testing.T) {
	for name, call := range naive {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t)
			plant(t, dbtest.OpenDSN(t, dsn))
			w := crashtest.Workflow{Setup: smallForest, Call: call, Once: true}
			_, err := crashtest.Explore(t.Context(), complete(w, dsn))
			var failures *crashtest.Failures
			if !errors.As(err, &failures) {
				t.Fatalf("nobody noticed: %v", err)
			}
			table := map[string]string{"counts afterwards": "table onerow_job_count", "parents first": "table reaction"}[name]
			if first := failures.List[0]; !strings.Contains(first.Diff, table) {
				t.Errorf("no difference in the %s:\n%s", table, first)
			}
			t.Logf("%d of %d fault points", len(failures.List), failures.Runs)
		})
	}
}
