package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

const (
	killScreens  = 100
	killComments = 100 // on each
	killTotal    = killScreens + killScreens*killComments
	kills        = 5
)

// A project with 100 screens of 100 comments each is deleted through the API, and
// the process is killed five times meanwhile, each time with something deleted and
// something left. In the end nothing is left, and the count is exact.
func testKill(t *testing.T, p program) {
	dsn, data := dbtest.DSN(t), t.TempDir()
	db := dbtest.OpenDSN(t, dsn)
	// Small batches, so that there is time to kill it; a short lease, so that a
	// killed worker's job does not rest for long.
	args := []string{"-dsn", dsn, "-data", data, "-batch", "10", "-chunk", "4", "-lease", "500ms", "-poll", "50ms"}
	s := p.serve(t, args...)
	var row struct {
		ID    int64 `json:"id"`
		JobID int64 `json:"job_id"`
	}
	s.call(t, "POST", "/api/users", `{"name":"Ada","plan":"free"}`, &row)
	s.call(t, "POST", fmt.Sprintf("/api/users/%d/projects", row.ID), `{"name":"Campaign"}`, &row)
	project := row.ID
	other := fill(t, db, filepath.Join(data, "blobs"), project)
	if code := s.call(t, "DELETE", fmt.Sprintf("/api/projects/%d", project), "", &row); code != 202 {
		t.Fatalf("DELETE: %d", code)
	}
	var last int64
	for n := range kills {
		dbtest.Eventually(t, patience, func() (bool, string) {
			now := deleted(t, db, row.JobID)
			return now > last && now >= killTotal*int64(n+1)/8, fmt.Sprintf("%d rows are deleted, before there were %d: %s", now, last, s.stderr)
		})
		s.stop(t, syscall.SIGKILL)
		last = deleted(t, db, row.JobID)
		t.Logf("kill %d at %d of %d rows", n+1, last, killTotal)
		if last <= 0 || last >= killTotal {
			t.Fatalf("kill %d: %d of %d rows are deleted, it had to be in between", n+1, last, killTotal)
		}
		if left := countRows(t, db, `SELECT (SELECT COUNT(*) FROM comment) + (SELECT COUNT(*) FROM screen) + (SELECT COUNT(*) FROM screen_archive)`) - other; left != killTotal-last {
			t.Errorf("kill %d: %d rows are counted, and %d of %d are left", n+1, last, left, killTotal)
		}
		s = p.serve(t, args...)
	}
	// A clean stop in the middle gives the job back, so that the next one goes on at
	// once.
	dbtest.Eventually(t, patience, func() (bool, string) {
		now := deleted(t, db, row.JobID)
		return now > last, fmt.Sprintf("%d rows are deleted, as before: %s", now, s.stderr)
	})
	code, took := s.stop(t, syscall.SIGTERM)
	now := deleted(t, db, row.JobID)
	t.Logf("SIGTERM at %d of %d rows: ended after %s", now, killTotal, took)
	if code != 0 || took > 5*time.Second || now >= killTotal {
		t.Errorf("SIGTERM: exit %d after %s at %d rows: %s", code, took, now, s.stderr)
	}
	if n := countRows(t, db, `SELECT COUNT(*) FROM onerow_job WHERE id = ? AND state = 'ready'`, row.JobID); n != 1 {
		t.Error("the stopped worker kept its job")
	}
	s = p.serve(t, args...)
	var job struct {
		State       string           `json:"state"`
		DeletedRows int64            `json:"deleted_rows"`
		Tables      map[string]int64 `json:"tables"`
	}
	dbtest.Eventually(t, patience, func() (bool, string) {
		s.call(t, "GET", fmt.Sprintf("/api/jobs/%d", row.JobID), "", &job)
		return job.State == "done", fmt.Sprintf("%+v", job)
	})
	if job.DeletedRows != killTotal || job.Tables["comment"] != killScreens*killComments || job.Tables["screen"]+job.Tables["screen_archive"] != killScreens {
		t.Errorf("%+v, there were %d rows", job, killTotal)
	}
	if n := countRows(t, db, `SELECT (SELECT COUNT(*) FROM comment) + (SELECT COUNT(*) FROM screen) + (SELECT COUNT(*) FROM screen_archive)`); n != other {
		t.Errorf("%d rows are left, %d belong to another project", n, other)
	}
	if n := countRows(t, db, `SELECT (SELECT COUNT(*) FROM project WHERE id = ?) + (SELECT COUNT(*) FROM project_archive WHERE id = ?)`, project, project); n != 0 {
		t.Error("the project is still there")
	}
	if n := countRows(t, db, `SELECT COUNT(*) FROM onerow_job`); n != 0 {
		t.Errorf("%d jobs are open", n)
	}
	if ok, state := empty(filepath.Join(data, "blobs")); !ok {
		t.Error(state)
	}
	if code, took := s.stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit %d after %s: %s", code, took, s.stderr)
	}
}

func deleted(t *testing.T, db *sql.DB, job int64) int64 {
	t.Helper()
	return countRows(t, db, `SELECT COALESCE(SUM(deleted_rows), 0) FROM onerow_job_count WHERE job_id = ?`, job)
}

func countRows(t *testing.T, db *sql.DB, query string, args ...any) (n int64) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// fill makes the screens, a tenth of them archived, with their files, and the
// comments; by SQL, since this is not what is tested. It also makes rows below
// another project, and returns how many.
func fill(t *testing.T, db *sql.DB, blobs string, project int64) (other int64) {
	t.Helper()
	exec := func(query string, args ...any) int64 {
		t.Helper()
		res, err := db.ExecContext(t.Context(), query, args...)
		if err != nil {
			t.Fatal(err)
		}
		id, err := res.LastInsertId()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	const columns = `project_id, client_filename, client_filename_base, stem_key, copy_no, version, created_at, updated_at, blob_key, content_type, size, revision`
	const values = `?, ?, ?, ?, 0, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), ?, 'text/plain', 4, 1`
	exec("ALTER TABLE screen AUTO_INCREMENT = 2000000") // behind those that go into the archive below
	comments := `INSERT INTO comment (screen_id, version, created_at, updated_at, body) VALUES ` +
		strings.TrimSuffix(strings.Repeat("(?, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'nice'),", killComments), ",")
	for i := range killScreens {
		name := fmt.Sprint("screen", i)
		key := fmt.Sprintf("%d-kill%d", project, i)
		if err := os.WriteFile(filepath.Join(blobs, key), []byte("file"), 0o600); err != nil {
			t.Fatal(err)
		}
		var id int64
		if i%10 == 9 {
			id = int64(1_000_000 + i)
			exec(`INSERT INTO screen_archive (id, archived_at, `+columns+`) VALUES (?, UTC_TIMESTAMP(6), `+values+`)`, id, project, name+".txt", name, name, key)
		} else {
			id = exec(`INSERT INTO screen (`+columns+`) VALUES (`+values+`)`, project, name+".txt", name, name, key)
		}
		ids := make([]any, killComments)
		for n := range ids {
			ids[n] = id
		}
		exec(comments, ids...)
	}
	id := exec(`INSERT INTO screen (`+columns+`) VALUES (`+values+`)`, project+1, "other.txt", "other", "other", "")
	exec(`INSERT INTO comment (screen_id, version, created_at, updated_at, body) VALUES (?, 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'stays')`, id)
	return 2
}
