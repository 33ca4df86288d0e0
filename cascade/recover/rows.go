package recover

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/restore"
	"github.com/onerow/onerow/cascade/internal/trash"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/answers"
	"github.com/onerow/onerow/internal/trace"
	"github.com/onerow/onerow/schema"
)

// ErrNotKept means that nothing of a job is in the trash: its plan kept nothing, its time is over, or it has
// come back already.
var ErrNotKept = answers.New(410, "nothing of it was kept", "cascade: nothing of the job is in the trash")

// Progress is how far a restore is.
type Progress struct {
	JobID, DeletionID    int64
	Resource, ResourceID string
	// Total is how many rows and cut references were in the trash when it began.
	Total int64
	// Seen is how many of them were tried: the sum of the next five.
	Seen int64
	// Rows are back, References are set again. Changed are references that somebody has set since, or whose
	// row is gone: they stay as they are.
	Rows, References, Changed int64
	// Stuck are what could not come back; it stays in the trash, and Why is the reason of one of them.
	// Removed are what somebody has removed from the trash tables by hand.
	Stuck, Removed int64
	Why            string
	// Missing is, at the end, what the job has deleted and what is not back, also of earlier calls; of a dry
	// run what a restore cannot bring back. RootMissing is why the root row itself is not there
	// though the job has deleted it, or "".
	Missing     []Missing
	RootMissing string
}

// Missing is what of one table is not back, or does not come back.
type Missing struct {
	// Table is its name, or that of the resource.
	Table string `json:"table"`
	// Rows are deleted rows, References are references that were cut.
	Rows       int64 `json:"rows"`
	References int64 `json:"references,omitempty"`
	// Column says that the rows come back without the values of this column.
	Column string `json:"column,omitempty"`
	Why    string `json:"why"`
}

// Options say how a restore works.
type Options struct {
	// DryRun writes nothing, and says what can come back, Progress.Total, and what cannot, as far as that is
	// known before it is tried: Missing and RootMissing. What is taken meanwhile, or is below such a row, is
	// not among it.
	DryRun bool
	// Batch is how many rows a transaction brings back, more or less. Default 1000.
	Batch int
	// OnBatch is called after each batch: to show progress, or to wait. Its error ends the restore, which
	// can be called again.
	OnBatch func(ctx context.Context, p Progress) error
}

const defaultBatch = 1000

// Rows brings back what a job has put into the trash, see [schema.Plan].Trash: parents first, each
// batch in a transaction that proves the job's token. The job may have ended, or be at work: it is held
// first, and its worker changes nothing any more. It stays held until who called has dealt with the root
// row: see [Job], which does both. Retry lets the deletion go on.
//
// It may be called again after any error and any crash, and goes on where it was; what was stuck is tried
// again. Of two at the same time the later one goes on, the other gets [queue.ErrWrongState], which says so.
// So does one whose root is deleted again meanwhile. Other errors: [ErrNotKept]; [queue.ErrNoJob];
// [queue.ErrOpenJob], where the root was deleted again since, by another job; those of the plan.
//
// No row comes back below one that has taken the key of a deleted row since: what was above it must be back,
// or never have been deleted. Progress.Missing says at the end what of all that the job has deleted is
// not back: it is stuck, has expired or was not kept. That is no error.
//
// Statements: 11 of the catalog and 9 to begin, 11 with an actor; for each batch BEGIN, fence, steps, what
// has become of others, the count, COMMIT; for each step, which is what a statement has deleted, up to
// Config.Batch rows of a table: 1 for each edge without a foreign key to a row above, INSERT … SELECT, the
// note. Where rows are refused or have owners: 1 more for the keys, and INSERT … SELECT by 500 of them; where
// rows above are not back, 1 for each edge to them, 2 where their copies are gone; as many where rows of a
// table are not back of which references were cut. At the end 1, and 1 for each table of the root that is not
// back, and 1 more. A dry run sends 1 for those of the beginning and for the batches.
func Rows(ctx context.Context, db *sql.DB, plan schema.Plan, jobID int64, o Options) (_ Progress, err error) {
	ctx, span := trace.Start(ctx, "recover.Rows", slog.Int64("onerow.job", jobID))
	defer span.End(&err)
	r := restoring{p: Progress{JobID: jobID}}
	if err := plan.Check(); err != nil {
		return r.p, err
	}
	begin := r.begin
	if o.DryRun {
		begin = r.total
	}
	if r.graph, err = graph.Read(ctx, db, plan); err == nil {
		err = begin(ctx, db)
	}
	if err == nil {
		err = r.read(ctx, db)
	}
	if err == nil && !o.DryRun {
		err = r.batches(ctx, db, o)
	}
	if err == nil {
		err = r.look(ctx, db, o.DryRun)
	}
	if err != nil {
		return r.p, fmt.Errorf("cascade: restore job %d: %w", jobID, err)
	}
	return r.p, nil
}

// restoring is a restore under way, or its dry run.
type restoring struct {
	p        Progress
	fence    func(ctx context.Context, tx *onerow.Tx) error // proves that the job is held for this restore
	graph    *graph.Graph
	job      *restore.Job
	detached map[string]int64  // rows of each table that the job has detached
	dropped  []restore.Missing // what has nowhere to come back to
}

// read reads the job that is to be restored, and what of its tables is not there any more.
func (r *restoring) read(ctx context.Context, db onerow.DB) error {
	job, err := queue.Get(ctx, db, r.p.JobID)
	if err != nil {
		return err
	}
	n := r.graph.Nodes[job.Resource]
	if n == nil {
		return fmt.Errorf("%w: %q, whose row the job has deleted", schema.ErrUnknownResource, job.Resource)
	}
	r.job, r.detached = &restore.Job{ID: job.ID, Skipped: job.Skipped > 0, Deleted: job.Tables, Node: n}, job.Detached
	if r.job.Root, err = n.Tables[0].Key.Decode(job.ResourceID); err != nil {
		return fmt.Errorf("the id of the row: %w", err)
	}
	if r.job.Ended = job.State == queue.Done; !r.job.Ended {
		r.job.Ended, err = trash.WasEnded(ctx, db, job.ID)
	}
	if err == nil {
		r.dropped, err = restore.Dropped(ctx, db, r.graph, job.ID)
	}
	return err
}

// batches brings back batch after batch, the last steps first.
func (r *restoring) batches(ctx context.Context, db *sql.DB, o Options) error {
	size := cmp.Or(max(o.Batch, 0), defaultBatch)
	for before := int64(math.MaxInt64); before > 0; {
		var out restore.Outcome
		traced, span := trace.Start(ctx, "recover.batch", slog.Int64("onerow.job", r.p.JobID))
		err := onerow.InIdempotentTx(traced, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
			if err = r.fence(ctx, tx); err == nil {
				out, err = restore.Batch(ctx, tx, r.graph, r.job, before, size)
			}
			return err
		})
		if span.On() {
			span.Set(slog.Int64("onerow.rows", out.Rows))
		}
		span.End(&err)
		if err != nil {
			return err
		}
		before = out.Before
		r.add(out)
		if o.OnBatch != nil {
			err = o.OnBatch(ctx, r.p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// look notes what is missing; before: before anything is brought back.
func (r *restoring) look(ctx context.Context, db onerow.DB, before bool) error {
	missing, root, err := restore.Look(ctx, db, r.graph, r.job, r.detached, before)
	for _, m := range append(missing, r.dropped...) {
		r.p.Missing = append(r.p.Missing, Missing(m))
	}
	r.p.RootMissing = root
	return err
}

func (r *restoring) add(t restore.Outcome) {
	r.p.Seen += t.Rows + t.References + t.Changed + t.Stuck + t.Removed
	r.p.Rows += t.Rows
	r.p.References += t.References
	r.p.Changed += t.Changed
	r.p.Removed += t.Removed
	if r.p.Stuck += t.Stuck; t.Why != "" {
		r.p.Why = t.Why
	}
}

// sqlTotal reads the job's part of the primary key.
const sqlTotal = `SELECT COALESCE(SUM(kept_rows), 0) FROM onerow_trash WHERE job_id = ? AND step > 0 AND expires_at > UTC_TIMESTAMP(6)`

// total is the beginning of a dry run: it asks how much there is.
func (r *restoring) total(ctx context.Context, db *sql.DB) error {
	err := onerow.QueryRow(ctx, db, sqlTotal, []any{r.p.JobID}, &r.p.Total)
	if err == nil && r.p.Total == 0 {
		if _, err = queue.Get(ctx, db, r.p.JobID); err == nil {
			err = ErrNotKept
		}
	}
	return err
}

// begin holds the job, out of the archive if it has ended.
func (r *restoring) begin(ctx context.Context, db *sql.DB) error {
	return onerow.InIdempotentTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		held, fence, err := queue.HoldForRestore(ctx, tx, r.p.JobID, func(ended bool) error {
			return r.kept(ctx, tx, ended)
		})
		r.fence, r.p.Resource, r.p.ResourceID, r.p.DeletionID = fence, held.Resource, held.ResourceID, held.DeletionID
		return err
	})
}

// sqlState reads an open job's state by the primary key, and locks it: what its batches keep is counted after
// they have ended.
const sqlState = `SELECT state FROM onerow_job WHERE id = ? FOR UPDATE`

// kept counts what is in the trash. A job of which nothing is there is not held, unless it has not begun, or
// a restore was cut after its last row had come back. A job that is in neither table has ended between two
// looks, or never was.
func (r *restoring) kept(ctx context.Context, tx *onerow.Tx, ended bool) (err error) {
	var state queue.State
	if !ended {
		if err = onerow.QueryRow(ctx, tx, sqlState, []any{r.p.JobID}, &state); errors.Is(err, sql.ErrNoRows) {
			return nil
		}
	}
	if err == nil {
		err = onerow.QueryRow(ctx, tx, sqlTotal, []any{r.p.JobID}, &r.p.Total)
	}
	switch {
	case err != nil:
		return err
	case ended && r.p.Total == 0:
		return ErrNotKept
	case ended:
		return trash.NoteEnded(ctx, tx, r.p.JobID)
	case r.p.Total == 0 && state != queue.Held && state != queue.Scheduled:
		return fmt.Errorf("%w: it is %s", ErrNotKept, state)
	}
	return nil
}
