package r08

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type project struct {
	ID     int64  `db:"id"`
	TeamID int64  `db:"team_id"`
	Name   string `db:"name"`
}

// The plan has no deleted_at: a project is in the active table, in the archive, or gone.
var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "project", Archive: "project_archive", Owner: "team_id", Label: schema.Label{Column: "name"},
}}}

// Onerow makes the project, once for each request.
func Onerow(ctx context.Context, db *sql.DB, request string) error {
	projects, err := repo.New[project](plan, "project")
	if err != nil {
		return err
	}
	_, err = projects.Create(ctx, db, project{TeamID: 1, Name: "Report"}, repo.RequestID(request))
	if errors.Is(err, repo.ErrNameTaken) {
		return ErrTaken
	}
	return err
}
