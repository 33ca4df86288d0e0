package queue

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/dbtime"
)

// A job is read together with its figures, from both tables, in one statement and so
// from one snapshot: two statements could miss a job that moves between them. Each row is
// an item of a job: "job", with the job's own columns, or one of its figures. Sorting is
// left to Go, so that no server needs a temporary table. Texts come as bytes, see package dbtext.
const (
	openColumns = `SELECT j.id, 'job', NULL, NULL, j.resource, j.resource_id, j.deletion_id,
  CASE WHEN j.state = 'scheduled' AND j.due_at <= UTC_TIMESTAMP(6) THEN 'ready' ELSE j.state END,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', IF(j.state IN ('held', 'paused'), j.due_at - ` + heldFor + `, j.due_at)), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.created_at),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.started_at), NULL, j.worker, j.token, j.failures, CAST(j.last_error AS BINARY) FROM onerow_job AS j`
	archiveColumns = `SELECT j.id, 'job', NULL, NULL, j.resource, j.resource_id, j.deletion_id, j.state,
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.due_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.created_at),
  TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.started_at), TIMESTAMPDIFF(MICROSECOND, '1970-01-01', j.finished_at),
  j.worker, j.token, j.failures, CAST(j.last_error AS BINARY) FROM onerow_job_archive AS j`
	noColumns = `, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL `
)

// sqlFigure are the figures of jobs: what is selected, from where, and how it is grouped.
// Each is read by a primary key, or a unique key, that begins with the job.
var sqlFigure = [][3]string{
	{`SELECT c.job_id, 'deleted', c.table_name, c.deleted_rows`, `onerow_job_count AS c`, ``},
	{`SELECT c.job_id, 'detached', c.table_name, c.detached_rows`, `onerow_job_detached AS c`, ``},
	{`SELECT c.job_id, c.state, NULL, COUNT(*)`, `onerow_parked AS c`, ` GROUP BY c.job_id, c.state`},
	{`SELECT c.job_id, 'plan', c.fingerprint, NULL`, `onerow_job_plan AS c`, ``},
}

// jobSQL reads the open job and the finished job for which a condition on j holds. end follows each part.
func jobSQL(openWhere, archiveWhere, end string) string {
	parts := []string{openColumns + ` WHERE ` + openWhere + end, archiveColumns + ` WHERE ` + archiveWhere + end}
	for _, f := range sqlFigure {
		parts = append(parts,
			f[0]+noColumns+`FROM onerow_job AS j JOIN `+f[1]+` ON c.job_id = j.id WHERE `+openWhere+f[2]+end,
			f[0]+noColumns+`FROM onerow_job_archive AS j JOIN `+f[1]+` ON c.job_id = j.id WHERE `+archiveWhere+f[2]+end)
	}
	return `(` + strings.Join(parts, `) UNION ALL (`) + `)`
}

// sqlGet reads by the primary keys of the tables. sqlGetCurrent locks, shared, what it reads, see
// sqlFindCurrent.
var (
	sqlGet        = jobSQL(`j.id = ?`, `j.id = ?`, ``)
	sqlGetCurrent = jobSQL(`j.id = ?`, `j.id = ?`, currently)
)

// Get returns the job with its counts, or [ErrNoJob]. One statement.
func Get(ctx context.Context, db onerow.DB, jobID int64) (Job, error) {
	return readOne(ctx, db, sqlGet, fmt.Sprint(jobID), jobID)
}

// answer is Get for what a verb returns: in a caller's transaction, whose snapshot may be older than
// the job or what became of it, it is a current read.
func answer(ctx context.Context, tx *onerow.Tx, jobID int64) (Job, error) {
	query := sqlGet
	if tx.Joined() {
		query = sqlGetCurrent
	}
	return readOne(ctx, tx, query, fmt.Sprint(jobID), jobID)
}

// readOne reads the open job, else the finished one, that both parts of the statement find by their
// arguments, which are the same; name says in errors which job that is.
func readOne(ctx context.Context, db onerow.DB, query, name string, args ...any) (Job, error) {
	var all []any
	for range 2 * (1 + len(sqlFigure)) {
		all = append(all, args...)
	}
	jobs, err := readJobs(ctx, db, query, all...)
	if err != nil {
		return Job{}, fmt.Errorf("cascade: read job %s: %w", name, err)
	}
	if len(jobs) == 0 {
		return Job{}, fmt.Errorf("%w: %s", ErrNoJob, name)
	}
	return jobs[max(0, slices.IndexFunc(jobs, func(j Job) bool { return j.State.Open() }))], nil
}

// sqlFind reads by the unique key one_open and by the last entry of the archive's
// index (resource, resource_id, id). sqlFindCurrent locks, shared, what it reads, at REPEATABLE
// READ also the gap in which it found nothing: a snapshot is as old as the transaction's first
// plain read, one of our own too, and a job may be queued, or end, after that.
const (
	findOpen    = `j.resource = ? AND j.resource_id = ?`
	findArchive = `j.id = (SELECT id FROM onerow_job_archive WHERE resource = ? AND resource_id = ? ORDER BY id DESC LIMIT 1`
	currently   = ` LOCK IN SHARE MODE` // a subquery needs its own, or it reads the snapshot
)

var (
	sqlFind        = jobSQL(findOpen, findArchive+`)`, ``)
	sqlFindCurrent = jobSQL(findOpen, findArchive+currently+`)`, currently)
)

// Find returns the job of a row, with its counts: the open one, else the newest of the finished ones, else
// [ErrNoJob]. The id is encoded, see [onerow.EncodeKey]. One statement. In an [onerow.Tx], whose snapshot may
// be older than the job, it is a current read, which locks and waits for a running batch of the job.
func Find(ctx context.Context, db onerow.DB, resource, resourceID string) (Job, error) {
	query := sqlFind
	if _, ok := db.(*onerow.Tx); ok {
		query = sqlFindCurrent
	}
	return readOne(ctx, db, query, "of "+resource+" "+resourceID, resource, []byte(resourceID))
}

// readFigures fills in the figures of jobs. They are read by the keys that sqlFigure names. One statement,
// none without jobs.
func readFigures(ctx context.Context, db onerow.DB, jobs []Job) error {
	if len(jobs) == 0 {
		return nil
	}
	place, ids := map[int64]*Job{}, make([]int64, len(jobs))
	for i := range jobs {
		place[jobs[i].ID], ids[i] = &jobs[i], jobs[i].ID
	}
	parts := make([]string, len(sqlFigure))
	for i, f := range sqlFigure {
		parts[i] = f[0] + ` FROM ` + f[1] + ` WHERE c.job_id IN ` + in(ids) + f[2]
	}
	return onerow.Query(ctx, db, strings.Join(parts, ` UNION ALL `), nil, func(rows *sql.Rows) error {
		var id int64
		var f figure
		if err := rows.Scan(&id, &f.kind, &f.name, &f.n); err != nil {
			return err
		}
		place[id].add(f)
		return nil
	})
}

// figure is one of a job's: what it is about, and how many.
type figure struct {
	kind string
	name sql.NullString
	n    sql.NullInt64
}

// add fills in a figure.
func (j *Job) add(f figure) {
	switch f.kind {
	case "deleted":
		j.Tables[f.name.String] = f.n.Int64
		j.DeletedRows += f.n.Int64
	case "detached":
		j.Detached[f.name.String] = f.n.Int64
		j.DetachedRows += f.n.Int64
	case "parked":
		j.Parked = f.n.Int64
	case "skipped":
		j.Skipped = f.n.Int64
	case "plan":
		j.Plan = f.name.String
	}
}

// readJobs folds the rows, one per job and one per figure, into jobs.
func readJobs(ctx context.Context, db onerow.DB, query string, args ...any) ([]Job, error) {
	var jobs []Job
	figures := map[int64][]figure{}
	err := onerow.Query(ctx, db, query, args, func(rows *sql.Rows) error {
		var job Job
		var f figure
		var deletion, due, created, started, finished, token, failures sql.NullInt64
		var resource, id, state, worker, lastError sql.NullString
		if err := rows.Scan(&job.ID, &f.kind, &f.name, &f.n, &resource, &id, &deletion, &state, &due, &created, &started,
			&finished, &worker, &token, &failures, &lastError); err != nil {
			return err
		}
		if f.kind != "job" {
			figures[job.ID] = append(figures[job.ID], f)
			return nil
		}
		job.Resource, job.ResourceID, job.DeletionID, job.State = resource.String, id.String, deletion.Int64, State(state.String)
		job.DueAt, job.CreatedAt, job.StartedAt, job.FinishedAt = dbtime.At(due), dbtime.At(created), dbtime.At(started), dbtime.At(finished)
		job.Worker, job.Token, job.Failures, job.LastError = workerName(worker.String), token.Int64, int(failures.Int64), lastError.String
		job.Tables, job.Detached = map[string]int64{}, map[string]int64{}
		jobs = append(jobs, job)
		return nil
	})
	for i := range jobs {
		for _, f := range figures[jobs[i].ID] {
			jobs[i].add(f)
		}
	}
	return jobs, err
}
