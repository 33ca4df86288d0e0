//go:build cluster

package cluster

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
)

// counted counts what workers tell.
type counted struct{ done, lost, batches atomic.Int64 }

func (c *counted) event(e cascade.Event) {
	switch {
	case e.Took > 0:
		c.batches.Add(1)
	case e.LeaseLost:
		c.lost.Add(1)
	case e.Ended == queue.Done:
		c.done.Add(1)
	}
}

// Workers on every node finish the jobs, each once, and any node tells how far they are.
func TestWorkers(t *testing.T) {
	s := newSite(t, plan.DDL()...)
	const jobs = 45
	putJobs(s, jobs)
	var told counted
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	errs := make([]error, len(s.db))
	for i, db := range s.db {
		w := must[*cascade.Worker](t)(cascade.NewWorker(db, plan, cascade.Config{Name: fmt.Sprintf("on node %d", i), OnEvent: told.event, Poll: 100 * time.Millisecond}))
		all.Go(func() { errs[i] = w.Run(ctx) })
	}
	dbtest.Eventually(t, time.Minute, func() (bool, string) {
		n := dbtest.Scan[int](t, s.db[0], "SELECT COUNT(*) FROM onerow_job")
		return n == 0, fmt.Sprint(n, " jobs are open")
	})
	for i, db := range s.db {
		stats := must[admin.Stats](t)(admin.ReadStats(t.Context(), db))
		if stats.Workers != int64(len(s.db)) || len(stats.Open) > 0 && stats.Open[queue.Running] != 0 || stats.Dead+stats.Leftovers+stats.Parked != 0 {
			t.Errorf("node %d tells %+v", i, stats)
		}
	}
	cancel()
	all.Wait()
	for i, err := range errs {
		if err != nil {
			t.Errorf("the worker on node %d: %v", i, err)
		}
	}
	again := dbtest.Scan[int](t, s.db[0], "SELECT COUNT(*) FROM onerow_job_archive WHERE token > 1")
	t.Logf("%d jobs in %v: %d batches, %d leases lost, %d claimed more than once", told.done.Load(), time.Since(began).Round(time.Millisecond),
		told.batches.Load(), told.lost.Load(), again)
	done := dbtest.Scan[int](t, s.db[0], "SELECT COUNT(*) FROM onerow_job_archive WHERE state = 'done'")
	left := dbtest.Scan[int](t, s.db[0], "SELECT (SELECT COUNT(*) FROM screen) + (SELECT COUNT(*) FROM screen_archive)")
	if done != jobs || told.done.Load() != jobs || left != 0 || told.batches.Load() > 2*jobs || told.lost.Load() > jobs/3 {
		t.Errorf("%d of %d jobs are done, %d were told of, in %d batches, %d leases were lost, %d children are left", done, jobs, told.done.Load(), told.batches.Load(), told.lost.Load(), left)
	}
	s.same()
}

// putJobs makes projects with two screens each, and deletes the projects.
func putJobs(s *site, jobs int) {
	projects := must[*repo.Repo[project]](s)(repo.New[project](plan, "project"))
	screens := must[*repo.Repo[screen]](s)(repo.New[screen](plan, "screen"))
	s.crowd(1, func(ctx context.Context, db *sql.DB, caller int) error {
		for i := caller; i < jobs; i += len(s.db) {
			made, err := projects.Create(ctx, db, project{UserID: 1, Name: fmt.Sprint(i)})
			if err != nil {
				return fmt.Errorf("create: %w", err)
			}
			for _, name := range []string{"a", "b"} {
				if _, err := screens.Create(ctx, db, screen{ProjectID: made.Row.ID, Name: name}); err != nil {
					return fmt.Errorf("create a screen: %w", err)
				}
			}
			if _, err := projects.Delete(ctx, db, made.Row.ID); err != nil {
				return fmt.Errorf("delete: %w", err)
			}
		}
		return nil
	})
}

// Ids with steps between them, as nodes give them: verbs, lists and jobs do not mind.
func TestIncrements(t *testing.T) {
	for _, step := range []int{3, 7} {
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			for i := range nodes.Nodes() {
				increments(t, i, step)
			}
			s := newSite(t, plan.DDL()...)
			projects := must[*repo.Repo[project]](t)(repo.New[project](plan, "project"))
			s.crowd(1, func(ctx context.Context, db *sql.DB, caller int) error {
				for i := range 5 {
					res, err := projects.Create(ctx, db, project{UserID: 2, Name: fmt.Sprintf("%d of %d", i, caller)})
					if err != nil || (res.Row.ID-int64(caller)-1)%int64(step) != 0 {
						return fmt.Errorf("id %d on node %d: %w", res.Row.ID, caller, err)
					}
				}
				return nil
			})
			page := must[repo.Page[project]](t)(projects.List(t.Context(), s.db[1], 2, repo.PageOptions{Limit: 50}))
			if len(page.Items) != 5*len(s.db) {
				t.Errorf("a list of %d rows", len(page.Items))
			}
			putJobs(s, 6)
			w := must[*cascade.Worker](t)(cascade.NewWorker(s.db[1], plan, cascade.Config{}))
			if err := w.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := dbtest.Scan[int](t, s.db[2], "SELECT (SELECT COUNT(*) FROM onerow_job) + (SELECT COUNT(*) FROM screen)"); n != 0 {
				t.Errorf("%d jobs or children are left", n)
			}
			s.same()
		})
	}
}

// increments sets the step for sessions to come, until the test ends; pools are opened behind it.
func increments(t *testing.T, node, step int) {
	t.Helper()
	admin := openPlain(t, node, "")
	was := map[string]string{}
	vars := map[string]string{"auto_increment_increment": fmt.Sprint(step), "auto_increment_offset": fmt.Sprint(node + 1)}
	order := []string{"auto_increment_increment", "auto_increment_offset"}
	if nodes.Kind() == devdb.Galera {
		vars["wsrep_auto_increment_control"] = "0" // else the cluster sets them
		order = append([]string{"wsrep_auto_increment_control"}, order...)
	}
	for _, name := range order {
		was[name] = dbtest.Scan[string](t, admin, "SELECT @@GLOBAL."+name)
		dbtest.Exec(t, admin, "SET GLOBAL "+name+" = "+vars[name])
	}
	t.Cleanup(func() {
		var set []string
		for name, value := range was {
			set = append(set, "GLOBAL "+name+" = "+value)
		}
		if _, err := openPlain(t, node, "").ExecContext(context.Background(), "SET "+strings.Join(set, ", ")); err != nil {
			t.Error(err)
		}
	})
}
