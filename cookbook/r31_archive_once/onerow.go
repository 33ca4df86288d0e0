package r31

import (
	"context"
	"database/sql"
	"errors"

	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type project struct {
	ID    int64  `db:"id"`
	Title string `db:"title"`
}

// The plan makes both tables, with the same columns.
var plan = schema.Plan{Resources: []schema.Resource{{
	Name: "project", Archive: "project_archive", Columns: []schema.Column{{Name: "title", Type: "VARCHAR(80) NOT NULL"}},
}}}

// Onerow moves the project, or finds it moved.
func Onerow(ctx context.Context, db *sql.DB) error {
	projects, err := repo.New[project](plan, "project")
	if err != nil {
		return err
	}
	_, err = projects.Archive(ctx, db, 1)
	return err
}

// OnerowRename is Rename.
func OnerowRename(ctx context.Context, db *sql.DB) error {
	projects, err := repo.New[project](plan, "project")
	if err != nil {
		return err
	}
	_, err = projects.Update(ctx, db, 1, func(p *project) error { p.Title = "New"; return nil })
	if errors.Is(err, repo.ErrNotActive) {
		return ErrArchived
	}
	return err
}
