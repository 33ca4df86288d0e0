// Package undo takes deletions back, for the command and for the page.
//
// Open this package when an undo is told in other words.
package undo

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
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
		return back, fmt.Errorf("too late, nothing was changed: %w", output.Detail(err, repo.ErrTooLate, queue.ErrTooLate))
	case errors.Is(err, queue.ErrOtherDeletion), errors.Is(err, schema.ErrUnknownResource):
		return back, fmt.Errorf("nothing was changed: %w", err)
	case errors.Is(err, repo.ErrParentNotFound):
		return back, fmt.Errorf("nothing was changed, the row above is deleted or in its own grace period, so undo that deletion first: %w", err)
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return back, fmt.Errorf("%w; undo again is safe", err)
	}
	return back, fmt.Errorf("nothing was changed: %w", err)
}

// ToldRestored is Told for what came back from the trash: whether the row itself has is a part of it.
func ToldRestored(r repo.Restored, p recover.Progress) string {
	if p.RootMissing == "" {
		return Told(r)
	}
	row := output.RowName(queue.Job{Resource: p.Resource, ResourceID: p.ResourceID})
	return fmt.Sprintf("%s itself is not back: %s", row, output.OneLine(p.RootMissing))
}

// Missing says what has not come back, or will not, a line for each table and reason.
func Missing(p recover.Progress) (lines []string) {
	for _, m := range p.Missing {
		what := output.Plural(m.Rows, "row") + " of " + output.Printable(m.Table)
		switch {
		case m.Column != "":
			what += " without the values of " + output.Printable(m.Column)
		case m.Rows == 0:
			what = output.Plural(m.References, "reference") + " of " + output.Printable(m.Table)
		case m.References > 0:
			what += " and " + output.Plural(m.References, "reference")
		}
		lines = append(lines, what+": "+output.OneLine(m.Why))
	}
	return lines
}

// Told says which row came back, where and under which name.
func Told(r repo.Restored) string {
	row := output.RowName(queue.Job{Resource: r.Resource, ResourceID: r.Key})
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
