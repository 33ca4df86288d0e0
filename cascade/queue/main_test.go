package queue

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// each runs a test under the sessions under which everything must hold, at each of racetest.Levels.
func each(t *testing.T, test func(t *testing.T, db *sql.DB)) {
	for _, level := range racetest.Levels() {
		name, opts := "read committed", []dbtest.Option{dbtest.Isolation(level)}
		if level == sql.LevelRepeatableRead {
			name, opts = "repeatable read, clientFoundRows", append(opts, dbtest.Param("clientFoundRows", "true"),
				dbtest.Param("interpolateParams", "false"), dbtest.Param("parseTime", "true"), dbtest.Param("loc", "Asia%2FTokyo"))
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, opts...))
		})
	}
}

// open is a database with the toolkit's tables.
func open(t testing.TB, opts ...dbtest.Option) *sql.DB {
	t.Helper()
	return migrated(t, dbtest.DSN(t, opts...))
}

func migrated(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db := dbtest.OpenDSN(t, dsn)
	dbtest.Toolkit(t, db, dbtest.OfQueue()...)
	return db
}

// counting is a database whose statements are counted.
func counting(t *testing.T) (*sql.DB, *crashtest.Connector) {
	t.Helper()
	dsn := dbtest.DSN(t)
	migrated(t, dsn)
	return racetest.Counted(t, dsn)
}

func execAll(ctx context.Context, db *sql.DB, queries ...string) error {
	for _, q := range queries {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

func count(t testing.TB, db onerow.DB, query string, args ...any) (n int64) {
	t.Helper()
	if err := onerow.QueryRow(t.Context(), db, query, args, &n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func get(t testing.TB, db onerow.DB, id int64) Job {
	t.Helper()
	job, err := Get(t.Context(), db, id)
	if err != nil {
		t.Fatal(err)
	}
	return job
}
