package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/governor"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/schema"
)

// TestCosts: what a call reads and locks depends neither on the jobs of others, open or finished, nor on the
// rows below others.
func TestCosts(t *testing.T) {
	for _, level := range racetest.Levels() {
		few, many := crowded(t, cost.Few, level), crowded(t, cost.Many(t), level)
		crowdTrash(t, few, cost.Few)
		crowdAttic(t, few, cost.Few)
		crowdAttic(t, many, cost.Many(t))
		graphs := map[string]*graph.Graph{}
		crowdTrash(t, many, cost.Many(t))
		c := cost.Compare(t, few, many, 250) // a purge reads 200 at once
		for _, dsn := range []string{few, many} {
			db := dbtest.OpenDSN(t, dsn)
			g, err := graph.Read(t.Context(), db, attic())
			if err != nil {
				t.Fatal(err)
			}
			graphs[nameOf(t, db)] = g
		}
		maps := map[string]func(*Worker){}
		for _, dsn := range []string{few, many} {
			for _, plan := range []schema.Plan{forest, orchard, grove, hedge, attic()} {
				maps[nameOf(t, dbtest.OpenDSN(t, dsn))+plan.Names()[0]] = mapped(t, dsn, plan)
			}
		}
		hired := func(db *sql.DB, plan schema.Plan, cfg Config) (*Worker, error) {
			if cfg.Assets == nil {
				cfg.Assets = &shelf{}
			}
			w, err := NewWorker(db, plan, cfg)
			if err == nil {
				maps[nameOf(t, db)+plan.Names()[0]](w)
			}
			return w, err
		}
		work := func(ctx context.Context, db *sql.DB, plan schema.Plan, cfg Config, want int) error {
			w, err := hired(db, plan, cfg)
			if err != nil {
				return err
			}
			n, err := w.RunOnce(ctx)
			if err == nil && n != want {
				err = fmt.Errorf("%d jobs were worked, want %d", n, want)
			}
			return err
		}
		costsOfQueue(c, work, hired)
		costsOfOperator(c, work)
		costsOfTrash(c, work)
		costsOfRetention(c, work, graphs)
		c.Source(".", nil)
		c.Source("admin", map[string]string{
			"FORCE INDEX (due) GROUP BY what": "ReadStats counts every open job, by an entry of an index for each",
			"ORDER BY id DESC LIMIT ?) AS":    "Search looks through the newest of a table: TestSearchIsBounded",
			"AND resource_id IN (?, ?)":       "TestSearchIsBounded",
			"id FROM onerow_job WHERE id = ?": "TestSearchIsBounded",
			"SELECT DISTINCT id FROM (":       "TestSearchIsBounded",
		})
		c.Source("queue", map[string]string{
			"'scheduled' AND j.due_at <= UTC": "List looks for jobs whose grace period is over among all that are scheduled",
			"onerow_deletion AS d":            "TestPurgeCost measures the purge of audits",
		})
		c.Source("internal/graph", nil)
		c.Source("internal/retain", nil)
		c.Source("internal/work", nil)
		c.Source("internal/trash", nil)
		c.Source("internal/restore", nil)
		c.Source("internal/governor", nil)
	}
}

func nameOf(t *testing.T, db *sql.DB) (name string) {
	t.Helper()
	if err := onerow.QueryRow(t.Context(), db, "SELECT DATABASE()", nil, &name); err != nil {
		t.Fatal(err)
	}
	return name
}

func second(_ any, err error) error { return err }

func is(err, want error) error {
	if !errors.Is(err, want) {
		return fmt.Errorf("got the error %w, want %w", err, want)
	}
	return nil
}

type working func(ctx context.Context, db *sql.DB, plan schema.Plan, cfg Config, want int) error

// remove deletes project id.
func remove(ctx context.Context, db *sql.DB, id int64, grace time.Duration) error {
	return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		d := queue.Deletion{Resource: "project", ResourceID: key(id), Owner: "7", From: "active", Grace: grace}
		var err error
		if d.ID, err = queue.Log(ctx, tx, d); err != nil {
			return err
		}
		return second(queue.Enqueue(ctx, tx, d))
	})
}

func costsOfQueue(c *cost.Costs, work working, hired func(db *sql.DB, plan schema.Plan, cfg Config) (*Worker, error)) {
	const audit = 2 * numbered // of the first deletion
	c.Call("idle", func(ctx context.Context, db *sql.DB) error { return work(ctx, db, forest, Config{}, 0) })
	elsewhere := schema.Plan{Resources: []schema.Resource{{Name: "elsewhere"}}}
	c.Call("look for due jobs, of which there are many", func(ctx context.Context, db *sql.DB) error {
		w, err := NewWorker(db, elsewhere, Config{})
		if err != nil {
			return err
		}
		due, err := w.due(ctx, 100)
		if err == nil && len(due.Due) == 0 {
			err = errors.New("none is due")
		}
		return err
	})
	c.Call("look which jobs of a claim are there", func(ctx context.Context, db *sql.DB) error {
		w, err := NewWorker(db, elsewhere, Config{})
		if err != nil {
			return err
		}
		b := &bundle{Worker: w, claim: &queue.Claim{}, ended: map[int64]bool{}}
		return b.lookForEnded(ctx, []int64{1, 2})
	})
	c.Call("delete", func(ctx context.Context, db *sql.DB) error { return remove(ctx, db, 3, 0) })
	c.Call("delete again", func(ctx context.Context, db *sql.DB) error { return remove(ctx, db, 3, 0) })
	c.Call("work", func(ctx context.Context, db *sql.DB) error { return work(ctx, db, forest, Config{}, 1) })
	c.Call("schedule", func(ctx context.Context, db *sql.DB) error { return remove(ctx, db, 4, time.Hour) })
	c.Call("hold", func(ctx context.Context, db *sql.DB) error {
		return queue.Hold(ctx, db, "project", "4", audit+2, "name taken")
	})
	c.Call("let go", func(ctx context.Context, db *sql.DB) error { return second(queue.Retry(ctx, db, 2*numbered+2)) })
	c.Call("cancel", func(ctx context.Context, db *sql.DB) error {
		return queue.Cancel(asAnn(ctx), db, "project", "4", audit+2)
	})
	c.Call("cancel again", func(ctx context.Context, db *sql.DB) error { return queue.Cancel(ctx, db, "project", "4", audit+2) })
	c.Call("cancel too late", func(ctx context.Context, db *sql.DB) error {
		return is(queue.Cancel(ctx, db, "project", "3", audit), queue.ErrTooLate)
	})
	c.Call("cancel under a finished job's id", func(ctx context.Context, db *sql.DB) error {
		if err := remove(ctx, db, 9, time.Hour); err != nil {
			return err
		}
		if err := execAll(ctx, db, fmt.Sprintf("UPDATE onerow_job SET id = %d WHERE resource = 'project' AND resource_id = '9'", numbered/2+9)); err != nil {
			return err
		}
		return queue.Cancel(ctx, db, "project", "9", audit+3)
	})
	c.Call("a cancel that fails, joined", func(ctx context.Context, db *sql.DB) error {
		d := queue.Deletion{ID: 1, Resource: "project", ResourceID: "stuck", Grace: time.Hour}
		if err := second(queue.Enqueue(ctx, db, d)); err != nil {
			return err
		}
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			if err := queue.Cancel(ctx, tx, d.Resource, d.ResourceID, d.ID); err == nil {
				return errors.New("cancelled")
			}
			return nil
		})
	})
	c.Call("many", func(ctx context.Context, db *sql.DB) error {
		_, _, err := queue.EnqueueMany(ctx, db, []queue.Deletion{
			{Resource: "project", ResourceID: "x", Grace: time.Hour}, {Resource: "project", ResourceID: "y", Grace: time.Hour}})
		return err
	})
	c.Call("renumber", func(ctx context.Context, db *sql.DB) error {
		if err := execAll(ctx, db, fmt.Sprintf("UPDATE onerow_job SET id = %d WHERE resource = 'project' AND resource_id = 'x'", numbered/2+7)); err != nil {
			return err
		}
		return second(queue.Enqueue(ctx, db, queue.Deletion{ID: 1, Resource: "project", ResourceID: "x", Grace: time.Hour, After: numbered/2 + 7}))
	})
	c.Call("jobs together, of which one does not end", func(ctx context.Context, db *sql.DB) error {
		const one, two = 1 << 40, 1<<40 + 1
		for _, id := range []int64{one, two} {
			err := execAll(ctx, db, fmt.Sprintf(`INSERT INTO project_archive (id, user_id, deletion_id, deleted_from, created_at, updated_at, archived_at)
VALUES (%d, 7, 1, 'active', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, id),
				fmt.Sprintf("INSERT INTO note (project_id, created_at, updated_at) VALUES (%d, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", id),
				fmt.Sprintf("INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) VALUES ('project', '%d', 1, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", id))
			if err != nil {
				return err
			}
		}
		if err := insertRow(ctx, db, "screen", map[string]any{"project_id": two}); err != nil {
			return err
		}
		return work(ctx, db, forest, Config{}, 2)
	})
	c.Call("work what an operator has queued", func(ctx context.Context, db *sql.DB) error {
		if err := execAll(ctx, db, "INSERT INTO project (id, user_id, created_at, updated_at) VALUES (987654321, 7, UTC_TIMESTAMP(6) - INTERVAL 1 DAY, UTC_TIMESTAMP(6))"); err != nil {
			return err
		}
		d := queue.Deletion{Resource: "project", ResourceID: key(987654321), Owner: "7", From: queue.FromOperator}
		id, err := queue.Log(ctx, db, d)
		if d.ID = id; err != nil {
			return err
		}
		return errors.Join(second(queue.Enqueue(ctx, db, d)), work(ctx, db, forest, Config{}, 1))
	})
	c.Call("trees", func(ctx context.Context, db *sql.DB) error {
		if err := second(queue.Enqueue(ctx, db, queue.Deletion{Resource: "tree", ResourceID: "7,1"})); err != nil {
			return err
		}
		return work(ctx, db, orchard, Config{}, 1)
	})
	c.Call("give back", func(ctx context.Context, db *sql.DB) error {
		if err := second(queue.Enqueue(ctx, db, queue.Deletion{Resource: "tree", ResourceID: "8,1"})); err != nil {
			return err
		}
		w, err := hired(db, orchard, Config{})
		if err != nil {
			return err
		}
		won, err := w.claim(ctx, w.cfg.ClaimJobs)
		if err == nil && len(won.Jobs) != 1 {
			err = fmt.Errorf("claimed %d jobs", len(won.Jobs))
		}
		if err != nil {
			return err
		}
		w.governor.Beat(ctx, "busy")
		if err := execAll(ctx, db, `INSERT INTO onerow_worker (name, started_at, seen_at, beats)
VALUES ('gone', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL 2 HOUR, 1)`); err != nil {
			return err
		}
		return errors.Join(w.release(ctx, won, won.Jobs), second(w.governor.Fellows(ctx)), w.governor.Tidy(ctx), w.governor.Gone(ctx))
	})
}

func costsOfOperator(c *cost.Costs, work working) {
	broken := &shelf{hook: func(context.Context, []string) error { return errors.New("the store is closed") }}
	var dead int64
	c.Call("fail", func(ctx context.Context, db *sql.DB) error {
		if err := remove(ctx, db, 5, 0); err != nil {
			return err
		}
		return work(ctx, db, forest, Config{Assets: broken, MaxFailures: 1}, 1)
	})
	c.Call("find", func(ctx context.Context, db *sql.DB) error {
		job, err := queue.Find(ctx, db, "project", "5")
		if dead = job.ID; err == nil && job.State != queue.Dead {
			err = fmt.Errorf("%+v", job)
		}
		return err
	})
	c.Call("get", func(ctx context.Context, db *sql.DB) error { return second(queue.Get(ctx, db, dead)) })
	c.Call("retry", func(ctx context.Context, db *sql.DB) error { return second(queue.Retry(ctx, db, dead)) })
	c.Call("retry what was deleted again", func(ctx context.Context, db *sql.DB) error {
		return errors.Join(remove(ctx, db, 100, time.Hour), is(second(queue.Retry(ctx, db, numbered/2+100)), queue.ErrOpenJob))
	})
	c.Call("go on", func(ctx context.Context, db *sql.DB) error { return work(ctx, db, forest, Config{}, 1) })
	c.Call("find none", func(ctx context.Context, db *sql.DB) error {
		return is(second(queue.Find(ctx, db, "project", "nobody")), queue.ErrNoJob)
	})
	for _, state := range []queue.State{"", queue.AllOpen, queue.Scheduled, queue.Held, queue.Running, queue.Done, queue.Cancelled, queue.Dead, queue.Leftovers} {
		c.Call("list "+string(state), func(ctx context.Context, db *sql.DB) error {
			return second(queue.List(ctx, db, queue.ListOptions{State: state, Limit: 5}))
		})
	}
	c.Call("the open jobs that matter now", func(ctx context.Context, db *sql.DB) error {
		return second(queue.List(ctx, db, queue.ListOptions{Due: 10, Later: 20}))
	})
	c.Call("those that ended last", func(ctx context.Context, db *sql.DB) error {
		return second(queue.List(ctx, db, queue.ListOptions{LastEnded: true, Limit: 15}))
	})
	c.Call("parked", func(ctx context.Context, db *sql.DB) error {
		return second(queue.ListParked(ctx, db, queue.ParkedOptions{Limit: 5}))
	})
	c.Call("skip", func(ctx context.Context, db *sql.DB) error { return second(queue.SkipParked(ctx, db, 7)) })
	c.Call("retry parked", func(ctx context.Context, db *sql.DB) error { return second(queue.RetryParked(ctx, db, 8)) })
	c.Call("retry parked, joined", func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error { return second(queue.RetryParked(ctx, tx, 9)) })
	})
	c.Call("retry what is not parked, joined", func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			return is(second(queue.RetryParked(ctx, tx, 9)), onerow.ErrNotFound)
		})
	})
	c.Call("skip while the job is open", func(ctx context.Context, db *sql.DB) error {
		job, err := queue.Find(ctx, db, "project", "y")
		if err == nil {
			err = execAll(ctx, db, fmt.Sprintf(`INSERT INTO onerow_parked (id, job_id, table_name, row_key, error, state, parked_at)
VALUES (%d, %d, 'note', '1', 'e', 'parked', UTC_TIMESTAMP(6))`, numbered, job.ID))
		}
		return errors.Join(err, second(queue.SkipParked(ctx, db, numbered)))
	})
	c.Call("park", func(ctx context.Context, db *sql.DB) error {
		if err := second(queue.Enqueue(ctx, db, queue.Deletion{Resource: "tree", ResourceID: "9,1"})); err != nil {
			return err
		}
		return work(ctx, db, orchard, Config{}, 2) // and the one that was given back
	})
	c.Call("retry leftovers", func(ctx context.Context, db *sql.DB) error {
		job, err := queue.Find(ctx, db, "tree", "9,1")
		if err != nil {
			return err
		}
		if err := execAll(ctx, db, "DELETE FROM nail", "DELETE FROM leaf WHERE id IN (9, -9)"); err != nil {
			return err
		}
		_, err = queue.RetryParked(ctx, db, 2*numbered)
		return errors.Join(err, second(queue.Get(ctx, db, job.ID)), work(ctx, db, orchard, Config{}, 1))
	})
	c.Call("act", func(ctx context.Context, db *sql.DB) error {
		ctx = queue.WithActor(ctx, "ann", "why")
		_, _, err := queue.EnqueueMany(ctx, db, []queue.Deletion{{Resource: "project", ResourceID: "acted", Grace: time.Hour}})
		return errors.Join(err, remove(ctx, db, 6_000_001, time.Hour), second(queue.SkipParked(ctx, db, 11)))
	})
	c.Call("report", func(ctx context.Context, db *sql.DB) error {
		job, err := queue.Find(ctx, db, "project", key(6_000_001))
		if err != nil {
			return err
		}
		r, err := admin.ReadReport(ctx, db, 0, job.ID)
		if err == nil && (r.Actor != "ann" || len(r.Actions) != 1) {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
	c.Call("last actions", func(ctx context.Context, db *sql.DB) error { return second(queue.ListActions(ctx, db, 0, 0, 5)) })
	c.Call("purge actions", func(ctx context.Context, db *sql.DB) error {
		n, err := queue.PurgeActions(ctx, db, year, 5, false)
		if err == nil && n != 5 {
			err = fmt.Errorf("%d actions purged", n)
		}
		return errors.Join(err, second(queue.PurgeActions(ctx, db, year, 30, true)))
	})
	c.Call("workers", func(ctx context.Context, db *sql.DB) error { return second(admin.Workers(ctx, db)) })
	c.Call("pause", func(ctx context.Context, db *sql.DB) error { return admin.Pause(ctx, db, "", "x") })
	c.Call("paused", func(ctx context.Context, db *sql.DB) error { return second(admin.Paused(ctx, db)) })
	c.Call("resume", func(ctx context.Context, db *sql.DB) error {
		return admin.Resume(queue.WithActor(ctx, "ann", "why"), db, "")
	})
	c.Call("pause and resume a job", func(ctx context.Context, db *sql.DB) error {
		job, err := queue.Find(ctx, db, "project", "y")
		return errors.Join(err, second(queue.PauseJob(ctx, db, job.ID, "x")), second(queue.ResumeJob(ctx, db, job.ID)))
	})
	c.Call("put a job first", func(ctx context.Context, db *sql.DB) error {
		jobs, err := queue.List(ctx, db, queue.ListOptions{Due: 2})
		if err == nil && len(jobs) < 2 {
			err = fmt.Errorf("%d jobs are due", len(jobs))
		}
		return errors.Join(err, second(queue.PutFirst(ctx, db, jobs[len(jobs)-1].ID)))
	})
	c.Call("pause and resume a resource, and settings", func(ctx context.Context, db *sql.DB) error {
		return errors.Join(admin.Pause(ctx, db, "screen", "x"), second(admin.PausedResources(ctx, db)), admin.Resume(ctx, db, "screen"),
			admin.Set(ctx, db, admin.Settings{Worker: "w", Load: 0.5, Target: 1e9, Parallel: 2}), second(admin.ReadSettings(ctx, db)), admin.Set(ctx, db, admin.Settings{Worker: "w"}))
	})
	c.Call("hold a job, and let it go on", func(ctx context.Context, db *sql.DB) error {
		job, err := queue.Find(ctx, db, "project", "y")
		return errors.Join(err, second(queue.HoldJob(ctx, db, job.ID, "x")), second(queue.Retry(ctx, db, job.ID)))
	})
	c.Call("the statements of a plan", func(ctx context.Context, db *sql.DB) error { return second(planSQL(ctx, db, forest)) })
	c.Call("descriptions of plans", func(ctx context.Context, db *sql.DB) error {
		var p plans
		p.remember(ctx, db, &graph.Graph{Fingerprint: "f", Description: "d"})
		if got := readPlan(ctx, db, "f"); got != "d" {
			return fmt.Errorf("read %q", got)
		}
		return nil
	})
	c.Call("what a governor asks", func(ctx context.Context, db *sql.DB) error {
		g := governor.New(db, "asks", time.Minute, nil, 1)
		_, err := g.Idle(ctx)
		return errors.Join(err, g.Gone(ctx))
	})
	c.Call("purge", func(ctx context.Context, db *sql.DB) error {
		return errors.Join(second(queue.PurgeJobs(ctx, db, year, 3, false)), second(queue.PurgeJobs(ctx, db, year, 30, true)))
	})
}
