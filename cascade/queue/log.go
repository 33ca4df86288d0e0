package queue

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/trace"
)

// Log writes the audit row of a deletion and returns its id, which goes into
// Deletion.ID. It is what a delete does first. There is no unique key on purpose:
// a retried delete may log twice. One statement, 2 with an actor.
func Log(ctx context.Context, db onerow.DB, d Deletion) (deletionID int64, err error) {
	if err := d.check(); err != nil {
		return 0, err
	}
	d.ID = 0
	err = Noted(ctx, db, func(ctx context.Context, db onerow.DB) (_ Action, err error) {
		deletionID, _, err = logAll(ctx, db, []Deletion{d})
		return Action{Action: actionDelete, Resource: d.Resource, ResourceID: d.ResourceID, DeletionID: deletionID}, err
	})
	if err != nil {
		return 0, fmt.Errorf("cascade: log the deletion of %s %s: %w", d.Resource, d.ResourceID, err)
	}
	return deletionID, nil
}

// sqlLog appends; it waits for nobody.
const (
	sqlLog    = `INSERT INTO onerow_deletion (resource, resource_id, owner, deleted_from, grace_us, requested_at, traceparent) VALUES `
	sqlLogRow = `(?, ?, ?, ?, ?, UTC_TIMESTAMP(6), ?)`
)

// logAll logs those of the deletions that are not logged yet, and returns the first one's id and how many
// these are. One statement, none if all are logged.
func logAll(ctx context.Context, db onerow.DB, deletions []Deletion) (first int64, count int, err error) {
	var rows []string
	var args []any
	parent := trace.Parent(ctx)
	for _, d := range deletions {
		if d.ID != 0 {
			continue
		}
		var owner any
		if d.Owner != "" {
			owner = []byte(d.Owner)
		}
		rows = append(rows, sqlLogRow)
		args = append(args, d.Resource, []byte(d.ResourceID), owner, d.From, d.Grace.Microseconds(), parent)
	}
	if len(rows) == 0 {
		return 0, 0, nil
	}
	res, err := db.ExecContext(ctx, sqlLog+strings.Join(rows, ", "), args...)
	if err == nil {
		first, err = res.LastInsertId()
	}
	return first, len(rows), err
}
