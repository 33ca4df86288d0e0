package cascade

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/onerow/onerow"
)

// A job is read together with its counts, from both tables, in one statement and
// so from one snapshot: two statements could miss a job that moves between them.
// Sorting is left to Go, so that no server needs a temporary table.
const (
	openColumns = `SELECT j.id, j.resource, j.resource_id, j.deletion_id,
  CASE WHEN j.state = 'scheduled' AND j.due_at <= UTC_TIMESTAMP(6) THEN 'ready' ELSE j.state END,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.due_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.created_at),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.started_at), NULL, j.worker, j.token, j.failures, j.last_error`
	archiveColumns = `SELECT j.id, j.resource, j.resource_id, j.deletion_id, j.state,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.due_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.created_at),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.started_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.finished_at),
  j.worker, j.token, j.failures, j.last_error`
	openWithCounts = openColumns + `, c.table_name, c.deleted_rows
FROM onerow_job AS j LEFT JOIN onerow_job_count AS c ON c.job_id = j.id WHERE `
	archiveWithCounts = archiveColumns + `, c.table_name, c.deleted_rows
FROM onerow_job_archive AS j LEFT JOIN onerow_job_count AS c ON c.job_id = j.id WHERE `
)

// getSQL reads by the primary keys of the three tables.
const getSQL = openWithCounts + `j.id = ? UNION ALL ` + archiveWithCounts + `j.id = ?`

// Get returns the job with its counts, or [ErrNoJob]. One statement.
func Get(ctx context.Context, db onerow.DB, jobID int64) (Job, error) {
	jobs, err := readJobs(ctx, db, getSQL, jobID, jobID)
	if err != nil {
		return Job{}, fmt.Errorf("cascade: read job %d: %w", jobID, err)
	}
	if len(jobs) == 0 {
		return Job{}, fmt.Errorf("%w: %d", ErrNoJob, jobID)
	}
	return jobs[0], nil
}

// findSQL reads by the unique key one_open and by the last entry of the archive's
// index (resource, resource_id, id).
const (
	findOpenSQL    = openWithCounts + `j.resource = ? AND j.resource_id = ?`
	findArchiveSQL = archiveWithCounts + `j.id = (SELECT MAX(id) FROM onerow_job_archive WHERE resource = ? AND resource_id = ?)`
	findSQL        = findOpenSQL + ` UNION ALL ` + findArchiveSQL
	findCurrentSQL = `(` + findOpenSQL + ` LOCK IN SHARE MODE) UNION ALL (` + findArchiveSQL + ` LOCK IN SHARE MODE)`
)

// Find returns the job of a row, with its counts: the open one, else the newest of
// the finished ones, else [ErrNoJob]. The id is encoded, see [onerow.EncodeKey].
// One statement. In an [onerow.Tx] that was joined, whose snapshot may be older than
// the job, it is a current read, which locks and waits for a running batch of the job.
func Find(ctx context.Context, db onerow.DB, resource, resourceID string) (Job, error) {
	key := []byte(resourceID)
	query := findSQL
	if tx, ok := db.(*onerow.Tx); ok && tx.Joined() {
		query = findCurrentSQL
	}
	jobs, err := readJobs(ctx, db, query, resource, key, resource, key)
	if err != nil {
		return Job{}, fmt.Errorf("cascade: find the job of %s %s: %w", resource, resourceID, err)
	}
	if len(jobs) == 0 {
		return Job{}, fmt.Errorf("%w: none for %s %s", ErrNoJob, resource, resourceID)
	}
	return jobs[0], nil
}

// ListOptions says which jobs [List] returns. The zero value means the newest 100.
type ListOptions struct {
	// State limits the list to jobs that are shown in this state. "": all.
	State State
	// After is the id of the last job of the previous page. 0: from the newest.
	After int64
	// Limit is how many jobs are returned at most. Default 100, maximum 1000.
	Limit int
}

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// listSQL walks both primary keys backwards until the page is full. A state that
// few jobs have makes it walk far; there is no index for that.
const listSQL = `(` + openColumns + `, NULL, NULL FROM onerow_job AS j
WHERE j.id < ? AND ? IN ('', CASE WHEN j.state = 'scheduled' AND j.due_at <= UTC_TIMESTAMP(6) THEN 'ready' ELSE j.state END)
ORDER BY j.id DESC LIMIT ?) UNION ALL (` + archiveColumns + `, NULL, NULL FROM onerow_job_archive AS j
WHERE j.id < ? AND ? IN ('', j.state) ORDER BY j.id DESC LIMIT ?)`

// countsSQL reads by the primary key (job, table).
const countsSQL = `SELECT job_id, table_name, deleted_rows FROM onerow_job_count WHERE job_id IN `

// List returns jobs, open and finished, newest first, with their counts. Two
// statements: the counts of a job that is running may be newer than the rest.
func List(ctx context.Context, db onerow.DB, o ListOptions) ([]Job, error) {
	limit := o.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	after := o.After
	if after <= 0 {
		after = math.MaxInt64
	}
	jobs, err := readJobs(ctx, db, listSQL, after, string(o.State), limit, after, string(o.State), limit)
	if err != nil {
		return nil, fmt.Errorf("cascade: list jobs: %w", err)
	}
	slices.SortFunc(jobs, func(a, b Job) int { return cmp.Compare(b.ID, a.ID) })
	jobs = jobs[:min(limit, len(jobs))]
	if len(jobs) == 0 {
		return nil, nil
	}
	if err := readCounts(ctx, db, jobs); err != nil {
		return nil, fmt.Errorf("cascade: list jobs: %w", err)
	}
	return jobs, nil
}

// readCounts fills in the counts of jobs.
func readCounts(ctx context.Context, db onerow.DB, jobs []Job) error {
	place, ids := map[int64]int{}, make([]int64, len(jobs))
	for i, job := range jobs {
		place[job.ID], ids[i] = i, job.ID
	}
	return onerow.Query(ctx, db, countsSQL+in(ids), nil, func(rows *sql.Rows) error {
		var id, n int64
		var table string
		if err := rows.Scan(&id, &table, &n); err != nil {
			return err
		}
		jobs[place[id]].count(table, n)
		return nil
	})
}

func (j *Job) count(table string, n int64) {
	j.Tables[table] = n
	j.DeletedRows += n
}

// readJobs folds the rows, one per job and table, into jobs, the open ones first.
func readJobs(ctx context.Context, db onerow.DB, query string, args ...any) ([]Job, error) {
	var jobs []Job
	err := onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		var job Job
		var due, created, started, finished, count sql.NullInt64
		var worker, lastError, table sql.NullString
		if err := rows.Scan(&job.ID, &job.Resource, &job.ResourceID, &job.DeletionID, (*string)(&job.State), &due, &created, &started,
			&finished, &worker, &job.Token, &job.Failures, &lastError, &table, &count); err != nil {
			return err
		}
		i := slices.IndexFunc(jobs, func(j Job) bool { return j.ID == job.ID })
		if i < 0 {
			job.DueAt, job.CreatedAt, job.StartedAt, job.FinishedAt = at(due), at(created), at(started), at(finished)
			job.Worker, job.LastError = workerName(worker.String), lastError.String
			job.Tables = map[string]int64{}
			i = len(jobs)
			jobs = append(jobs, job)
		}
		if table.Valid {
			jobs[i].count(table.String, count.Int64)
		}
		return nil
	})
	slices.SortStableFunc(jobs, func(a, b Job) int {
		switch {
		case a.State.Open() == b.State.Open():
			return 0
		case a.State.Open():
			return -1
		}
		return 1
	})
	return jobs, err
}

// at is the time that the database wrote as microseconds since 1970.
func at(micros sql.NullInt64) time.Time {
	if !micros.Valid {
		return time.Time{}
	}
	return time.UnixMicro(micros.Int64).UTC()
}
