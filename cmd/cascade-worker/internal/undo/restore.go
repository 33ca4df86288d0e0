// Package undo takes deletions back, for the command and for the page.
package undo

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

// Restore takes a deletion back, as [repo.Restore] does, and says what to do where it cannot.
func Restore(ctx context.Context, db *sql.DB, plan schema.Plan, deletionID int64) (repo.Restored, error) {
	back, err := repo.Restore(ctx, db, plan, deletionID)
	switch {
	case err == nil:
		return back, nil
	case errors.Is(err, repo.ErrNoDeletion):
		return back, output.Said(fmt.Sprintf("there is no deletion %d", deletionID), err)
	case errors.Is(err, repo.ErrTooLate):
		return back, fmt.Errorf("too late, nothing was changed: %w", output.Detail(err, repo.ErrTooLate, cascade.ErrTooLate))
	case errors.Is(err, cascade.ErrOtherDeletion), errors.Is(err, schema.ErrUnknownResource):
		return back, fmt.Errorf("nothing was changed: %w", err)
	case errors.Is(err, repo.ErrParentNotFound):
		return back, fmt.Errorf("nothing was changed, the row above is deleted or in its own grace period, so undo that deletion first: %w", err)
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return back, fmt.Errorf("%w; undo again is safe", err)
	}
	return back, fmt.Errorf("nothing was changed: %w", err)
}

// Told says which row came back, where and under which name.
func Told(r repo.Restored) string {
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
