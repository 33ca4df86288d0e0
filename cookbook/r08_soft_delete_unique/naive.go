// Package r08 is recipe 8: soft delete and a unique name.
//
// Open this package when that recipe changes.
package r08

import (
	"context"
	"database/sql"
	"errors"

	"github.com/go-sql-driver/mysql"
)

// ErrTaken says that a project that is not deleted has the name.
var ErrTaken = errors.New("the name is taken")

// Naive relies on the unique key (team_id, name, deleted_at).
func Naive(ctx context.Context, db *sql.DB, who string) error {
	_, err := db.ExecContext(ctx, "INSERT INTO project (team_id, name, made_by) VALUES (1, 'Report', ?)", who)
	var server *mysql.MySQLError
	if errors.As(err, &server) && server.Number == 1062 {
		return ErrTaken
	}
	return err
}
