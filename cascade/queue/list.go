package queue

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/onerow/onerow"
)

// ListOptions says which jobs [List] returns. The zero value means the newest 100.
type ListOptions struct {
	// State limits the list to jobs that are shown in this state. "": all.
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
	sqlList        = `(` + openColumns + ` WHERE j.id < ?` + sqlPage + `) UNION ALL (` + archiveColumns + ` WHERE j.id < ?` + sqlPage + `)`
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
