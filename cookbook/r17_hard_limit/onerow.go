package r17

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type project struct {
	ID        int64 `db:"id"`
	AccountID int64 `db:"account_id"`
}

// The plan says that projects are counted for each account.
var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "project", Owner: "account_id", Limits: []schema.Limit{{}},
}}}

// Onerow takes the room for the project in the commit that makes it.
func Onerow(ctx context.Context, db *sql.DB, request string) error {
	most, err := limit.New(plan, "project", quota.LimitQuery("SELECT max_projects FROM account WHERE id = ?"))
	if err != nil {
		return err
	}
	projects, err := repo.New[project](plan, "project", most)
	if err != nil {
		return err
	}
	_, err = projects.Create(ctx, db, project{AccountID: 7}, repo.RequestID(request))
	if errors.Is(err, limit.ErrLimit) {
		return ErrLimit
	}
	return err
}
