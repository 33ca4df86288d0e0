package command

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/output"
)

type enqueueCmd struct {
	planFlag
	actorFlags
	Resource  string        `arg:"" optional:"" help:"The resource's or table's name in the plan, as in project."`
	ID        string        `arg:"" optional:"" name:"id" help:"The row's key: 42, a UUID, 0x00ff, text, or 101,1993-09-21 for several columns."`
	Where     string        `placeholder:"SQL" help:"Every row for which this condition holds; the row is t."`
	Query     string        `placeholder:"SQL" help:"Every row whose key this SELECT returns."`
	Grace     time.Duration `placeholder:"TIME" help:"Start no earlier than after this time, as in 30s."`
	NoTrash   bool          `name:"no-trash" help:"Keep nothing of what is deleted, though the plan has a trash: erasure."`
	MustExist bool          `name:"must-exist" help:"Fail where a row that is named is not there, instead of deleting what is left below it: for erasure."`
	DryRun    bool          `name:"dry-run" help:"Only say how many rows there are."`
}

// Help is the command's longer description.
func (enqueueCmd) Help() string {
	return `Logs the deletion and queues the job in one transaction, and prints the job's
number. The row itself stays visible until a worker has deleted everything below it:
it goes last. If the row is not there that is said, and what is left below it is deleted;
with --must-exist it is an error (exit code 1), and nothing is queued. If a job
is open for the row, nothing new is queued.

A key is typed as the table's column holds it: an integer, text, or bytes as 0x00ff; 16 bytes also as a
UUID with dashes, in the order in which they are stored.

A key of several columns is typed with commas between them. Text with a comma or a
leading quote in it, and any other key, may also be given as jobs --json shows it:
'a%2Cb or 0x00ff or 7,'en.

--where and --query queue many rows, 500 in a transaction, and say how many were queued
and how many had an open job. Run the same command again after an interruption.
Both are SQL of yours and run as it stands with the rights of the DSN's user; a column is
named as in t.created_at. --where looks at rows that are there, in both tables of a
resource, along the primary key; the condition is asked again for each page. --query
runs once and may name rows that are gone; its columns are those of the key, in their order.

Examples:

    cascade-worker enqueue project 42
    cascade-worker enqueue project 42 --grace 10m
    cascade-worker enqueue book 01890a5d-ac96-774b-bcce-b302099a8057 --no-trash --must-exist
    cascade-worker enqueue job_history 101,1993-09-21
    cascade-worker enqueue project --where "t.user_id = 7 AND t.created_at < '2020-01-01'" --dry-run
    cascade-worker enqueue project --query "SELECT id FROM project ORDER BY created_at LIMIT 100"`
}

// check tells one root from many.
func (c *enqueueCmd) check() error {
	ways := 0
	for _, way := range []string{c.ID, c.Where, c.Query} {
		if way != "" {
			ways++
		}
	}
	switch {
	case c.Resource == "":
		return usagef("missing: <resource> and <id> (see %s enqueue --help)", programName)
	case ways == 0:
		return usagef("missing: <id>, --where or --query, which say what to delete (see %s enqueue --help)", programName)
	case ways > 1:
		return usagef("<id>, --where and --query exclude each other: give one of them")
	case c.Grace < 0:
		return usagef("--grace is %s; it should be a time like 30s", c.Grace)
	}
	return nil
}

// Run queues the job, or the jobs.
func (c *enqueueCmd) Run(ctx context.Context, a *app) (err error) {
	plan, err := a.plan(c.planFlag)
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	ctx = c.acting(ctx, a)
	if c.ID == "" {
		return c.many(ctx, a, plan)
	}
	root, err := typedRoot(plan, c.Resource, c.ID)
	if err != nil {
		return err
	}
	db, err := a.openMigrated(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := root.encode(ctx, db, plan); err != nil {
		return err
	}
	if c.DryRun {
		return c.one(ctx, a, db, root)
	}
	line, err := enqueueRow(ctx, db, root, queue.Deletion{Grace: c.Grace, NoTrash: c.NoTrash}, c.MustExist)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, line)
	return err
}

// enqueueRow queues one row and says what became of it.
func enqueueRow(ctx context.Context, db *sql.DB, root rootRow, want queue.Deletion, mustExist bool) (string, error) {
	var job queue.Job
	var logged queue.Deletion
	err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		job, logged, err = enqueue(ctx, tx, root, want, mustExist)
		return err
	})
	switch {
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return "", fmt.Errorf("%w; enqueue again is safe: at most one job is open for a row", err)
	case err != nil:
		return "", fmt.Errorf("nothing was queued: %w", err)
	}
	return told(job, logged), nil
}

// one is the dry run of one row.
func (c *enqueueCmd) one(ctx context.Context, a *app, db *sql.DB, root rootRow) error {
	d, err := root.place(ctx, db)
	if err == nil && c.MustExist {
		err = notThere([]queue.Deletion{d})
	}
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s would be queued", output.RowName(queue.Job{Resource: d.Resource, ResourceID: d.ResourceID}))
	if d.From == "" {
		what += "; the row is not there, it is gone already or never was: only what is left below it would be deleted"
	}
	_, err = fmt.Fprintf(a.stdout, "%s (%s plan counts what is below it)\n", what, programName)
	return err
}

// enqueue logs the deletion and queues its job. The row's place is read without a
// lock, for it decides nothing: a delete that hides the row meanwhile queues a job of
// its own, and the one that is open counts.
func enqueue(ctx context.Context, tx *onerow.Tx, root rootRow, want queue.Deletion, mustExist bool) (queue.Job, queue.Deletion, error) {
	d, err := root.place(ctx, tx)
	if err == nil && mustExist {
		err = notThere([]queue.Deletion{d})
	}
	if err != nil {
		return queue.Job{}, d, err
	}
	d.Grace, d.NoTrash = want.Grace, want.NoTrash
	hidden := d.ID
	if d.ID, err = queue.Log(ctx, tx, d); err != nil {
		return queue.Job{}, d, err
	}
	if hidden != 0 { // deleted already: a job may take it away only under that deletion
		d.ID = hidden
	}
	job, err := queue.Enqueue(ctx, tx, d)
	return job, d, err
}

// told says what was queued, or what was there.
func told(job queue.Job, d queue.Deletion) string {
	line := fmt.Sprintf("job %d: %s is queued", job.ID, output.RowName(job))
	switch {
	case !job.CreatedAt.IsZero():
		// Only a job that was read from the database has its times.
		line = fmt.Sprintf("job %d was open for %s already and is %s", job.ID, output.RowName(job), job.State)
		if job.State == queue.Scheduled {
			line += ", due " + output.Moment(job.DueAt) + " UTC"
		}
		return line
	case d.Grace > 0:
		line += fmt.Sprintf(", due in %s; %s undo %d takes it back until then", d.Grace, programName, d.ID)
	}
	if d.From == "" {
		line += "; the row is not there, it is gone already or never was: only what is left below it will be deleted"
	}
	return line
}
