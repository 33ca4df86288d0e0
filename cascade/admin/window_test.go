package admin

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
)

// numbers has those from 1 in i.
var numbers = cost.Numbers(searchWindow + 1000)

// archived is an ended job of a row.
func archived(t *testing.T, db *sql.DB, id int64, resource, key string, deletion int64) {
	t.Helper()
	dbtest.Exec(t, db, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
VALUES (?, ?, ?, ?, 'done', UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, id, resource, key, deletion)
}

// TestReportedJob: of a row that was deleted often the deletion's own job is reported, however old, and the
// newest job where it has none.
func TestReportedJob(t *testing.T) {
	db := dbtest.OpenDSN(t, dbtest.DSN(t))
	foresttest.Plant(t, db)
	const often = 130
	dbtest.Exec(t, db, `INSERT INTO onerow_deletion (id, resource, resource_id, owner, deleted_from, grace_us, requested_at)
`+numbers+`SELECT i, 'project', '5', '7', 'active', 0, UTC_TIMESTAMP(6) FROM numbers WHERE i <= ?`, often)
	dbtest.Exec(t, db, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
`+numbers+`SELECT 1000 + i, 'project', '5', i, 'done', UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers WHERE i <= ?`, often-1)
	for deletion, job := range map[int64]int64{often - 1: 1000 + often - 1, often - 40: 1000 + often - 40, often: 1000 + often - 1} {
		r, err := ReadReport(t.Context(), db, deletion, 0)
		if err != nil || r.Job == nil || r.Job.ID != job {
			t.Errorf("of deletion %d job %+v, want %d, %v", deletion, r.Job, job, err)
		}
	}
}

// TestReportedRows: what a report calls restored is neither what the trash has nor the note that a job keeps
// no trash.
func TestReportedRows(t *testing.T) {
	db := dbtest.OpenDSN(t, dbtest.DSN(t))
	foresttest.Plant(t, db)
	archived(t, db, 3, "project", "5", 0)
	dbtest.Exec(t, db, `INSERT INTO onerow_trash (job_id, step, table_name, cut, kept_rows, kept_at, expires_at) VALUES
(3, 0, '', '', 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (3, 4, 'note', '', 3, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (3, -2, 'note', '', 2, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
	r, err := ReadReport(t.Context(), db, 0, 3)
	if err != nil || len(r.Restored) != 1 || r.Restored[0].Table != "note" || r.Restored[0].Rows != 2 {
		t.Errorf("%+v, %v", r.Restored, err)
	}
}

// TestSearchOfOwners: of a row that two owners have deleted, one after the other, each finds his own job.
func TestSearchOfOwners(t *testing.T) {
	db := dbtest.OpenDSN(t, dbtest.DSN(t))
	foresttest.Plant(t, db)
	dbtest.Exec(t, db, `INSERT INTO onerow_deletion (id, resource, resource_id, owner, deleted_from, grace_us, requested_at) VALUES
(801, 'project', '5', '71', 'active', 0, UTC_TIMESTAMP(6)), (802, 'project', '5', '72', 'active', 0, UTC_TIMESTAMP(6)), (803, 'project', '6', '73', 'active', 0, UTC_TIMESTAMP(6))`)
	dbtest.Exec(t, db, `INSERT INTO onerow_action (action, resource, resource_id, deletion_id, actor, reason, acted_at) VALUES
('delete', 'project', '5', 801, 'zoe', '', UTC_TIMESTAMP(6)), ('delete', 'project', '5', 802, 'yan', '', UTC_TIMESTAMP(6))`)
	archived(t, db, 41, "project", "5", 801)
	dbtest.Exec(t, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at) VALUES
(42, 'project', '5', 802, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)), (43, 'project', '6', 803, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`)
	for typed, want := range map[string]int64{"71": 41, "zoe": 41, "72": 42, "yan": 42, "73": 43} {
		found, err := Search(t.Context(), db, typed, 10)
		if err != nil || len(found) != 1 || found[0].ID != want {
			t.Errorf("%q: found %v, want %d, %v", typed, ids(found), want, err)
		}
	}
}

// TestSearchWindow: what no index leads to is searched among the newest entries of each table, and not among
// the oldest.
func TestSearchWindow(t *testing.T) {
	db := dbtest.OpenDSN(t, dbtest.DSN(t))
	foresttest.Plant(t, db)
	dbtest.Exec(t, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at)
`+numbers+`SELECT 50000 + i, ELT(1 + (i = 1) + 2 * (i = ?), 'filler', 'first', 'last'), i, 0, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers WHERE i <= ?`, searchWindow+1, searchWindow+1)
	dbtest.Exec(t, db, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
`+numbers+`SELECT i, ELT(1 + (i = 1) + 2 * (i = ?), 'filler', 'early', 'late'), i, 0, 'done', UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers WHERE i <= ?`, searchWindow+1, searchWindow+1)
	for typed, want := range map[string]int{"first": 0, "last": 1, "early": 0, "late": 1} {
		if found, err := Search(t.Context(), db, typed, 10); err != nil || len(found) != want {
			t.Errorf("%q: found %v, want %d, %v", typed, ids(found), want, err)
		}
	}

	// Before as many others, and after them, deletions of a row whose job is open and of one whose job has ended.
	logged := func(from, n int, owner, actor string) {
		dbtest.Exec(t, db, `INSERT INTO onerow_deletion (id, resource, resource_id, owner, deleted_from, grace_us, requested_at)
`+numbers+`SELECT ? + i, 'project', ? + i, ?, 'active', 0, UTC_TIMESTAMP(6) FROM numbers WHERE i <= ?`, from, from, owner, n)
		dbtest.Exec(t, db, `INSERT INTO onerow_action (action, resource, resource_id, deletion_id, actor, reason, acted_at)
SELECT 'delete', 'project', id, id, ?, '', UTC_TIMESTAMP(6) FROM onerow_deletion WHERE owner = ? ORDER BY id`, actor, owner)
	}
	paused := func(actor string) {
		dbtest.Exec(t, db, `INSERT INTO onerow_action (action, job_id, actor, reason, acted_at) VALUES ('pause job', 50007, ?, '', UTC_TIMESTAMP(6))`, actor)
	}
	paused("wil")
	logged(0, 2, "'ada", "zoe")
	logged(2, searchWindow, "9", "yan")
	logged(2+searchWindow, 2, "'bob", "xi")
	paused("vic")
	for id, d := range []int64{1, searchWindow + 3} {
		dbtest.Exec(t, db, `INSERT INTO onerow_job (id, resource, resource_id, deletion_id, state, due_at, created_at)
VALUES (?, 'project', ?, ?, 'ready', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))`, 90000+id, d, d)
		archived(t, db, int64(95000+id), "project", fmt.Sprint(d+1), d+1)
	}
	for typed, want := range map[string]string{"ada": "[]", "zoe": "[]", "bob": "[95001 90001]", "xi": "[95001 90001]", "wil": "[]", "vic": "[50007]"} {
		if found, err := Search(t.Context(), db, typed, 10); err != nil || fmt.Sprint(ids(found)) != want {
			t.Errorf("%q: found %v, want %s, %v", typed, ids(found), want, err)
		}
	}

	// A row's own jobs are found whatever their age, the newest first.
	dbtest.Exec(t, db, `INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at)
`+numbers+`SELECT -10 - i, 'project', '5', 0, 'done', UTC_TIMESTAMP(6), 1, 1, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM numbers WHERE i <= ?`, maxFound+1)
	if found, err := Search(t.Context(), db, "project 5", 1); err != nil || fmt.Sprint(ids(found)) != "[-11]" {
		t.Errorf("of a row's old jobs: %v, %v", ids(found), err)
	}
}
