package store

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// fixture is a store on a schema and a folder of its own.
type fixture struct {
	*Store
	db  *sql.DB
	dir string
}

func open(t *testing.T) fixture {
	t.Helper()
	db := dbtest.Open(t)
	if err := Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, err := OpenFiles(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, files) })
	s, err := New(db, files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return fixture{s, db, dir}
}

func closed(t *testing.T, files *Files) {
	if err := files.Close(); err != nil {
		t.Error(err)
	}
}

func (f fixture) newProject(t *testing.T) Project {
	t.Helper()
	u, err := f.CreateUser(t.Context(), "Ada", Team)
	if err != nil {
		t.Fatal(err)
	}
	res, err := f.CreateProject(t.Context(), u.ID, "Campaign", "")
	if err != nil {
		t.Fatal(err)
	}
	return res.Row
}

// keys are the blob keys that rows have, and files those that the folder has.
func (f fixture) keys(t *testing.T) map[string]bool {
	t.Helper()
	rows, err := f.db.QueryContext(context.Background(), `SELECT blob_key FROM screen UNION ALL SELECT blob_key FROM screen_archive`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
	keys := map[string]bool{}
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			t.Fatal(err)
		}
		keys[key] = true
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return keys
}

func (f fixture) files(t *testing.T) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, e := range entries {
		files[e.Name()] = true
	}
	return files
}

func (f fixture) count(t *testing.T, query string, args ...any) (n int) {
	t.Helper()
	if err := f.db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (f fixture) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	if _, err := f.db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}
