package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/schema"
)

// sqlEmptyJobs takes an arbitrary number of rows; the worker's claims find them by the index due.
const sqlEmptyJobs = `INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at)
WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
SELECT 'leaf', CONCAT(a.i * 1000 + b.i), 0, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM n AS a JOIN n AS b WHERE a.i * 1000 + b.i < %d`

var leaves = schema.Plan{Tables: []schema.Table{
	{Name: "leaf", Key: []string{"id"}},
	{Name: "vein", Key: []string{"id"}, Parents: []schema.Edge{{Table: "leaf", Columns: []string{"leaf_id"}}}},
}}

var leafTables = []string{
	"DROP TABLE IF EXISTS leaf, vein", "CREATE TABLE leaf (id BIGINT PRIMARY KEY) ENGINE=InnoDB",
	"CREATE TABLE vein (id BIGINT PRIMARY KEY AUTO_INCREMENT, leaf_id BIGINT NOT NULL, KEY (leaf_id, id)) ENGINE=InnoDB",
}

// sqlLeaves and sqlVeins make leaves of ten rows each.
const (
	sqlLeaves = `INSERT INTO leaf SELECT resource_id FROM onerow_job`
	sqlVeins  = `INSERT INTO vein (leaf_id) SELECT j.resource_id FROM onerow_job AS j JOIN (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL
SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) AS nine`
)

// jobs has each queue work jobs that have nothing to do: what is measured is to claim them, and to end them.
func jobs(n int) func(ctx context.Context, s *site) ([]way, error) {
	return func(ctx context.Context, s *site) ([]way, error) {
		if err := s.exec(ctx, leafTables...); err != nil {
			return nil, err
		}
		const one = "onerow, 2 at once"
		conflicts := &conflicts{site: s}
		ways := []way{
			{name: byHand, all: func(ctx context.Context) (int, time.Duration, error) { return byHandJobs(ctx, s, n) }},
			{name: one, all: func(ctx context.Context) (int, time.Duration, error) {
				return onerowJobs(ctx, s, n, 1, cascade.Config{Parallel: 2})
			}},
			{name: "onerow, 8 at once", all: func(ctx context.Context) (int, time.Duration, error) {
				return onerowJobs(ctx, s, n, 1, cascade.Config{Parallel: 8})
			}},
			{name: "onerow, four workers, 2 at once each", aim: aim{of: one, share: 0.9}, note: conflicts.String, all: conflicts.counted(func(ctx context.Context) (int, time.Duration, error) {
				return onerowJobs(ctx, s, n, 4, cascade.Config{Parallel: 2})
			})},
			{name: "onerow, 2 at once, ten rows each", all: func(ctx context.Context) (int, time.Duration, error) {
				return onerowJobs(ctx, s, n, 1, cascade.Config{Parallel: 2}, sqlLeaves, sqlVeins)
			}},
		}
		if s.postgres != nil {
			ways = append(ways, way{name: "River on PostgreSQL", all: func(ctx context.Context) (int, time.Duration, error) { return riverJobs(ctx, s, n) }},
				way{name: "asynq on Redis", all: func(ctx context.Context) (int, time.Duration, error) { return asynqJobs(ctx, s, n) }})
		}
		return ways, nil
	}
}

// conflicts counts the jobs that a worker has tried to claim when another one had them already.
type conflicts struct {
	*site
	tried, won int64
}

func (c *conflicts) counted(all func(context.Context) (int, time.Duration, error)) func(context.Context) (int, time.Duration, error) {
	return func(ctx context.Context) (int, time.Duration, error) {
		before := c.claims.Load()
		n, took, err := all(ctx)
		c.tried, c.won = c.tried+c.claims.Load()-before, c.won+int64(n)
		return n, took, err
	}
}

// String is their share of all that was tried.
func (c *conflicts) String() string {
	return fmt.Sprintf("claim conflicts %.1f %%", 100*float64(c.tried-c.won)/float64(c.tried))
}

// byHandJobs claims a hundred jobs by one statement and ends them by another one: there is no lease, no
// count, no record of what was done.
func byHandJobs(ctx context.Context, s *site, n int) (int, time.Duration, error) {
	if err := s.exec(ctx, "DELETE FROM onerow_job", fmt.Sprintf(sqlEmptyJobs, n)); err != nil {
		return 0, 0, err
	}
	begin, done := time.Now(), int64(0)
	for done < int64(n) {
		if err := send(ctx, s.db, statement{text: "UPDATE onerow_job SET state = 'running', worker = 'me' WHERE resource = 'leaf' AND state = 'ready' ORDER BY due_at, id LIMIT 100"}); err != nil {
			return 0, 0, err
		}
		ended, err := onerow.Affected(ctx, s.db, "DELETE FROM onerow_job WHERE state = 'running' AND worker = 'me' LIMIT 100")
		if err != nil || ended == 0 {
			return 0, 0, fmt.Errorf("%d of %d jobs were ended, then none: %w", done, n, err)
		}
		done += ended
	}
	return n, time.Since(begin), nil
}

func onerowJobs(ctx context.Context, s *site, n, workers int, c cascade.Config, rows ...string) (int, time.Duration, error) {
	if err := s.exec(ctx, append([]string{"DELETE FROM onerow_job", "DELETE FROM onerow_job_archive", fmt.Sprintf(sqlEmptyJobs, n)}, rows...)...); err != nil {
		return 0, 0, err
	}
	var wg sync.WaitGroup
	errs := make([]error, workers)
	begin := time.Now()
	for i := range errs {
		wg.Go(func() {
			w, err := cascade.NewWorker(s.db, leaves, c)
			if err == nil {
				err = w.Drain(ctx)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return n, time.Since(begin), errors.Join(errs...)
}

// empty is a job of River's.
type empty struct{}

// Kind names it.
func (empty) Kind() string { return "empty" }

type emptyWorker struct {
	river.WorkerDefaults[empty]
	left *atomic.Int64
	done chan struct{}
}

// Work does nothing.
func (w emptyWorker) Work(context.Context, *river.Job[empty]) error {
	if w.left.Add(-1) == 0 {
		close(w.done)
	}
	return nil
}

func riverJobs(ctx context.Context, s *site, n int) (_ int, _ time.Duration, err error) {
	driver := riverpgxv5.New(s.postgres)
	migrator, err := rivermigrate.New[pgx.Tx](driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return 0, 0, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return 0, 0, err
	}
	w := emptyWorker{left: new(atomic.Int64), done: make(chan struct{})}
	w.left.Store(int64(n))
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(driver, &river.Config{Workers: workers, Logger: slog.New(slog.DiscardHandler),
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}}}) // as River's own benchmark has it
	if err != nil {
		return 0, 0, err
	}
	many := make([]river.InsertManyParams, n)
	for i := range many {
		many[i].Args = empty{}
	}
	if _, err := client.InsertManyFast(ctx, many); err != nil {
		return 0, 0, err
	}
	begin := time.Now()
	if err := client.Start(ctx); err != nil {
		return 0, 0, err
	}
	select {
	case <-w.done:
	case <-ctx.Done():
	}
	if err := client.Stop(context.WithoutCancel(ctx)); err != nil { // and so every job is written as completed
		return 0, 0, err
	}
	return n, time.Since(begin), ctx.Err()
}

func asynqJobs(ctx context.Context, s *site, n int) (int, time.Duration, error) {
	client := asynq.NewClientFromRedisClient(s.redis)
	for range n {
		if _, err := client.EnqueueContext(ctx, asynq.NewTask("empty", nil)); err != nil {
			return 0, 0, err
		}
	}
	left, done := new(atomic.Int64), make(chan struct{})
	left.Store(int64(n))
	server := asynq.NewServerFromRedisClient(s.redis, asynq.Config{Concurrency: 64, LogLevel: asynq.FatalLevel})
	begin := time.Now()
	if err := server.Start(asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		if left.Add(-1) == 0 {
			close(done)
		}
		return nil
	})); err != nil {
		return 0, 0, err
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
	took := time.Since(begin)
	server.Shutdown()
	return n, took, ctx.Err()
}
