package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/onerow/onerow/cmd/cascade-worker/internal/undo"
)

type undoCmd struct {
	planFlag
	actorFlags
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
	back, err := undo.Restore(c.acting(ctx, a), db, plan, c.Deletion)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, undo.Told(back))
	return err
}
