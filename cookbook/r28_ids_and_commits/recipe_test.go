package r28

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cookbook/internal/kitchen"
)

func TestMain(m *testing.M) { kitchen.Main(m) }

func TestRecipe28(t *testing.T) {
	reader := "INSERT INTO reader (name, last_no) VALUES ('feed', 0)"
	kitchen.Cook(t, kitchen.Recipe{
		Naive: kitchen.Side{Tables: "naive.sql", Setup: []string{reader}, Calls: two(Naive)},
		Solution: kitchen.Side{
			Tables: "schema.sql", Setup: []string{"INSERT INTO counter (name, last_no) VALUES ('message', 0)", reader}, Calls: two(Solution),
		},
		Onerow: kitchen.Side{Tables: "onerow.sql", Setup: []string{reader}, Calls: two(Onerow)},
		Judge:  nothingMissed,
		Table: kitchen.Table{
			MariaDB10: [3]kitchen.Outcome{kitchen.Breaks, kitchen.Breaks, kitchen.Holds},
			MariaDB11: [3]kitchen.Outcome{kitchen.Breaks, kitchen.Breaks, kitchen.Holds}, // the reader is refused, and comes again
			MySQL:     [3]kitchen.Outcome{kitchen.Breaks, kitchen.Breaks, kitchen.Holds},
		},
		Trace: sql.LevelRepeatableRead,
	})
}

// two people write, and the reader comes after the second one.
func two(write func(context.Context, *sql.DB, string) error) []kitchen.Call {
	return []kitchen.Call{
		func(ctx context.Context, db *sql.DB) error { return write(ctx, db, "ann signs in") },
		func(ctx context.Context, db *sql.DB) error {
			if err := write(ctx, db, "bob signs in"); err != nil {
				return err
			}
			err := Read(ctx, db)
			var server *mysql.MySQLError
			if errors.As(err, &server) && server.Number == 1020 {
				return Read(ctx, db) // it polls: who was refused comes again
			}
			return err
		},
	}
}

// nothingMissed has the reader come again, when all have committed, and wants each message in the feed.
func nothingMissed(ctx context.Context, db *sql.DB, answers []error) error {
	if err := errors.Join(answers...); err != nil {
		return err
	}
	if err := Read(ctx, db); err != nil {
		return err
	}
	var missed sql.NullString
	err := db.QueryRowContext(ctx, "SELECT GROUP_CONCAT(event) FROM message WHERE event NOT IN (SELECT event FROM feed)").Scan(&missed)
	if err == nil && missed.Valid {
		return fmt.Errorf("the reader has come again after both had committed, and will never see: %s", missed.String)
	}
	return err
}
