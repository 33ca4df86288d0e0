package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// project has screens below it.
type project struct {
	ID     int64  `db:"id"`
	UserID int64  `db:"user_id"`
	Name   string `db:"name"`
}

type screen struct {
	ID        int64 `db:"id"`
	ProjectID int64 `db:"project_id"`
}

var projectPlan = schema.Plan{Resources: []schema.Resource{
	{Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}},
	{Name: "screen", Parent: schema.Parent{Resource: "project", Column: "project_id"}},
}}

// projects makes the tables with n projects of two screens each.
func (s *scene) projects(ctx context.Context, n int) (*repo.Repo[project], error) {
	if err := s.plant(ctx, projectPlan); err != nil {
		return nil, err
	}
	rows, err := repo.New[project](projectPlan, "project")
	if err != nil {
		return nil, err
	}
	screens, err := repo.New[screen](projectPlan, "screen")
	for i := range n {
		if err != nil {
			return nil, err
		}
		var made onerow.Result[project]
		made, err = rows.Create(ctx, s.db, project{UserID: 7, Name: fmt.Sprint("p", i)})
		for range 2 {
			if err == nil {
				_, err = screens.Create(ctx, s.db, screen{ProjectID: made.Row.ID})
			}
		}
	}
	return rows, err
}

// tenWorkers has ten workers take jobs while four callers queue more.
func tenWorkers(ctx context.Context, s *scene) error {
	const jobs = 120
	rows, err := s.projects(ctx, jobs)
	if err != nil {
		return err
	}
	s.db.SetMaxOpenConns(20)
	var queued atomic.Int64
	errs := together(14, func(i int) error {
		if i >= 10 {
			for id := int64(i - 9); id <= jobs; id += 4 {
				if _, err := rows.Delete(ctx, s.db, id); err != nil {
					return fmt.Errorf("delete: %w", err)
				}
				queued.Add(1)
			}
			return nil
		}
		worker, err := cascade.NewWorker(s.db, projectPlan, cascade.Config{ClaimJobs: 1 + i%3, Name: fmt.Sprint("worker ", i), Load: 1})
		for n := 1; err == nil && (n > 0 || queued.Load() < jobs) && ctx.Err() == nil; {
			n, err = worker.RunOnce(ctx)
		}
		return err
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := s.drain(ctx, projectPlan); err != nil {
		return err
	}
	list, err := queue.List(ctx, s.db, queue.ListOptions{Limit: 1000})
	if err != nil {
		return err
	}
	for _, job := range list {
		if job.State != queue.Done || job.Failures != 0 || job.DeletedRows != 2 {
			return fmt.Errorf("job %d is %s after %d failures (%s) and %d rows", job.ID, job.State, job.Failures, job.LastError, job.DeletedRows)
		}
	}
	return first(unless(len(list) == jobs, "%d jobs, and not %d", len(list), jobs), s.want(ctx, 0, "SELECT (SELECT COUNT(*) FROM project) + (SELECT COUNT(*) FROM screen)"))
}

// zones are those of a program that queues, and of one that works.
var zones = []string{"time_zone=%27%2B09%3A00%27&loc=Asia%2FTokyo&parseTime=true", "time_zone=%27-05%3A00%27&loc=America%2FNew_York&parseTime=true"}

// scheduled queues jobs for now, for soon and for later in one zone, and works them in another.
func scheduled(ctx context.Context, s *scene) error {
	rows, err := s.projects(ctx, 6)
	if err != nil {
		return err
	}
	for i, zone := range zones {
		here, err := s.pool(zone)
		if err != nil {
			return err
		}
		there, err := s.pool(zones[1-i])
		if err != nil {
			return err
		}
		now, soon, later := int64(3*i+1), int64(3*i+2), int64(3*i+3)
		if err := schedules(ctx, s, rows, here, there, now, soon, later); err != nil {
			return fmt.Errorf("queued with %s: %w", zone, err)
		}
	}
	return s.want(ctx, 4, "SELECT COUNT(*) FROM screen")
}

func schedules(ctx context.Context, s *scene, rows *repo.Repo[project], here, there *sql.DB, now, soon, later int64) error {
	_, err := rows.Delete(ctx, here, now)
	if err == nil {
		_, err = rows.Delete(ctx, here, soon, repo.Grace(2*time.Second))
	}
	if err == nil {
		_, err = rows.Delete(ctx, here, later, repo.Grace(time.Hour))
	}
	begin := time.Now()
	if err != nil {
		return err
	}
	worker, err := cascade.NewWorker(there, projectPlan, cascade.Config{})
	if err != nil {
		return err
	}
	const left = "SELECT COUNT(*) FROM screen WHERE project_id = ?"
	if err := first(worker.Drain(ctx), s.want(ctx, 0, left, now)); err != nil {
		return err
	}
	if time.Since(begin) < 1500*time.Millisecond {
		if err := s.want(ctx, 2, left, soon); err != nil {
			return fmt.Errorf("too early: %w", err)
		}
	}
	gone, err := fuzz.Within(ctx, 20*time.Second, func() (bool, error) {
		err := worker.Drain(ctx)
		return err == nil && s.want(ctx, 0, left, soon) == nil, err
	})
	if err != nil || !gone || time.Since(begin) < 1900*time.Millisecond {
		return fmt.Errorf("after %v it is gone: %t, %w", time.Since(begin), gone, err)
	}
	if err := s.want(ctx, 2, left, later); err != nil {
		return err
	}
	_, err = rows.CancelDelete(ctx, there, later)
	return err
}

// laterCommit queues a job in a transaction that commits behind one of a higher id, which was worked by then.
func laterCommit(ctx context.Context, s *scene) error {
	rows, err := s.projects(ctx, 2)
	if err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	lower, err := rows.Delete(ctx, tx, 1)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	higher, err := rows.Delete(ctx, s.db, 2)
	if err := first(err, s.drain(ctx, projectPlan), s.want(ctx, 2, "SELECT COUNT(*) FROM screen")); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	s.note = fmt.Sprintf("job %d committed behind job %d", lower.JobID, higher.JobID)
	if err := first(tx.Commit(), unless(lower.JobID < higher.JobID, "%s", s.note), s.drain(ctx, projectPlan)); err != nil {
		return err
	}
	return s.want(ctx, 0, "SELECT (SELECT COUNT(*) FROM project) + (SELECT COUNT(*) FROM screen)")
}
