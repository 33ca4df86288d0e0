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
)

// list is the statement for jobs of a state, and its arguments.
func (o ListOptions) list(after int64, limit int) (query string, args []any) {
	ofState := []any{after, []byte(o.State), limit}
	switch {
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

// GetMany returns those of the jobs that there are, newest first, with their counts. Two statements.
func GetMany(ctx context.Context, db onerow.DB, ids []int64) ([]Job, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	where := ` WHERE j.id IN ` + in(ids)
	jobs, err := withFigures(ctx, db, `(`+openColumns+where+`) UNION ALL (`+archiveColumns+where+`)`)
	slices.SortFunc(jobs, func(a, b Job) int { return cmp.Compare(b.ID, a.ID) })
	return jobs, err
}

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
	query, args := o.list(after, limit)
	jobs, err := readJobs(ctx, db, query, args...)
	if err != nil {
		return nil, fmt.Errorf("cascade: list jobs: %w", err)
	}
	slices.SortFunc(jobs, func(a, b Job) int { return cmp.Compare(b.ID, a.ID) })
	jobs = jobs[:min(limit, len(jobs))]
	if len(jobs) == 0 {
		return nil, nil
	}
	if err := readFigures(ctx, db, jobs); err != nil {
		return nil, fmt.Errorf("cascade: list jobs: %w", err)
	}
	return jobs, nil
}
