package connect

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// TestExample runs Main with command lines, errors and signals: exit codes, and nothing is left on the
// server.
func TestExample(t *testing.T) {
	dsn := dbtest.Server(t).DSN("")
	const table = "CREATE TABLE t (id INT PRIMARY KEY)"
	for _, c := range []struct {
		name string
		args []string
		code int
		play func(ctx context.Context, db *sql.DB) error
	}{
		{"it ends well", []string{"-dsn", dsn}, 0, func(ctx context.Context, db *sql.DB) error {
			_, err := db.ExecContext(ctx, "INSERT INTO t VALUES (1)")
			return err
		}},
		{"an error", []string{"-dsn", dsn}, 1, func(context.Context, *sql.DB) error { return errors.New("planned") }},
		{"a signal", []string{"-dsn", dsn}, 1, func(ctx context.Context, _ *sql.DB) error {
			if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
				return nil //nolint:nilerr // the exit code tells
			}
			<-ctx.Done()
			return ctx.Err()
		}},
		{"help", []string{"-h"}, 0, nil},
		{"no such flag", []string{"-nothing"}, 2, nil},
		{"an argument", []string{"more"}, 2, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := os.Args
			defer func() { os.Args = before }()
			os.Args = append([]string{"test"}, c.args...)
			var database string
			code := Main("connecttest", []string{table}, func(ctx context.Context, db *sql.DB) (string, error) {
				if err := db.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&database); err != nil {
					return "", err
				}
				return "", c.play(ctx, db)
			})
			if code != c.code || (c.play == nil) != (database == "") {
				t.Errorf("exit code %d, database %q", code, database)
			}
			var n int
			err := dbtest.Open(t).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", database).Scan(&n)
			if err != nil || n != 0 {
				t.Errorf("%q is left, %v", database, err)
			}
		})
	}
}
