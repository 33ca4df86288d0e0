package recover

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/trace"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// Job brings back what a job has deleted and its plan has kept, see [schema.Plan].Trash: everything
// below the row, then the row itself, where it was and as [repo.Restore] brings it back, under its name or as
// a copy. Until then the row stays hidden, where the toolkit made its table. It may be called again after any
// error or crash, and goes on; what could not come back, as Progress says, stays in the trash and is tried
// again by the next call. A job that is at work is held first. Afterwards it is [queue.Restored].
//
// Progress.Missing says what has not come back, and it is no error; nor is it one that the row itself
// has not, see RootMissing: then its deletion is not taken back, and the job has ended nevertheless.
//
// Errors: those of [Rows] and of [repo.Restore]; where it is of repo.Restore all else is back already.
// A row that was deleted without a trace, by SQL of the application's own, does not come back, and so does
// nothing whose row above it was.
//
// Atomic are the batches, and the return of the row with its quota mark.
func Job(ctx context.Context, db *sql.DB, plan schema.Plan, jobID int64, o Options) (_ repo.Restored, _ Progress, err error) {
	ctx, span := trace.Start(ctx, "recover.Job", slog.Int64("onerow.job", jobID))
	defer span.End(&err)
	p, err := Rows(ctx, db, plan, jobID, o)
	if err != nil || o.DryRun {
		return repo.Restored{}, p, err
	}
	if p.DeletionID == 0 { // queued by SQL of the application's own
		err = queue.Cancel(ctx, db, p.Resource, p.ResourceID, 0)
		return repo.Restored{Resource: p.Resource, Key: p.ResourceID, Changed: err == nil}, p, err
	}
	back, err := repo.Restore(ctx, db, plan, p.DeletionID)
	if err != nil {
		return back, p, fmt.Errorf("repo: what job %d has deleted is back, but for the row itself: %w", jobID, err)
	}
	switch {
	case p.RootMissing == "":
	case back.OldName != "": // the deletion hid it still
		p.RootMissing = ""
	default:
		back.State, back.Name = "", "" // a row with its id is somebody else's
	}
	return back, p, nil
}
