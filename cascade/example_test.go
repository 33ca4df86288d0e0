package cascade_test

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

var plan = schema.Plan{Resources: []schema.Resource{
	{Name: "project", Archive: "project_archive", Owner: "user_id"},
	{Name: "comment", Parent: schema.Parent{Resource: "project", Column: "project_id"}},
}}

// The audit, the job and the row's own removal commit together. (Package repo does
// this for its resources.)
func Example_delete() {
	remove := func(ctx context.Context, db *sql.DB, id int64) (queue.Job, error) {
		var job queue.Job
		err := onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			key, err := onerow.EncodeKey(id)
			if err != nil {
				return err
			}
			d := queue.Deletion{Resource: "project", ResourceID: key, From: "active"}
			if d.ID, err = queue.Log(ctx, tx, d); err != nil {
				return err
			}
			if job, err = queue.Enqueue(ctx, tx, d); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, "DELETE FROM project WHERE id = ?", id)
			return err
		})
		return job, err
	}
	fmt.Printf("%T\n", remove)
}

// A worker blocks until its context ends.
func ExampleWorker_Run() {
	serve := func(ctx context.Context, db *sql.DB) error {
		worker, err := cascade.NewWorker(db, plan, cascade.Config{
			Lease:    5 * time.Second,
			Progress: true,
			OnEvent: func(e cascade.Event) {
				if job := e.Progress; job != nil {
					fmt.Println(job.ResourceID, job.State, job.DeletedRows)
				}
			},
		})
		if err != nil {
			return err
		}
		return worker.Run(ctx)
	}
	fmt.Printf("%T\n", serve)
}

// A job of cron works what is due and ends.
func ExampleWorker_RunOnce() {
	drain := func(ctx context.Context, db *sql.DB) error {
		worker, err := cascade.NewWorker(db, plan, cascade.Config{})
		if err != nil {
			return err
		}
		for {
			worked, err := worker.RunOnce(ctx)
			if err != nil || worked == 0 {
				return err
			}
		}
	}
	fmt.Printf("%T\n", drain)
}
