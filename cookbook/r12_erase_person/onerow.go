package r12

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type person struct {
	ID int64 `db:"id"`
}

type visitRow struct {
	ID       int64 `db:"id"`
	PersonID int64 `db:"person_id"`
}

// The plan names each table that refers to a person.
var plan = schema.Plan{Resources: []schema.Resource{
	{Name: "person"},
	{Name: "visit", Parent: schema.Parent{Resource: "person", Column: "person_id"}},
	{Name: "note", Parent: schema.Parent{Resource: "person", Column: "author_id"}},
}}

// Onerow deletes the person, and queues the rest in the same commit.
func Onerow(ctx context.Context, db *sql.DB) error {
	persons, err := repo.New[person](plan, "person")
	if err != nil {
		return err
	}
	_, err = persons.Delete(ctx, db, 1)
	return err
}

// OnerowWork deletes what is queued. A program calls Run instead, which does not return.
func OnerowWork(ctx context.Context, db *sql.DB) error {
	worker, err := cascade.NewWorker(db, plan, cascade.Config{})
	if err != nil {
		return err
	}
	return worker.Drain(ctx)
}

// OnerowVisit makes a visit, once for each request.
func OnerowVisit(ctx context.Context, db *sql.DB) error {
	visits, err := repo.New[visitRow](plan, "visit")
	if err != nil {
		return err
	}
	_, err = visits.Create(ctx, db, visitRow{PersonID: 1}, repo.RequestID("till-1"))
	if errors.Is(err, repo.ErrParentNotFound) {
		return ErrErased
	}
	return err
}
