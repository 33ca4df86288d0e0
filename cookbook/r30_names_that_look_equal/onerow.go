package r30

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type page struct {
	ID     int64  `db:"id"`
	SiteID int64  `db:"site_id"`
	Name   string `db:"name"`
}

// The plan names the column by which pages are told apart; its DDL makes the key and the index.
var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "page", Owner: "site_id", Label: schema.Label{Column: "name"},
}}}

// Onerow makes the page, once for each request.
func Onerow(ctx context.Context, db *sql.DB, request, name string) error {
	pages, err := repo.New[page](plan, "page")
	if err != nil {
		return err
	}
	_, err = pages.Create(ctx, db, page{SiteID: 1, Name: name}, repo.RequestID(request))
	if errors.Is(err, repo.ErrNameTaken) {
		return ErrTaken
	}
	return err
}
