package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cmd/cascade-worker/internal/output"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type undoCmd struct {
	planFlag
	Deletion int64 `arg:"" name:"deletion" help:"The deletion's number, deletion_id in jobs --json."`
}

// Help is the command's longer description.
func (undoCmd) Help() string {
	return `Takes back a deletion whose grace period has not ended: its job is cancelled and the
row returns to where it was, in one transaction. If its name is taken meanwhile it comes
back as a copy, as in "Summer (Copy 1)". Its owner's quota is marked, and the application's
next recalculation counts the row again. A deletion that was already taken back is a no-op.
A row that was queued by enqueue --grace has not moved: only its job is cancelled.

Too late means that a worker has begun: what it has deleted cannot come back.

Examples:

    cascade-worker jobs --state scheduled --json | jq '.[] | {resource, resource_id, deletion_id}'
    cascade-worker undo 17`
}

// Run takes the deletion back.
func (c *undoCmd) Run(ctx context.Context, a *app) (err error) {
	plan, err := a.plan(c.planFlag)
	if err != nil {
		return err
	}
	if c.Deletion < 1 {
		return usagef("%d is no deletion's number: see deletion_id in %s jobs --json", c.Deletion, programName)
	}
	db, err := a.openMigrated(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	back, err := restore(ctx, db, plan, c.Deletion)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, restoredTold(back))
	return err
}

// restore takes a deletion back, as [repo.Restore] does, and says what to do where it cannot.
func restore(ctx context.Context, db *sql.DB, plan schema.Plan, deletionID int64) (repo.Restored, error) {
	back, err := repo.Restore(ctx, db, plan, deletionID)
	switch {
	case err == nil:
		return back, nil
	case errors.Is(err, repo.ErrNoDeletion):
		return back, &said{fmt.Sprintf("there is no deletion %d", deletionID), err}
	case errors.Is(err, repo.ErrTooLate):
		return back, fmt.Errorf("too late, nothing was changed: %w", detail(err, repo.ErrTooLate, cascade.ErrTooLate))
	case errors.Is(err, cascade.ErrOtherDeletion), errors.Is(err, schema.ErrUnknownResource):
		return back, fmt.Errorf("nothing was changed: %w", err)
	case errors.Is(err, repo.ErrParentNotFound):
		return back, fmt.Errorf("nothing was changed, the row above is deleted or in its own grace period, so undo that deletion first: %w", err)
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return back, fmt.Errorf("%w; undo again is safe", err)
	}
	return back, fmt.Errorf("nothing was changed: %w", err)
}

// restoredTold says which row came back, where and under which name.
func restoredTold(r repo.Restored) string {
	row := output.RowName(cascade.Job{Resource: r.Resource, ResourceID: r.Key})
	if r.Name != "" {
		row += fmt.Sprintf(" %q", output.Shorten(output.Printable(r.Name), 80))
	}
	if r.Renamed() {
		row += fmt.Sprintf(" (it was %q, a name that is taken now)", output.Shorten(output.Printable(r.OldName), 80))
	}
	switch {
	case !r.Changed && r.State == "":
		return fmt.Sprintf("deletion %d was taken back before; nothing was changed (%s)", r.DeletionID, row)
	case !r.Changed:
		return fmt.Sprintf("deletion %d was taken back before; %s is %s", r.DeletionID, row, r.State)
	case r.State == "":
		return fmt.Sprintf("deletion %d is taken back: nothing of %s will be deleted", r.DeletionID, row)
	}
	return fmt.Sprintf("deletion %d is taken back: %s is %s again", r.DeletionID, row, r.State)
}
