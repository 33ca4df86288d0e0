package r08

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// Solution is the same INSERT under another key. It asks whose the name is: the answer to an earlier call may
// have been lost.
func Solution(ctx context.Context, db *sql.DB, who string) error {
	_, err := db.ExecContext(ctx, "INSERT INTO project (team_id, name, made_by) VALUES (1, 'Report', ?)", who)
	var server *mysql.MySQLError
	if !errors.As(err, &server) || server.Number != 1062 {
		return err
	}
	var has string
	err = db.QueryRowContext(ctx, "SELECT made_by FROM project WHERE team_id = 1 AND name = 'Report' AND live = 1").Scan(&has)
	if err != nil {
		return fmt.Errorf("asking who has the name: %w", err)
	}
	if has != who {
		return ErrTaken
	}
	return nil
}
