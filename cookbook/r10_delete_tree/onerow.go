package r10

import (
	"context"
	"database/sql"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type folder struct {
	ID       int64  `db:"id"`
	ParentID *int64 `db:"parent_id"`
}

// The plan says that a folder may be in a folder.
var plan = schema.Plan{Resources: []schema.Resource{{
	Name:    "folder",
	Columns: []schema.Column{{Name: "parent_id", Type: "BIGINT NULL"}},
	Parents: []schema.Edge{{Table: "folder", Columns: []string{"parent_id"}}},
}}}

// Onerow deletes the folder, and queues the rest in the same commit.
func Onerow(ctx context.Context, db *sql.DB) error {
	folders, err := repo.New[folder](plan, "folder")
	if err != nil {
		return err
	}
	_, err = folders.Delete(ctx, db, 1)
	return err
}

// OnerowWork deletes what is queued, bottom-up. A program calls Run instead, which does not return.
func OnerowWork(ctx context.Context, db *sql.DB) error {
	worker, err := cascade.NewWorker(db, plan, cascade.Config{})
	if err != nil {
		return err
	}
	return worker.Drain(ctx)
}
