package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

// asAnn is what a middleware does.
func asAnn(ctx context.Context) context.Context { return queue.WithActor(ctx, "ann", "OPS-12") }

// allActions are those of everything, oldest first, as "ann: retry project 1 deletion 5 job 1 OPS-12".
func allActions(ctx context.Context, db *sql.DB) (list []string, err error) {
	const query = `SELECT CONCAT_WS(' ', CONCAT(actor, ':'), action, resource, resource_id, table_name, row_key, IF(deletion_id > 0, CONCAT('deletion ', deletion_id), NULL), IF(job_id > 0, CONCAT('job ', job_id), NULL), reason) FROM onerow_action ORDER BY id`
	return list, onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		list = append(list, text)
		return err
	})
}

// actions are calls by ann, after a setup: each leaves one action when it is made, and none when it is made
// again. done is the error of a call that was made already.
var actions = map[string]struct {
	setup []string
	call  func(ctx context.Context, db *sql.DB) error
	want  string
	done  error
}{
	"delete": {nil, func(ctx context.Context, db *sql.DB) error {
		return remove(ctx, db, 1, time.Hour)
	}, "ann: delete project 1 deletion 1 OPS-12", nil},
	"cancel": {[]string{putJob("project", "scheduled", "1 HOUR")}, func(ctx context.Context, db *sql.DB) error {
		return queue.Cancel(ctx, db, "project", "1", 5)
	}, "ann: cancel project 1 deletion 5 OPS-12", nil},
	"retry": {[]string{putJob("project", "dead", "0 SECOND"), moveColumns + "UTC_TIMESTAMP(6) FROM onerow_job", "DELETE FROM onerow_job"}, func(ctx context.Context, db *sql.DB) error {
		return second(queue.Retry(ctx, db, 1))
	}, "ann: retry project 1 deletion 5 job 1 OPS-12", queue.ErrWrongState},
	"let go": {[]string{putJob("project", "held", "365000 DAY + INTERVAL 1 HOUR")}, func(ctx context.Context, db *sql.DB) error {
		return second(queue.Retry(ctx, db, 1))
	}, "ann: retry project 1 deletion 5 job 1 OPS-12", queue.ErrWrongState},
	"skip row": {[]string{putJob("project", "ready", "0 SECOND"), parkNote}, func(ctx context.Context, db *sql.DB) error {
		return second(queue.SkipParked(ctx, db, 1))
	}, "ann: skip row note 7 job 1 OPS-12", nil},
	"retry row": {[]string{putJob("project", "ready", "0 SECOND"), parkNote}, func(ctx context.Context, db *sql.DB) error {
		return second(queue.RetryParked(ctx, db, 1))
	}, "ann: retry row note 7 job 1 OPS-12", onerow.ErrNotFound},
	"expire": {[]string{"INSERT INTO onerow_trash VALUES (1, 1, 'note', '', 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, NULL)"}, func(ctx context.Context, db *sql.DB) error {
		return second(admin.ExpireTrash(ctx, db, 1))
	}, "ann: expire job 1 OPS-12", nil},
	"resume what is not paused": {[]string{putJob("project", "ready", "0 SECOND")}, func(ctx context.Context, db *sql.DB) error {
		return second(queue.ResumeJob(ctx, db, 1)) // not paused: nothing to note
	}, "", nil},
	"resume job": {[]string{putJob("project", "ready", "0 SECOND"), "UPDATE onerow_job SET state = 'paused', due_at = due_at + INTERVAL 365000 DAY"}, func(ctx context.Context, db *sql.DB) error {
		return second(queue.ResumeJob(ctx, db, 1))
	}, "ann: resume project 1 deletion 5 job 1 OPS-12", nil},
	"resume resource": {[]string{"INSERT INTO onerow_control (kind, name, value, changed_at) VALUES ('pause', 'project', 'x', UTC_TIMESTAMP(6))"}, func(ctx context.Context, db *sql.DB) error {
		return admin.Resume(ctx, db, "project")
	}, "ann: resume project OPS-12", nil},
	"resume": {[]string{"INSERT INTO onerow_switch VALUES ('pause', 1, 'x', UTC_TIMESTAMP(6), 1)"}, resumed, "ann: resume OPS-12", nil},
}

const parkNote = `INSERT INTO onerow_parked (id, job_id, table_name, row_key, error, state, parked_at) VALUES (1, 1, 'note', '7', 'e', 'parked', UTC_TIMESTAMP(6))`

// resumed is Resume on a pool.
func resumed(ctx context.Context, db *sql.DB) error { return admin.Resume(ctx, db, "") }

// TestActions: what changes something is noted once, with who it was, and nothing without an actor.
func TestActions(t *testing.T) {
	for name, a := range actions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, ctx := openForest(t), t.Context()
			if err := execAll(ctx, db, a.setup...); err != nil {
				t.Fatal(err)
			}
			want := slices.DeleteFunc([]string{a.want}, func(s string) bool { return s == "" })
			for call := range 2 {
				if err := a.call(asAnn(ctx), db); err != nil && (call == 0 || !errors.Is(err, a.done)) {
					t.Fatal(err)
				}
				if name == "delete" && call == 1 { // it may log twice
					want = append(want, strings.Replace(a.want, "deletion 1", "deletion 2", 1))
				}
				if got, err := allActions(ctx, db); err != nil || !slices.Equal(got, want) {
					t.Errorf("after call %d: %q, %v; want %q", call+1, got, err, want)
				}
			}
			dbtest.Exec(t, db, "DELETE FROM onerow_action")
			if err := a.call(ctx, db); err != nil && !errors.Is(err, a.done) {
				t.Error(err)
			}
			if got, err := allActions(ctx, db); err != nil || len(got) > 0 {
				t.Errorf("nobody has called: %q, %v", got, err)
			}
		})
	}
}

// TestCrashActions: an action and what it did are there together or not at all, whatever fails.
func TestCrashActions(t *testing.T) {
	for name, a := range actions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t)
			plant(t, dbtest.OpenDSN(t, dsn))
			w := complete(crashtest.Workflow{
				Setup: func(ctx context.Context, db *sql.DB) error {
					return execAll(ctx, db, append([]string{"DELETE FROM onerow_parked", "DELETE FROM onerow_switch", "DELETE FROM onerow_trash"}, a.setup...)...)
				},
				Call: func(ctx context.Context, db *sql.DB) error {
					err := a.call(asAnn(ctx), db)
					if a.done != nil && errors.Is(err, a.done) {
						return nil
					}
					return err
				},
			}, dsn)
			w.Ignore = append(slices.Clone(w.Ignore), "onerow_action.acted_at", "onerow_parked.version", "onerow_switch", "onerow_trash")
			w.Empty = append(w.Empty, "onerow_action")
			w.Refs["onerow_action.deletion_id"] = "onerow_deletion.id"
			if name == "delete" { // a retried delete may log twice, each with who it was
				w.Sets = append(w.Sets, "onerow_action")
				w.Ignore = append(w.Ignore, "onerow_action.id", "onerow_action.deletion_id")
				w.Check = func(ctx context.Context, db *sql.DB) error {
					var without int
					err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM onerow_deletion AS d LEFT JOIN onerow_action AS a ON a.deletion_id = d.id WHERE a.id IS NULL").Scan(&without)
					if err == nil && without > 0 {
						err = fmt.Errorf("%d deletions are logged without their actor", without)
					}
					return err
				}
			}
			if report := crashtest.Run(t, racetest.Share(w)); report.FaultPoints < racetest.Least(30) {
				t.Errorf("only %d fault points", report.FaultPoints)
			}
		})
	}
}

// TestActionsOfMany: every deletion of a list has who it was, also where ids are not consecutive.
func TestActionsOfMany(t *testing.T) {
	for _, increment := range []string{"1", "7"} {
		db, ctx := openForest(t, dbtest.Param("auto_increment_increment", increment)), t.Context()
		logged, err := queue.Log(ctx, db, queue.Deletion{Resource: "project", ResourceID: "9"})
		if err != nil {
			t.Fatal(err)
		}
		var list []queue.Deletion
		for id := range 700 {
			list = append(list, queue.Deletion{Resource: "project", ResourceID: key(int64(id + 100))})
		}
		list[3].ID = logged
		if _, _, err := queue.EnqueueMany(asAnn(ctx), db, list); err != nil {
			t.Fatal(err)
		}
		var actions, right int
		if err := db.QueryRowContext(ctx, `SELECT COUNT(*), COUNT(d.id) FROM onerow_action AS a LEFT JOIN onerow_deletion AS d ON d.id = a.deletion_id
  AND d.resource_id = a.resource_id WHERE a.actor = 'ann' AND a.action = 'delete'`).Scan(&actions, &right); err != nil || actions != 699 || right != 699 {
			t.Errorf("increment %s: %d actions, %d of them of their deletion, %v", increment, actions, right, err)
		}
	}
}

// TestActorHostile: any name and reason are stored as what can be shown, and read as that.
func TestActorHostile(t *testing.T) {
	db, ctx := openForest(t, dbtest.Param("charset", "latin1"), dbtest.Param("collation", "latin1_swedish_ci")), t.Context()
	for i, name := range []string{"a'b\"c\\", "line\nline\x00\x1b[31m", "\xff\xfe", strings.Repeat("😀", 3000), "名前"} {
		id, err := queue.Log(queue.WithActor(ctx, name, name), db, queue.Deletion{Resource: "project", ResourceID: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := admin.ReadReport(ctx, db, id, 0)
		if err != nil || !utf8.ValidString(r.Actor) || !utf8.ValidString(r.Reason) || r.Actor == "" || len(r.Actor) > 255 || len(r.Reason) > fault.MaxText {
			t.Errorf("%.20q is shown as %q, %q, %v", name, r.Actor, r.Reason, err)
		}
		if utf8.ValidString(name) && len(name) <= 255 && (r.Actor != name || r.Reason != name) {
			t.Errorf("%q became %q, %q", name, r.Actor, r.Reason)
		}
	}
	if err := admin.Pause(queue.WithActor(ctx, "ann", ""), db, "", "schema change"); err != nil {
		t.Fatal(err)
	}
	if state, err := admin.Paused(ctx, db); err != nil || state.Reason != "schema change" {
		t.Errorf("%+v, %v", state, err)
	}
	list, err := queue.ListActions(ctx, db, 0, 0, 2)
	if err != nil || len(list) != 2 || list[0].Action != "pause" || list[0].Actor != "ann" || list[0].Reason != "schema change" || list[1].Action != "delete" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestReport: of a deletion in each state of its life.
func TestReport(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx, plan := asAnn(t.Context()), keptForest()
		plantTrash(t, db, plan)
		if err := smallForest(ctx, db); err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, db, "INSERT INTO onerow_deletion (id, resource, resource_id, owner, deleted_from, grace_us, requested_at) VALUES (5, 'project', '1', '7', 'active', 0, UTC_TIMESTAMP(6))")
		dbtest.Exec(t, db, "INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) VALUES (1, 'note', '7', 'why', 'skipped', UTC_TIMESTAMP(6))")
		w, err := NewWorker(db, plan, Config{Assets: &shelf{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := recover.Rows(ctx, db, plan, 1, recover.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := queue.Cancel(ctx, db, "project", "1", 5); err != nil {
			t.Fatal(err)
		}
		r, err := admin.ReadReport(ctx, db, 0, 1)
		if err != nil || r.DeletionID != 5 || r.Owner != "7" || r.RequestedAt.IsZero() || r.Actor != "" || r.Job == nil || r.Job.State != queue.Restored || r.Job.DeletedRows != 9 {
			t.Fatalf("%+v, %v", r, err)
		}
		if len(r.Actions) != 2 || r.Actions[0].Action != "restore" || r.Actions[1].Action != "restored" || r.Actions[1].Actor != "ann" || r.Actions[1].Reason != "OPS-12" {
			t.Errorf("%+v", r.Actions)
		}
		if len(r.Left) != 1 || r.Left[0].Table != "note" || !r.Left[0].Skipped || len(r.Trash) > 1 {
			t.Errorf("%+v, %+v", r.Left, r.Trash)
		}

		// A later deletion of a row whose job is open, and one whose job was purged.
		if err := errors.Join(remove(ctx, db, 2, time.Hour), remove(queue.WithActor(ctx, "ben", "again"), db, 2, time.Hour)); err != nil {
			t.Fatal(err)
		}
		r, err = admin.ReadReport(ctx, db, 7, 0)
		if err != nil || r.Actor != "ben" || r.Reason != "again" || r.Job == nil || r.Job.DeletionID != 6 || r.Job.State != queue.Scheduled {
			t.Errorf("%+v, %v", r, err)
		}
		dbtest.Exec(t, db, "DELETE FROM onerow_job")
		if r, err = admin.ReadReport(ctx, db, 7, 0); err != nil || r.Job != nil || len(r.Actions) != 1 {
			t.Errorf("without its job: %+v, %v", r, err)
		}
		if _, err = admin.ReadReport(ctx, db, 8, 0); !errors.Is(err, queue.ErrNoJob) {
			t.Error(err)
		}
		if _, err = admin.ReadReport(ctx, db, 0, 8); !errors.Is(err, queue.ErrNoJob) {
			t.Error(err)
		}
		dbtest.Exec(t, db, "DELETE FROM onerow_deletion")
		if r, err = admin.ReadReport(ctx, db, 0, 1); err != nil || !r.RequestedAt.IsZero() || r.Job == nil || r.Resource != "project" {
			t.Errorf("without its audit: %+v, %v", r, err)
		}
		for _, want := range []int64{3, 1, 0} {
			if n, err := queue.PurgeActions(ctx, db, time.Microsecond, 3, false); n != want || err != nil {
				t.Errorf("%d actions purged, %v; want %d", n, err, want)
			}
		}
	})
}
