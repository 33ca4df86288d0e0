package work

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// ownSQL reads the root row and the log of the job's deletion by their primary keys. It locks the root row,
// for a moment: whoever takes a row away from below it holds a share lock, and looks for jobs behind that; so
// what this one is about to walk has moved already, or does not move. The log is not locked.
func (r *run) ownSQL(t *graph.Table) string {
	log := fmt.Sprintf("FROM onerow_deletion AS d WHERE d.id = %d", r.DeletionID)
	return fmt.Sprintf("SELECT COALESCE((SELECT d.deleted_from %s), ''), COALESCE((SELECT d.requested_at < t.%s %[1]s), 0) FROM %[3]s AS t WHERE %[4]s FOR UPDATE",
		log, schema.ColCreatedAt, t.From, t.Key.In("t", []rowkey.Key{r.Root}))
}

// own refuses a root row that no deletion hides and that cannot be the one which the job
// is about: ids are used again where AUTO_INCREMENT has fallen back. A row that was made
// after the deletion was logged is another one, and an archived one needs an operator's
// word. One statement.
func (r *run) own(ctx context.Context, db onerow.DB, t *graph.Table) error {
	var from string
	var younger bool
	err := onerow.QueryRow(ctx, db, r.ownSQL(t), nil, &from, &younger)
	switch {
	case errors.Is(err, sql.ErrNoRows): // it has just moved or gone, which is looked at again
		return nil
	case err != nil:
		return err
	case younger:
		return r.foreign("was made after the job's deletion was logged, so it is another row of this id")
	case !t.Active && from != queue.FromOperator && from != queue.FromDue:
		return r.foreign("is archived and no deletion hides it; if it is to go, delete it, or queue it with cascade-worker enqueue")
	}
	return nil
}

// foreign is the error of a job that does not touch the root row. It is looked for again in each pass, so
// earlier ones may have deleted what was below.
func (r *run) foreign(why string) error {
	did := fmt.Sprintf("nothing was deleted by this attempt of job %d", r.JobID)
	if r.changes > 0 {
		did = fmt.Sprintf("before that, this attempt of job %d had deleted or changed %d rows below it", r.JobID, r.changes)
	}
	return fmt.Errorf("%w: %s %s %s; %s", queue.ErrOtherDeletion, r.Resource, r.ResourceID, why, did)
}
