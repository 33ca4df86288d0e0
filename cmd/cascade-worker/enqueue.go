package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/schema"
)

type enqueueCmd struct {
	planFlag
	Resource string        `arg:"" help:"The resource's name in the plan, as in project."`
	ID       string        `arg:"" name:"id" help:"The row's id."`
	Grace    time.Duration `placeholder:"TIME" help:"Start no earlier than after this time, as in 30s."`
}

// Help is the command's longer description.
func (enqueueCmd) Help() string {
	return `Logs the deletion and queues the job in one transaction, and prints the job's
number. The row itself stays visible until a worker has deleted everything below it:
it goes last. If the row is gone already, what is left below it is deleted. If a job
is open for the row, nothing new is queued.

Examples:

    cascade-worker enqueue project 42
    cascade-worker enqueue project 42 --grace 10m`
}

// Run queues the job.
func (c *enqueueCmd) Run(ctx context.Context, a *app) (err error) {
	plan, err := a.plan(c.planFlag)
	if err != nil {
		return err
	}
	resource, err := plan.Resource(c.Resource)
	if err != nil {
		return usagef("the plan has no resource %q; it has %s", c.Resource, strings.Join(plan.Names(), ", "))
	}
	id, err := strconv.ParseInt(c.ID, 10, 64)
	if err != nil || id < 1 {
		return usagef("%q is no id of a %s: ids are whole numbers from 1 to %d", c.ID, resource.Name, int64(1<<63-1))
	}
	if c.Grace < 0 {
		return usagef("--grace is %s; it should be a time like 30s", c.Grace)
	}
	db, err := a.openMigrated(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var job cascade.Job
	var logged cascade.Deletion
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) (err error) {
		job, logged, err = enqueue(ctx, tx, resource, id, c.Grace)
		return err
	})
	switch {
	case errors.Is(err, onerow.ErrOutcomeUnknown):
		return fmt.Errorf("%w; enqueue again is safe: at most one job is open for a row", err)
	case err != nil:
		return fmt.Errorf("nothing was queued: %w", err)
	}
	_, err = fmt.Fprintln(a.stdout, told(job, logged))
	return err
}

// enqueue logs the deletion and queues its job. The row's place is read without a
// lock, for it decides nothing: a delete that hides the row meanwhile queues a job of
// its own, and the one that is open counts.
func enqueue(ctx context.Context, tx *onerow.Tx, r schema.Resource, id int64, grace time.Duration) (cascade.Job, cascade.Deletion, error) {
	key, err := onerow.EncodeKey(id)
	if err != nil {
		return cascade.Job{}, cascade.Deletion{}, err
	}
	d := cascade.Deletion{Resource: r.Name, ResourceID: key, Grace: grace}
	var owner, hidden sql.NullInt64
	query, args := rowSQL(r, id)
	err = onerow.QueryRow(ctx, tx, query, args, &d.From, &owner, &hidden)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return cascade.Job{}, d, fmt.Errorf("look for %s %d: %w", r.Name, id, err)
	case owner.Valid:
		if d.Owner, err = onerow.EncodeKey(owner.Int64); err != nil {
			return cascade.Job{}, d, err
		}
	}
	if d.ID, err = cascade.Log(ctx, tx, d); err != nil {
		return cascade.Job{}, d, err
	}
	if hidden.Valid { // deleted already: a job may take it away only under that deletion
		d.ID = hidden.Int64
	}
	job, err := cascade.Enqueue(ctx, tx, d)
	return job, d, err
}

// rowSQL looks for the row in both tables by their primary keys: where it is, whose it
// is, and which deletion hides it.
func rowSQL(r schema.Resource, id int64) (query string, args []any) {
	owner := "NULL"
	if r.Owner != "" {
		owner = schema.Quote(r.Owner)
	}
	query = fmt.Sprintf("SELECT 'active', %s, NULL FROM %s WHERE %s = ?", owner, schema.Quote(r.Active), schema.Quote(r.ID))
	args = []any{id}
	if r.Archive != "" {
		query += fmt.Sprintf(" UNION ALL SELECT 'archive', %s, %s FROM %s WHERE %s = ?",
			owner, schema.Quote(schema.ColDeletionID), schema.Quote(r.Archive), schema.Quote(r.ID))
		args = append(args, id)
	}
	return query, args
}

// told says what was queued, or what was there.
func told(job cascade.Job, d cascade.Deletion) string {
	line := fmt.Sprintf("job %d: %s is queued", job.ID, rowName(job))
	switch {
	case !job.CreatedAt.IsZero():
		// Only a job that was read from the database has its times.
		line = fmt.Sprintf("job %d was open for %s already and is %s", job.ID, rowName(job), job.State)
		if job.State == cascade.Scheduled {
			line += ", due " + moment(job.DueAt) + " UTC"
		}
		return line
	case d.Grace > 0:
		line += fmt.Sprintf(", due in %s", d.Grace)
	}
	if d.From == "" {
		line += "; the row is gone already, only what is left below it will be deleted"
	}
	return line
}
