package queue

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

// ListOptions says which jobs [List] returns. The zero value means the newest 100.
type ListOptions struct {
	// State limits the list to jobs that are shown in this state; [AllOpen]: to those that are open. "": all.
	State State
	// After is the id of the last job of the previous page. 0: from the newest.
	After int64
	// Limit is how many jobs are returned at most. Default 100, maximum 1000.
	Limit int
	// IDs, unless nil, asks for those of these jobs that there are, whatever else is said.
	IDs []int64
	// LastEnded asks for the jobs that have ended last, of any state, in that order and as one page.
	LastEnded bool
	// Due and Later, unless both are 0, ask for the open jobs that matter now, as one page: at most Due of
	// those that are due, the longest waiting first; and at most Later others, those that run before those
	// that are due soonest. They come in the order in which people read them: running (by their ids), ready,
	// scheduled, paused, held. A job that changes meanwhile may be missing.
	Due, Later int
}

// AllOpen stands in [ListOptions] for all states that are open, see [State.Open]. No job is in it.
const AllOpen State = "open"

const (
	defaultLimit = 100
	maxLimit     = 1000
)

// Pages of a list, newest first: of all jobs by the primary keys, of one state by the index (state, id). Jobs
// that are ready because their grace period is over are looked for among all that are scheduled, and so are
// those that are still scheduled.
const (
	sqlPage        = ` ORDER BY j.id DESC LIMIT ?`
	sqlInState     = ` FORCE INDEX (state) WHERE j.id < ? AND j.state = `
	sqlList        = `(` + sqlListAllOpen + `) UNION ALL (` + archiveColumns + ` WHERE j.id < ?` + sqlPage + `)`
	sqlListAllOpen = openColumns + ` WHERE j.id < ?` + sqlPage
	sqlListOpen    = openColumns + sqlInState + `?` + sqlPage
	sqlListDue     = `(` + sqlListOpen + `) UNION ALL (` + openColumns + sqlInState + `'scheduled' AND j.due_at <= UTC_TIMESTAMP(6)` + sqlPage + `)`
	sqlListWaiting = openColumns + sqlInState + `'scheduled' AND j.due_at > UTC_TIMESTAMP(6)` + sqlPage
	sqlListEnded   = archiveColumns + sqlInState + `?` + sqlPage
	// The index finished_at backwards.
	sqlListEndedLast = archiveColumns + ` FORCE INDEX (finished_at) ORDER BY j.finished_at DESC, j.id DESC LIMIT ?`
)

// page is where a page of a list begins and how long it is, of what its options say.
func page(after int64, limit int) (int64, int) {
	if after <= 0 {
		after = math.MaxInt64
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	return after, min(limit, maxLimit)
}

// list is the statement for a page of jobs, and its arguments.
func (o ListOptions) list() (query string, args []any) {
	after, limit := page(o.After, o.Limit)
	ofState := []any{after, []byte(o.State), limit}
	switch {
	case o.IDs != nil:
		where := ` WHERE j.id IN ` + in(o.IDs)
		return `(` + openColumns + where + `) UNION ALL (` + archiveColumns + where + `)`, nil
	case o.LastEnded:
		return sqlListEndedLast, []any{limit}
	case o.State == "":
		return sqlList, []any{after, limit, after, limit}
	case o.State == AllOpen:
		return sqlListAllOpen, []any{after, limit}
	case o.State == Ready:
		return sqlListDue, append(ofState, after, limit)
	case o.State == Scheduled:
		return sqlListWaiting, []any{after, limit}
	case o.State.Open():
		return sqlListOpen, ofState
	}
	return sqlListEnded, ofState
}

// List returns jobs, open and finished, newest first, with their counts. Two statements, 1 if there is none:
// the counts of a job that is running may be newer than the rest. Two more for Due and Later.
func List(ctx context.Context, db onerow.DB, o ListOptions) ([]Job, error) {
	jobs, err := o.read(ctx, db)
	if err == nil {
		err = readFigures(ctx, db, jobs)
	}
	if err != nil {
		return nil, fmt.Errorf("cascade: list jobs: %w", err)
	}
	return jobs, nil
}

// read reads a page of jobs without their counts.
func (o ListOptions) read(ctx context.Context, db onerow.DB) ([]Job, error) {
	switch {
	case o.IDs != nil && len(o.IDs) == 0:
		return nil, nil
	case o.IDs == nil && (o.Due > 0 || o.Later > 0):
		return openJobs(ctx, db, o.Due, o.Later)
	}
	query, args := o.list()
	jobs, err := readJobs(ctx, db, query, args...)
	newest := func(a, b Job) int { return cmp.Compare(b.ID, a.ID) }
	if o.LastEnded {
		newest = func(a, b Job) int { return cmp.Or(b.FinishedAt.Compare(a.FinishedAt), cmp.Compare(b.ID, a.ID)) }
	}
	slices.SortFunc(jobs, newest)
	if _, limit := page(0, o.Limit); o.IDs == nil {
		jobs = jobs[:min(limit, len(jobs))]
	}
	return jobs, err
}

// sqlQueued reads an entry of the index due for each resource.
const sqlQueued = `SELECT resource FROM onerow_job FORCE INDEX (due) GROUP BY resource`

// For each resource, its part of the index due is read on both sides of now, in the index's own order, to
// which InnoDB appends the id. The index (state, id) has the running ones.
const (
	sqlDueFirst = `(SELECT id, 1, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', due_at) FROM onerow_job FORCE INDEX (due)
WHERE resource = ? AND due_at <= UTC_TIMESTAMP(6) ORDER BY due_at, state, id LIMIT ?)`
	sqlLaterFirst = `(SELECT id, 0, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', due_at) FROM onerow_job FORCE INDEX (due)
WHERE resource = ? AND due_at > UTC_TIMESTAMP(6) ORDER BY due_at, state, id LIMIT ?)`
	sqlRunning = `(SELECT id, 0, 0 FROM onerow_job FORCE INDEX (state) WHERE state = 'running' ORDER BY id LIMIT ?)`
)

// sqlOpenJobs reads by the primary key.
const sqlOpenJobs = openColumns + ` FORCE INDEX (PRIMARY) WHERE j.id IN `

// openJobs reads the open jobs that matter now, without their counts, see [ListOptions].Due. Three
// statements, 2 if none is open.
func openJobs(ctx context.Context, db onerow.DB, due, later int) ([]Job, error) {
	parts, args := []string{sqlRunning}, []any{later}
	err := onerow.Query(ctx, db, sqlQueued, nil, func(rows *sql.Rows) error {
		var resource []byte
		err := rows.Scan(&resource)
		parts, args = append(parts, sqlDueFirst, sqlLaterFirst), append(args, resource, due+later, resource, later)
		return err
	})
	if err != nil {
		return nil, err
	}
	type found struct {
		id, since int64
		due       bool
	}
	var list []found
	err = onerow.Query(ctx, db, strings.Join(parts, " UNION ALL "), args, func(rows *sql.Rows) error {
		var f found
		err := rows.Scan(&f.id, &f.due, &f.since)
		list = append(list, f)
		return err
	})
	slices.SortFunc(list, func(a, b found) int { return cmp.Or(cmp.Compare(a.since, b.since), cmp.Compare(a.id, b.id)) })
	room, ids := map[bool]int{true: due, false: later}, []int64{}
	for _, f := range list {
		if room[f.due] > 0 && !slices.Contains(ids, f.id) { // one that runs comes twice
			room[f.due]--
			ids = append(ids, f.id)
		}
	}
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	jobs, err := readJobs(ctx, db, sqlOpenJobs+in(ids))
	rank := map[State]int{Running: 0, Ready: 1, Scheduled: 2, OnPause: 3, Held: 4}
	slices.SortStableFunc(jobs, func(a, b Job) int {
		if a.State == Running && b.State == Running {
			return cmp.Compare(a.ID, b.ID) // leases are renewed all the time; the list should stand still
		}
		return cmp.Or(cmp.Compare(rank[a.State], rank[b.State]), a.DueAt.Compare(b.DueAt), cmp.Compare(a.ID, b.ID))
	})
	return jobs, err
}
