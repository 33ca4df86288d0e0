package work

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/rowkey"
)

// findRoot looks for the job's root, and refuses a row that is not the one which the job is about. Up to two
// statements.
func (p *pass) findRoot(ctx context.Context) error {
	return backoff.Read(ctx, func() error {
		if err := p.findRoots(ctx, p.db); err != nil {
			return err
		}
		switch at := p.expected; {
		case p.inBothTables:
			return p.refuse(p.root, "is in both of its tables, so two rows have this id")
		case p.isOthers(at):
			return p.refuseHidden(p.root, at)
		case at.found && !at.deletion.Valid && p.node.Managed:
			return p.refuseUnhidden(ctx, at.table)
		}
		return nil
	})
}

// unhiddenSQL reads the root row and the log of the job's deletion by their primary keys. It locks the root
// row, for a moment: whoever takes a row away from below it holds a share lock, and looks for jobs after
// that; so what this one is about to walk has moved already, or does not move. The log is not locked.
func unhiddenSQL(t *graph.Table, target Target) string {
	log := fmt.Sprintf("FROM onerow_deletion AS d WHERE d.id = %d", target.DeletionID)
	return fmt.Sprintf("SELECT COALESCE((SELECT d.deleted_from %s), ''), COALESCE((SELECT d.requested_at < t.%s %[1]s), 0) FROM %[3]s AS t WHERE %[4]s FOR UPDATE",
		log, ident.ColCreatedAt, t.From, t.Key.In("t", []rowkey.Key{target.Root}))
}

// refuseUnhidden refuses a root row that no deletion hides and that cannot be the one which the job is about:
// ids are used again where AUTO_INCREMENT has fallen back. A row that was made after the deletion was logged
// is another one, and an archived one needs an operator's word. One statement.
func (p *pass) refuseUnhidden(ctx context.Context, t *graph.Table) error {
	var from string
	var younger bool
	err := onerow.QueryRow(ctx, p.db, unhiddenSQL(t, p.Target), nil, &from, &younger)
	switch {
	case errors.Is(err, sql.ErrNoRows): // it has just moved or gone, which is looked at again
		return nil
	case err != nil:
		return err
	case younger:
		return p.refuse(p.root, "was made after the job's deletion was logged, so it is another row of this id")
	case !t.Active && from != queue.FromOperator && from != queue.FromDue:
		return p.refuse(p.root, "is archived and no deletion hides it; if it is to go, delete it, or queue it with cascade-worker enqueue")
	}
	return nil
}

// refuseHidden is the error of a job whose root another deletion hides.
func (e *eraser) refuseHidden(r *root, at place) error {
	return e.refuse(r, fmt.Sprintf("is hidden by deletion %d, the job belongs to deletion %d", at.deletion.Int64, r.DeletionID))
}

// refuse is the error of a job that does not touch the root row. It is looked for again in each pass, so
// earlier ones may have deleted what was below.
func (e *eraser) refuse(r *root, why string) error {
	did := fmt.Sprintf("nothing was deleted by this attempt of job %d", r.JobID)
	if e.changes > 0 {
		did = fmt.Sprintf("before that, this attempt of job %d had deleted or changed %d rows below it", r.JobID, e.changes)
	}
	return fmt.Errorf("%w: %s %s %s; %s", queue.ErrOtherDeletion, r.Resource, r.ResourceID, why, did)
}
