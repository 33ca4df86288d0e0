package queue

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

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

// sqlCountDue reads an entry of the index due for each open job.
const sqlCountDue = `SELECT COALESCE(SUM(due_at <= UTC_TIMESTAMP(6)), 0), COUNT(*) FROM onerow_job FORCE INDEX (due)`

// CountDue counts the open jobs that are due, and the others. A running job is due when its lease ends. One
// statement, whose cost grows with the number of open jobs.
func CountDue(ctx context.Context, db onerow.DB) (due, later int, err error) {
	if err := onerow.QueryRow(ctx, db, sqlCountDue, nil, &due, &later); err != nil {
		return 0, 0, fmt.Errorf("cascade: count the queue: %w", err)
	}
	return due, later - due, nil
}
