package cascade

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// TestDrift: a job whose tables change under it dies at once, and goes on after Retry.
func TestDrift(t *testing.T) {
	eachOffice(t, func(t *testing.T, db *sql.DB) {
		for _, stmt := range officeRows {
			dbtest.Exec(t, db, stmt)
		}
		job := begin(t, db, "firm", firmOfNord)
		var w *Worker
		once := false
		w, err := NewWorker(db, office, Config{Batch: 1, Chunk: 1, Progress: true, OnEvent: progressed(func(queue.Job) {
			if !once {
				once = true
				dbtest.Exec(t, db, "ALTER TABLE staff DROP FOREIGN KEY staff_boss")
				w.graphCache.read = time.Time{}
			}
		})})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, w)
		got := get(t, db, job.ID)
		if got.State != queue.Dead || got.Failures != 1 || !strings.Contains(got.LastError, fault.ErrDrift.Error()) || !strings.Contains(got.LastError, "verify") ||
			!strings.Contains(got.LastError, "the foreign key .staff") || !strings.Contains(got.LastError, "is gone. Run") {
			t.Fatalf("%+v", got)
		}
		if _, err := queue.Retry(t.Context(), db, job.ID); err != nil {
			t.Fatal(err)
		}
		if got := finish(t, db, office, Config{}, job.ID); got.State != queue.Done || fmt.Sprint(got.Tables) != officeGone {
			t.Errorf("%+v", got)
		}
	})
	t.Run("before another worker", func(t *testing.T) {
		t.Parallel()
		db := dbtest.Open(t)
		plantOffice(t, db)
		job := begin(t, db, "firm", "'x,1")
		dbtest.Exec(t, db, "UPDATE onerow_job SET token = 1")
		dbtest.Exec(t, db, "INSERT INTO onerow_job_plan VALUES (?, 'another', UTC_TIMESTAMP(6))", job.ID)
		if got := finish(t, db, office, Config{}, job.ID); got.State != queue.Dead || !strings.Contains(got.LastError, fault.ErrDrift.Error()) {
			t.Errorf("%+v", got)
		}
	})
}

// TestDriftSaysWhat: the error names the table and the difference, also where another worker, with another
// plan, had begun the job; and only fingerprints where nobody knows any more.
func TestDriftSaysWhat(t *testing.T) {
	for _, c := range []struct{ name, stmt, want string }{
		{"a column", "ALTER TABLE box MODIFY room_id BIGINT NOT NULL, DROP FOREIGN KEY in_room", "table box: column room_id is now bigint"},
		{"a trigger", "CREATE TRIGGER watch BEFORE DELETE ON box FOR EACH ROW SET @x = 1", "table box: the trigger watch BEFORE DELETE is new"},
		{"forgotten", "CREATE TRIGGER watch BEFORE DELETE ON box FOR EACH ROW SET @x = 1", "it was begun under the fingerprint "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t)
			fillArchive(t, db, []int{5})
			dbtest.Exec(t, db, "ALTER TABLE box ADD CONSTRAINT in_room FOREIGN KEY (room_id) REFERENCES room (id)")
			dbtest.Exec(t, db, "ALTER TABLE box DROP FOREIGN KEY box_ibfk_1")
			job := begin(t, db, "room", "1")
			w, err := NewWorker(db, archive, Config{Batch: 1, Target: -1, Progress: true, OnEvent: progressed(func(queue.Job) { onPause(t, db, job.ID) })})
			if err != nil {
				t.Fatal(err)
			}
			drain(t, w)
			if n := count(t, db, "SELECT COUNT(*) FROM onerow_plan"); n != 1 {
				t.Errorf("%d descriptions are kept", n)
			}
			dbtest.Exec(t, db, c.stmt)
			if c.name == "forgotten" {
				dbtest.Exec(t, db, "DELETE FROM onerow_plan")
			}
			if _, err := queue.ResumeJob(t.Context(), db, job.ID); err != nil {
				t.Fatal(err)
			}
			if got := finish(t, db, archive, Config{}, job.ID); got.State != queue.Dead || !strings.Contains(got.LastError, c.want) {
				t.Errorf("%+v, want %q", got, c.want)
			}
		})
	}
}

// TestCatalogCosts: reading the catalog may take long; it takes a hundredth of the time.
func TestCatalogCosts(t *testing.T) {
	w, job := pairWorker(t, Config{})
	drain(t, w)
	if got := get(t, w.db, job.ID); got.State != queue.Done || w.graphCache.took <= 0 || !w.graphCache.fresh() {
		t.Errorf("%s, %+v", w.graphCache.took, got)
	}
	for _, c := range []struct {
		took, ago time.Duration
		want      bool
	}{{time.Millisecond, 9 * time.Second, true}, {time.Millisecond, 11 * time.Second, false}, {time.Second, 90 * time.Second, true}, {time.Second, 101 * time.Second, false}} {
		w.graphCache.took, w.graphCache.read = c.took, time.Now().Add(-c.ago)
		if got := w.graphCache.fresh(); got != c.want {
			t.Errorf("read in %s, %s ago: %t", c.took, c.ago, got)
		}
	}
}

// TestPlansKept: what a plan was is kept for 400 days, each under its own fingerprint.
func TestPlansKept(t *testing.T) {
	db := openForest(t)
	for fingerprint, days := range map[string]int{"old": 401, "young": 399} {
		var p plans
		p.remember(t.Context(), db, &graph.Graph{Fingerprint: fingerprint, Description: "of the " + fingerprint})
		dbtest.Exec(t, db, "UPDATE onerow_plan SET stored_at = UTC_TIMESTAMP(6) - INTERVAL ? DAY WHERE fingerprint = ?", days, fingerprint)
	}
	var p plans
	p.remember(t.Context(), db, &graph.Graph{Fingerprint: "now", Description: "of today"})
	for fingerprint, want := range map[string]string{"old": "", "young": "of the young", "now": "of today"} {
		if got := readPlan(t.Context(), db, fingerprint); got != want {
			t.Errorf("%s: %q, want %q", fingerprint, got, want)
		}
	}
}
