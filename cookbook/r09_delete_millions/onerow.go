package r09

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type account struct {
	ID int64 `db:"id"`
}

type event struct {
	ID        int64 `db:"id"`
	AccountID int64 `db:"account_id"`
}

// The plan says what is below what.
var plan = schema.Plan{Resources: []schema.Resource{
	{Name: "account"},
	{Name: "event", Parent: schema.Parent{Resource: "account", Column: "account_id"}},
}}

// Onerow deletes the account, and queues the rest in the same commit.
func Onerow(ctx context.Context, db *sql.DB) error {
	accounts, err := repo.New[account](plan, "account")
	if err != nil {
		return err
	}
	_, err = accounts.Delete(ctx, db, 7)
	return err
}

// OnerowWork works what is queued. A program calls Run instead, which does not return.
func OnerowWork(ctx context.Context, db *sql.DB) error {
	worker, err := cascade.NewWorker(db, plan, cascade.Config{})
	if err != nil {
		return err
	}
	return worker.Drain(ctx)
}

// OnerowAdd makes an event, once for each request.
func OnerowAdd(ctx context.Context, db *sql.DB) error {
	events, err := repo.New[event](plan, "event")
	if err != nil {
		return err
	}
	_, err = events.Create(ctx, db, event{AccountID: 7}, repo.RequestID("phone-1"))
	if errors.Is(err, repo.ErrParentNotFound) {
		return ErrGone
	}
	return err
}
