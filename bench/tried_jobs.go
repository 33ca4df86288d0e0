package main

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
)

// hands are workers of one kind.
type hands struct {
	name    string
	workers int
	config  cascade.Config
}

func (h hands) way(s *site, n int, rows ...string) way {
	return way{name: "onerow, " + h.name, all: func(ctx context.Context) (int, time.Duration, error) {
		return onerowJobs(ctx, s, n, h.workers, h.config, rows...)
	}}
}

// triedJobs have other numbers of jobs at once, and of workers.
func triedJobs(n int) func(ctx context.Context, s *site) ([]way, error) {
	return func(ctx context.Context, s *site) ([]way, error) {
		if err := s.exec(ctx, leafTables...); err != nil {
			return nil, err
		}
		ways := []way{{name: byHand, all: func(ctx context.Context) (int, time.Duration, error) { return byHandJobs(ctx, s, n) }}}
		for _, h := range append(handsOf("one worker", 1),
			hands{"two workers, 1 at once each", 2, cascade.Config{}}, hands{"four workers, 1 at once each", 4, cascade.Config{}},
			hands{"four workers, 2 at once each", 4, cascade.Config{Parallel: 2}}, hands{"four workers, 2 at once each, claims of 100", 4, cascade.Config{Parallel: 2, ClaimJobs: 100}}) {
			ways = append(ways, h.way(s, n))
		}
		return ways, nil
	}
}

// handsOf are a worker in several settings.
func handsOf(name string, workers int) []hands {
	return []hands{
		{name + ", 1 at once", workers, cascade.Config{}}, {name + ", 2 at once", workers, cascade.Config{Parallel: 2}}, {name + ", 4 at once", workers, cascade.Config{Parallel: 4}},
		{name + ", 2 at once, claims of 100", workers, cascade.Config{Parallel: 2, ClaimJobs: 100}}, {name + ", 2 at once, a batch for each", workers, cascade.Config{Parallel: 2, ClaimJobs: 1}},
	}
}

// triedSmallTrees do so with ten rows for each job.
func triedSmallTrees(n int) func(ctx context.Context, s *site) ([]way, error) {
	return func(ctx context.Context, s *site) ([]way, error) {
		if err := s.exec(ctx, leafTables...); err != nil {
			return nil, err
		}
		ways := []way{
			{name: byHand, all: func(ctx context.Context) (int, time.Duration, error) { return byHandTrees(ctx, s, n, false) }},
			{name: byHand + ", by the primary key", all: func(ctx context.Context) (int, time.Duration, error) { return byHandTrees(ctx, s, n, true) }},
		}
		for _, h := range append(handsOf("one worker", 1), hands{"four workers, 1 at once each", 4, cascade.Config{}}) {
			ways = append(ways, h.way(s, n, sqlLeaves, sqlVeins))
		}
		return ways, nil
	}
}

// byHandTrees ends a hundred jobs by one transaction, which deletes their rows and them.
func byHandTrees(ctx context.Context, s *site, n int, byKeys bool) (int, time.Duration, error) {
	if err := s.exec(ctx, "DELETE FROM onerow_job", fmt.Sprintf(sqlEmptyJobs, n), sqlLeaves, sqlVeins); err != nil {
		return 0, 0, err
	}
	begin, done := time.Now(), 0
	for done < n {
		err := inTx(ctx, s.db, func(tx *sql.Tx) error {
			var jobs, leaves []any
			err := onerow.Query(ctx, tx, "SELECT id, resource_id FROM onerow_job WHERE resource = 'leaf' AND due_at <= UTC_TIMESTAMP(6) ORDER BY due_at, state, id LIMIT 100 FOR UPDATE", nil, func(rows *sql.Rows) error {
				var job, leaf int64
				err := rows.Scan(&job, &leaf)
				jobs, leaves = append(jobs, job), append(leaves, leaf)
				return err
			})
			if err != nil || len(jobs) == 0 {
				return fmt.Errorf("%d of %d jobs were ended, then none: %w", done, n, err)
			}
			done += len(jobs)
			column, veins := "leaf_id", leaves
			if byKeys {
				column = "id"
				if veins, err = ids(ctx, tx, "SELECT id FROM vein WHERE leaf_id IN "+marks(len(leaves))+" FOR UPDATE", leaves...); err != nil {
					return err
				}
			}
			return send(ctx, tx, statement{"DELETE FROM vein WHERE " + column + " IN " + marks(len(veins)), veins},
				statement{"DELETE FROM leaf WHERE id IN " + marks(len(leaves)), leaves}, statement{"DELETE FROM onerow_job WHERE id IN " + marks(len(jobs)), jobs})
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return n, time.Since(begin), nil
}
