package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
)

// How much the page reads at most, however much there is.
const (
	showDue     = 50   // jobs that are due, the longest waiting first
	lookLater   = 1000 // jobs with a later due_at among which the running ones are looked for
	showLater   = 100  // of those
	showTrouble = 50   // dead jobs, and as many with leftovers
	showEnded   = 15
	showParked  = 50
)

// sqlOpen reads by the index due_at, from both sides of now, and locks nothing. A running
// job's due_at is the end of its lease, so it is among the first that come later.
const (
	openColumns = `id, resource, resource_id, deletion_id, state, due_at, created_at, started_at, worker, token, failures, last_error`
	sqlOpen     = `SELECT id, resource, resource_id, deletion_id,
  CASE WHEN state = 'scheduled' AND due_at <= UTC_TIMESTAMP(6) THEN 'ready' ELSE state END,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', IF(state = 'held', due_at - INTERVAL 365000 DAY, due_at)), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', started_at), NULL, worker, token, failures, CAST(last_error AS BINARY)
FROM ((SELECT ` + openColumns + ` FROM onerow_job WHERE due_at <= UTC_TIMESTAMP(6) ORDER BY due_at, id LIMIT ?)
UNION ALL (SELECT ` + openColumns + ` FROM (SELECT ` + openColumns + ` FROM onerow_job WHERE due_at > UTC_TIMESTAMP(6) ORDER BY due_at, id LIMIT ?) AS later
ORDER BY state = 'running' DESC, due_at, id LIMIT ?)) AS shown`
)

// sqlEnded walks the index finished_at backwards.
const sqlEnded = `SELECT id, resource, resource_id, deletion_id, state,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', due_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', started_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', finished_at),
  worker, token, failures, CAST(last_error AS BINARY)
FROM onerow_job_archive ORDER BY finished_at DESC, id DESC LIMIT ?`

// sqlJobCounts reads by the primary keys (job, table).
const sqlJobCounts = `SELECT job_id, 0, table_name, deleted_rows FROM onerow_job_count WHERE job_id IN (%[1]s)
UNION ALL SELECT job_id, 1, table_name, detached_rows FROM onerow_job_detached WHERE job_id IN (%[1]s)`

// sqlClock is the database's clock; the page's times and ages are all by it.
const sqlClock = `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`

func databaseClock(ctx context.Context, db onerow.DB) (time.Time, error) {
	var micros int64
	if err := onerow.QueryRow(ctx, db, sqlClock, nil, &micros); err != nil {
		return time.Time{}, fmt.Errorf("ask the database's clock: %w", err)
	}
	return time.UnixMicro(micros).UTC(), nil
}

// jobs runs one of the statements above and adds the counts: 2 statements.
func jobs(ctx context.Context, db onerow.DB, query string, args ...any) ([]cascade.Job, error) {
	var found []cascade.Job
	place := map[int64]int{}
	err := onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		job := cascade.Job{Tables: map[string]int64{}, Detached: map[string]int64{}}
		var due, created, started, finished sql.NullInt64
		var worker, lastError sql.NullString
		if err := rows.Scan(&job.ID, &job.Resource, &job.ResourceID, &job.DeletionID, (*string)(&job.State), &due, &created, &started,
			&finished, &worker, &job.Token, &job.Failures, &lastError); err != nil {
			return err
		}
		job.DueAt, job.CreatedAt, job.StartedAt, job.FinishedAt = utc(due), utc(created), utc(started), utc(finished)
		// A claim is the worker's name, a # and a value of its own.
		job.Worker, job.LastError = worker.String, lastError.String
		if i := strings.LastIndex(job.Worker, "#"); i >= 0 {
			job.Worker = job.Worker[:i]
		}
		if _, twice := place[job.ID]; !twice {
			place[job.ID] = len(found)
			found = append(found, job)
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	ids := make([]any, len(found))
	for i, job := range found {
		ids[i] = job.ID
	}
	counts := fmt.Sprintf(sqlJobCounts, strings.TrimSuffix(strings.Repeat("?,", len(ids)), ","))
	return found, onerow.Query(ctx, db, counts, append(ids, ids...), func(rows *sql.Rows) error {
		var id, n int64
		var detached bool
		var table string
		if err := rows.Scan(&id, &detached, &table, &n); err != nil {
			return err
		}
		job := &found[place[id]]
		if detached {
			job.Detached[table], job.DetachedRows = n, job.DetachedRows+n
			return nil
		}
		job.Tables[table], job.DeletedRows = n, job.DeletedRows+n
		return nil
	})
}

func utc(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64).UTC()
}

// openJobs are those that run, then those that wait, then those in their grace period.
func openJobs(ctx context.Context, db onerow.DB) ([]cascade.Job, error) {
	found, err := jobs(ctx, db, sqlOpen, showDue, lookLater, showLater)
	if err != nil {
		return nil, fmt.Errorf("read the open jobs: %w", err)
	}
	rank := map[cascade.State]int{cascade.Running: 0, cascade.Ready: 1, cascade.Scheduled: 2, cascade.Held: 3}
	slices.SortStableFunc(found, func(a, b cascade.Job) int {
		if a.State == cascade.Running && b.State == cascade.Running {
			return cmp.Compare(a.ID, b.ID) // leases are renewed all the time; the list should stand still
		}
		return cmp.Or(cmp.Compare(rank[a.State], rank[b.State]), a.DueAt.Compare(b.DueAt), cmp.Compare(a.ID, b.ID))
	})
	return found, nil
}

func endedJobs(ctx context.Context, db onerow.DB) ([]cascade.Job, error) {
	found, err := jobs(ctx, db, sqlEnded, showEnded)
	if err != nil {
		return nil, fmt.Errorf("read the jobs that ended: %w", err)
	}
	return found, nil
}

// troubledJobs are the dead ones, then those with leftovers: 2 statements each.
func troubledJobs(ctx context.Context, db onerow.DB) ([]cascade.Job, error) {
	dead, err := cascade.List(ctx, db, cascade.ListOptions{State: cascade.Dead, Limit: showTrouble})
	if err != nil {
		return nil, err
	}
	left, err := cascade.List(ctx, db, cascade.ListOptions{State: cascade.Leftovers, Limit: showTrouble})
	return append(dead, left...), err
}
