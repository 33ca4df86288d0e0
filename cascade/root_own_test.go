package cascade

import (
	"database/sql"
	"maps"
	"strings"
	"testing"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestReusedRoot: AUTO_INCREMENT has fallen back, and a job finds a row of its root's id
// that is not the one which was deleted. It touches neither that row nor what is below.
func TestReusedRoot(t *testing.T) {
	active := func(t *testing.T, db *sql.DB) { project(t, db, 1) }
	archived := func(t *testing.T, db *sql.DB) {
		insert(t, db, "project_archive", map[string]any{"id": 1, "user_id": 8})
	}
	hidden := func(t *testing.T, db *sql.DB) {
		insert(t, db, "project_archive", map[string]any{"id": 1, "user_id": 8, "deletion_id": 1, "deleted_from": "active"})
	}
	for name, c := range map[string]struct {
		from          string
		before, after []func(*testing.T, *sql.DB)
		says          string
	}{
		"another's archived row":               {"active", []func(*testing.T, *sql.DB){archived}, nil, "no deletion hides it"},
		"archived, deleted before":             {"archived", []func(*testing.T, *sql.DB){archived}, nil, "no deletion hides it"},
		"made since":                           {"active", nil, []func(*testing.T, *sql.DB){active}, "made after"},
		"made since, of an operator's":         {queue.FromOperator, nil, []func(*testing.T, *sql.DB){archived}, "made after"},
		"hidden, and the id was given again":   {"active", []func(*testing.T, *sql.DB){active}, []func(*testing.T, *sql.DB){hidden}, "in both of its tables"},
		"an operator's, and there are two":     {queue.FromOperator, []func(*testing.T, *sql.DB){active, archived}, nil, "in both of its tables"},
		"not logged, and it is in the archive": {"", []func(*testing.T, *sql.DB){archived}, nil, "no deletion hides it"},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, db *sql.DB) {
				below := grow(t, db, 1, 2, 1, 1, 1)
				for _, put := range c.before {
					put(t, db)
				}
				job := condemnFrom(t, db, 1, 0, c.from)
				if c.from == "" {
					dbtest.Exec(t, db, "DELETE FROM onerow_deletion")
				}
				for _, put := range c.after {
					put(t, db)
				}
				drain(t, worker(t, db, Config{MaxFailures: 1}))
				if got := get(t, db, job.ID); got.State != queue.Dead || !strings.Contains(got.LastError, c.says) || got.DeletedRows != 0 {
					t.Errorf("%+v", got)
				}
				if left := rowsOf(t, db, 1); !maps.Equal(left, below) {
					t.Errorf("below: %v, want %v", left, below)
				}
				n := count(t, db, "SELECT (SELECT COUNT(*) FROM project) + (SELECT COUNT(*) FROM project_archive)")
				if want := int64(len(c.before) + len(c.after)); n != want {
					t.Errorf("%d roots, want %d", n, want)
				}
			})
		})
	}
}
