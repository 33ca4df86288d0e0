package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow/migrations/ddl"
)

// Exec runs a statement, which must succeed, and returns how many rows it has affected. db is a pool or a
// transaction.
func Exec(t testing.TB, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, query string, args ...any,
) int64 {
	t.Helper()
	res, err := db.ExecContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// Scan returns the one value of the one row that a query must give.
func Scan[T any](t testing.TB, db interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, query string, args ...any,
) T {
	t.Helper()
	v, err := scan[T](t.Context(), db, query, args)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func scan[T any](ctx context.Context, db interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, query string, args []any,
) (v T, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if !rows.Next() {
		return v, errors.Join(errors.New("no row"), rows.Err())
	}
	if err := rows.Scan(&v); err != nil {
		return v, err
	}
	return v, rows.Err()
}

// OfQueue are the beginnings of the tables that repositories and workers write, for [Toolkit].
func OfQueue() []string {
	return []string{"onerow_request", "onerow_quota", "onerow_deletion", "onerow_job", "onerow_parked", "onerow_switch", "onerow_worker",
		"onerow_trash", "onerow_action", "onerow_retention", "onerow_control", "onerow_plan"}
}

// EndJob moves an open job to the ended ones, in a state of those.
func EndJob(t testing.TB, db *sql.DB, id int64, state string) {
	t.Helper()
	Exec(t, db, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
SELECT id, resource, resource_id, deletion_id, ?, due_at, token, 1, 0, created_at, UTC_TIMESTAMP(6) FROM onerow_job WHERE id = ?`, state, id)
	Exec(t, db, "DELETE FROM onerow_job WHERE id = ?", id)
}

// Toolkit makes those of the toolkit's tables whose names begin with one of these, and an empty version
// table: what migrations.Up makes, without what the test does not need. Tables are most of what a test asks
// of a server.
func Toolkit(t testing.TB, db *sql.DB, prefixes ...string) {
	t.Helper()
	for _, prefix := range prefixes {
		made := false
		for _, table := range ddl.Tables() {
			if strings.HasPrefix(table.Name, prefix) {
				Exec(t, db, table.SQL)
				made = true
			}
		}
		if !made {
			t.Fatalf("dbtest: the toolkit has no table %s…", prefix)
		}
	}
	Exec(t, db, "CREATE TABLE IF NOT EXISTS onerow_goose_version (version_id BIGINT PRIMARY KEY) ENGINE=InnoDB")
}
