package r11

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

type post struct {
	ID int64 `db:"id"`
}

type comment struct {
	ID     int64 `db:"id"`
	PostID int64 `db:"post_id"`
}

var plan = schema.Plan{Resources: []schema.Resource{
	{Name: "post", Archive: "post_archive"},
	{Name: "comment", Parent: schema.Parent{Resource: "post", Column: "post_id"}},
}}

// Onerow hides the post for a day. Until then its comments are not touched.
func Onerow(ctx context.Context, db *sql.DB) error {
	posts, err := repo.New[post](plan, "post")
	if err != nil {
		return err
	}
	_, err = posts.Delete(ctx, db, 1, repo.Grace(24*time.Hour))
	return err
}

// OnerowUndo takes the deletion back, exactly this one.
func OnerowUndo(ctx context.Context, db *sql.DB) error {
	posts, err := repo.New[post](plan, "post")
	if err != nil {
		return err
	}
	_, err = posts.CancelDelete(ctx, db, 1)
	return err
}

// OnerowComment deletes one comment. One that is gone is deleted.
func OnerowComment(ctx context.Context, db *sql.DB) error {
	comments, err := repo.New[comment](plan, "comment")
	if err != nil {
		return err
	}
	if _, err = comments.Delete(ctx, db, 2); errors.Is(err, onerow.ErrNotFound) {
		return nil
	}
	return err
}
