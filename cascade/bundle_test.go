package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// fewTrees has projects with little or nothing below them, and their jobs, whose ids are those of the
// projects: 1 is hidden and empty, 2 is gone and has two notes, 3 is hidden and has three.
func fewTrees(ctx context.Context, db *sql.DB) error {
	for _, row := range []struct {
		table  string
		values map[string]any
	}{
		{"project_archive", map[string]any{"id": 1, "user_id": 7, "deletion_id": 1, "deleted_from": "active"}},
		{"note", map[string]any{"id": 21, "project_id": 2}},
		{"note", map[string]any{"id": 22, "project_id": 2}},
		{"project_archive", map[string]any{"id": 3, "user_id": 7, "deletion_id": 3, "deleted_from": "active"}},
		{"note", map[string]any{"id": 31, "project_id": 3}},
		{"note", map[string]any{"id": 32, "project_id": 3}},
		{"note", map[string]any{"id": 33, "project_id": 3}},
		{"note", map[string]any{"id": 61, "project_id": 6}}, // of a project that nobody deletes
	} {
		if err := insertRow(ctx, db, row.table, row.values); err != nil {
			return err
		}
	}
	return execAll(ctx, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at)
SELECT i, 'project', i, i, 'ready', UTC_TIMESTAMP(6) - INTERVAL i SECOND, UTC_TIMESTAMP(6) FROM (SELECT 1 AS i UNION SELECT 2 UNION SELECT 3) AS n`)
}

// whatIsSaid is what the books say of all jobs.
func whatIsSaid(t *testing.T, db *sql.DB) string {
	t.Helper()
	var b strings.Builder
	for _, query := range []string{
		"SELECT CONCAT_WS(' ', id, resource, resource_id, deletion_id, state, token, failures, COALESCE(last_error, '')) FROM onerow_job_archive ORDER BY id",
		"SELECT CONCAT_WS(' ', 'open', id, state, token, failures, COALESCE(last_error, '')) FROM onerow_job ORDER BY id",
		"SELECT CONCAT_WS(' ', job_id, table_name, deleted_rows) FROM onerow_job_count ORDER BY job_id, table_name",
		"SELECT CONCAT_WS(' ', job_id, fingerprint) FROM onerow_job_plan ORDER BY job_id",
		"SELECT DISTINCT CONCAT_WS(' ', resource, owner) AS mark FROM onerow_quota_mark ORDER BY mark",
		"SELECT CONCAT('project ', id) FROM project UNION SELECT CONCAT('archived ', id) FROM project_archive UNION SELECT CONCAT('note ', id) FROM note UNION SELECT CONCAT('screen ', id) FROM screen ORDER BY 1",
	} {
		err := onerow.Query(t.Context(), db, query, nil, func(rows *sql.Rows) error {
			var line string
			err := rows.Scan(&line)
			fmt.Fprintln(&b, line)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestTogether: jobs that are claimed together leave what they leave one by one, in fewer statements: those
// with little below them, of which one is another deletion's, one is there although it is to be deleted,
// one is of an id that is none, and one is taken away by an operator.
func TestTogether(t *testing.T) {
	each(t, func(t *testing.T, one *sql.DB) {
		all := openForest(t)
		var said [2]string
		for i, db := range []*sql.DB{one, all} {
			if err := fewTrees(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			insert(t, db, "project_archive", map[string]any{"id": 4, "user_id": 8, "deletion_id": 4, "deleted_from": "active"})
			insert(t, db, "screen", map[string]any{"id": 41, "project_id": 4, "blob_key": "a"})
			insert(t, db, "project_archive", map[string]any{"id": 5, "user_id": 8, "deletion_id": 5, "deleted_from": "active"})
			insert(t, db, "widget", map[string]any{"id": 51, "project_id": 5, "user_id": 70}) // its owner stays
			insert(t, db, "project_archive", map[string]any{"id": 7, "user_id": 7, "deletion_id": 77, "deleted_from": "active"})
			insert(t, db, "project", map[string]any{"id": 8, "user_id": 7})
			dbtest.Exec(t, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at) VALUES
(4, 'project', '4', 4, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (5, 'project', '5', 5, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (7, 'project', '7', 7, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (8, 'project', '8', 8, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)),
(9, 'project', 'none', 9, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (10, 'note', '61', 10, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)),
(11, 'note', '62', 11, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
			drain(t, worker(t, db, Config{ClaimJobs: []int{1, 50}[i], MaxFailures: 1, Lease: time.Hour}))
			said[i] = whatIsSaid(t, db)
		}
		if said[0] != said[1] {
			t.Errorf("one by one:\n%s\ntogether:\n%s", said[0], said[1])
		}
		if !strings.Contains(said[1], "3 note 3") || !strings.Contains(said[1], "2 note 2") || !strings.Contains(said[1], "note 61") == strings.Contains(said[1], "10 note") {
			t.Error(said[1])
		}
	})
}

// TestTogetherDue: nor do jobs of the plan's retention, some of whose rows were found and are not due any
// more, have moved, were deleted by somebody, or came back.
func TestTogetherDue(t *testing.T) {
	each(t, func(t *testing.T, one *sql.DB) {
		all := openForest(t)
		plan := withRetention("created_at")
		var said [2]string
		for i, db := range []*sql.DB{one, all} {
			for _, table := range []string{"project", "project_archive"} {
				dbtest.Exec(t, db, "ALTER TABLE "+table+" ADD KEY (created_at)")
			}
			for id := range int64(9) {
				insert(t, db, []string{"project", "project_archive"}[id/7], map[string]any{"id": id + 1, "user_id": 7})
				insert(t, db, "note", map[string]any{"id": id + 1, "project_id": id + 1})
			}
			for _, table := range []string{"project", "project_archive"} {
				dbtest.Exec(t, db, "UPDATE "+table+" SET created_at = UTC_TIMESTAMP(6) - INTERVAL 91 DAY")
			}
			r := retainer(db, plan)
			for end := false; !end; {
				end = stepOf(t, db, r, "project").End
			}
			for _, stmt := range []string{
				"UPDATE project SET created_at = UTC_TIMESTAMP(6) - INTERVAL 9 DAY WHERE id = 2",
				"INSERT INTO onerow_deletion (resource, resource_id, owner, deleted_from, requested_at, grace_us) VALUES ('project', '3', '7', 'active', UTC_TIMESTAMP(6), 0)",
				`INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
VALUES (1000, 'project', '4', 1000, 'cancelled', UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`,
				"DELETE FROM project WHERE id = 5",
				"UPDATE onerow_deletion SET requested_at = requested_at - INTERVAL 92 DAY WHERE resource_id = '6'", // so it is another row
				"UPDATE project_archive SET deletion_id = 999, deleted_from = 'active' WHERE id = 8",
			} {
				dbtest.Exec(t, db, stmt)
			}
			w, err := NewWorker(db, plan, Config{ClaimJobs: []int{1, 50}[i], MaxFailures: 1, Lease: time.Hour, Assets: &shelf{}})
			if err != nil {
				t.Fatal(err)
			}
			drain(t, w)
			said[i] = whatIsSaid(t, db)
		}
		if said[0] != said[1] {
			t.Errorf("one by one:\n%s\ntogether:\n%s", said[0], said[1])
		}
		if got := left(t, all, "project") + " " + left(t, all, "project_archive"); got != "2,4,6 8" {
			t.Errorf("left are %s:\n%s", got, said[1])
		}
	})
}

// TestTogetherTaken: an operator pauses one of the jobs after they were claimed. The others end; that one has
// lost nothing.
func TestTogetherTaken(t *testing.T) {
	db := openForest(t)
	if err := fewTrees(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	w := quiet(t, worker(t, db, Config{}))
	c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
	if err != nil || len(c.Jobs) != 3 {
		t.Fatalf("%d, %v", len(c.Jobs), err)
	}
	if _, err := queue.PauseJob(t.Context(), db, 3, ""); err != nil {
		t.Fatal(err)
	}
	if n := w.endSmallJobs(t.Context(), &c); n != 0 || len(c.Jobs) != 3 {
		t.Errorf("%d ended, of a claim that is not whole", n)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM note WHERE project_id = 3"); n != 3 {
		t.Errorf("%d notes", n)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM onerow_job_archive"); n != 0 {
		t.Errorf("%d jobs have ended", n)
	}
}

// TestTogetherMoved: of two jobs one finds its project back, whose deletion was undone, and one finds
// something below that it has to walk: neither ends, what they have deleted is counted.
func TestTogetherMoved(t *testing.T) {
	db := openForest(t)
	if err := fewTrees(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	w := quiet(t, worker(t, db, Config{}))
	dbtest.Exec(t, db, "DELETE FROM onerow_job WHERE id NOT IN (1, 3)")
	c, err := w.claim(t.Context(), w.cfg.ClaimJobs)
	if err != nil || len(c.Jobs) != 2 {
		t.Fatalf("%d, %v", len(c.Jobs), err)
	}
	dbtest.Exec(t, db, "UPDATE project_archive SET deletion_id = NULL, deleted_from = NULL WHERE id = 1") // as undo does
	insert(t, db, "screen", map[string]any{"id": 99, "project_id": 3})
	if n := w.endSmallJobs(t.Context(), &c); n != 0 || len(c.Jobs) != 2 {
		t.Errorf("%d ended", n)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM project_archive WHERE id IN (1, 3)"); n != 2 {
		t.Errorf("%d projects", n)
	}
	if n := count(t, db, "SELECT COALESCE(SUM(deleted_rows), 0) FROM onerow_job_count WHERE job_id = 3"); n != 3-count(t, db, "SELECT COUNT(*) FROM note WHERE project_id = 3") {
		t.Errorf("%d rows are counted", n)
	}
}

// TestCrashTogether: the batch of many jobs, and what is left of it, at every fault point.
func TestCrashTogether(t *testing.T) {
	crashMapped(t, 200, func(_ string, store *shelf, ready func(*Worker)) crashtest.Workflow {
		return crashtest.Workflow{
			Setup: fewTrees,
			Call: func(ctx context.Context, db *sql.DB) error {
				w, err := NewWorker(db, forest, Config{Lease: time.Millisecond, Name: "w", Assets: store})
				if err != nil {
					return err
				}
				ready(w)
				for left := 1; left > 0; {
					worked, err := w.RunOnce(ctx)
					if err == nil && worked == 0 {
						err = execAll(ctx, db, "SELECT id FROM onerow_job FOR UPDATE")
					}
					if err == nil {
						err = onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM onerow_job", nil, &left)
					}
					if err != nil {
						return err
					}
				}
				return nil
			},
			Check: func(ctx context.Context, db *sql.DB) error {
				for id, want := range []string{"map[]", "map[note:2]", "map[note:3]"} {
					if job, err := queue.Get(ctx, db, int64(id)+1); err != nil || fmt.Sprint(job.Tables) != want || job.State != queue.Done || job.Failures != 0 {
						return fmt.Errorf("%+v, want %s, %w", job, want, err)
					}
				}
				return nil
			},
		}
	})
}

// TestTogetherFits: where the rows below all roots are more than a batch takes, as many roots go as fit,
// batch after batch; one that has more alone loses a batch of rows, and goes its own way.
func TestTogetherFits(t *testing.T) {
	db := openForest(t)
	notes := map[int64]int64{}
	for id := range int64(20) {
		insert(t, db, "project_archive", map[string]any{"id": id + 1, "user_id": 7, "deletion_id": id + 1, "deleted_from": "active"})
		if notes[id+1] = id % 4; id == 9 {
			notes[id+1] = 30
		}
		for range notes[id+1] {
			insert(t, db, "note", map[string]any{"project_id": id + 1})
		}
		dbtest.Exec(t, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at)
VALUES (?, 'project', ?, ?, 'ready', UTC_TIMESTAMP(6) - INTERVAL ? SECOND, UTC_TIMESTAMP(6))`, id+1, key(id+1), id+1, 100-id)
	}
	w := quiet(t, worker(t, db, Config{ClaimJobs: 50, Batch: 10, Target: -1}))
	c, err := w.claim(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	if n := w.endSmallJobs(t.Context(), &c); n != 19 || len(c.Jobs) != 1 || c.Jobs[0].ID != 10 {
		t.Errorf("%d have ended together, %d are left: %+v", n, len(c.Jobs), c.Jobs)
	}
	if n := count(t, db, "SELECT COUNT(*) FROM note WHERE project_id = 10"); n != 20 {
		t.Errorf("%d notes are left of the large one", n)
	}
	dbtest.Exec(t, db, "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)")
	drain(t, w)
	for id, want := range notes {
		if job := get(t, db, id); job.DeletedRows != want || job.State != queue.Done {
			t.Errorf("%+v, want %d rows", job, want)
		}
	}
	if n := count(t, db, "SELECT COUNT(*) FROM note") + count(t, db, "SELECT COUNT(*) FROM project_archive"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestTogetherDrift: between two batches a table is made whose rows would go with a note's. What has no batch
// yet is not deleted by what was known before.
func TestTogetherDrift(t *testing.T) {
	db := openForest(t)
	for id := range int64(9) {
		insert(t, db, "project_archive", map[string]any{"id": id + 1, "user_id": 7, "deletion_id": id + 1, "deleted_from": "active"})
		for n := range int64(3) {
			insert(t, db, "note", map[string]any{"id": 10*(id+1) + n, "project_id": id + 1})
		}
		dbtest.Exec(t, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at)
VALUES (?, 'project', ?, ?, 'ready', UTC_TIMESTAMP(6) - INTERVAL ? SECOND, UTC_TIMESTAMP(6))`, id+1, key(id+1), id+1, 100-id)
	}
	var w *Worker
	once := false
	w = quiet(t, worker(t, db, Config{ClaimJobs: 50, Batch: 10, Target: -1, OnEvent: func(e Event) {
		if e.Ended == "" || once {
			return
		}
		once = true
		dbtest.Exec(t, db, "CREATE TABLE stranger (note_id BIGINT PRIMARY KEY, FOREIGN KEY (note_id) REFERENCES note (id) ON DELETE CASCADE) ENGINE=InnoDB")
		dbtest.Exec(t, db, "INSERT INTO stranger SELECT id FROM note")
		w.graphCache.read = time.Time{}
	}}))
	c, err := w.claim(t.Context(), 50)
	if err != nil {
		t.Fatal(err)
	}
	n := w.endSmallJobs(t.Context(), &c)
	left := count(t, db, "SELECT COUNT(*) FROM note")
	if n == 0 || n == 9 || left == 0 || count(t, db, "SELECT COUNT(*) FROM stranger") != left {
		t.Errorf("%d have ended together, %d notes are left, %d strangers", n, left, count(t, db, "SELECT COUNT(*) FROM stranger"))
	}
}

// TestTogetherStatements: a hundred empty jobs take as many statements as two.
func TestTogetherStatements(t *testing.T) {
	var takes []int
	for _, n := range []int{2, 100} {
		db, connector := counting(t)
		dbtest.Exec(t, db, "INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) "+cost.Numbers(1000)+
			"SELECT 'note', i, 1, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers WHERE i <= ?", n)
		w := quiet(t, worker(t, db, Config{ClaimJobs: 100}))
		log, err := crashtest.Count(connector, func() error {
			worked, err := w.RunOnce(t.Context())
			if worked != n {
				t.Errorf("%d worked of %d", worked, n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if left := count(t, db, "SELECT COUNT(*) FROM onerow_job"); left != 0 {
			t.Errorf("%d are left", left)
		}
		if takes = append(takes, len(log)); n == 2 {
			t.Log(log)
		}
	}
	// The claim; where the roots are; BEGIN, the fence, the plans, copy the jobs, delete them, COMMIT.
	if want := 6 + 1 + 6; !slices.Equal(takes, []int{want, want}) {
		t.Errorf("it takes %v statements, want %d", takes, want)
	}
}
