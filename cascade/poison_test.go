package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// TestPoison: rows that cannot go are found one by one and parked; everything else goes, but
// what is above them.
func TestPoison(t *testing.T) {
	eachOffice(t, func(t *testing.T, db *sql.DB) {
		for _, stmt := range officeRows {
			dbtest.Exec(t, db, stmt)
		}
		dbtest.Exec(t, db, "INSERT INTO staff (region, firm_no, id) WITH RECURSIVE s (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM s WHERE i < 400) SELECT 'Nord', 1, i FROM s")
		dbtest.Exec(t, db, "CREATE TABLE hold_staff (region VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, firm_no INT, id SMALLINT UNSIGNED, FOREIGN KEY (region, firm_no, id) REFERENCES staff (region, firm_no, id)) ENGINE=InnoDB")
		dbtest.Exec(t, db, "CREATE TABLE hold_remark (id BIGINT UNSIGNED, FOREIGN KEY (id) REFERENCES remark (id)) ENGINE=InnoDB")
		dbtest.Exec(t, db, "INSERT INTO hold_staff VALUES ('nord', 1, 117), ('nord', 1, 333), ('nord', 1, 4)")
		dbtest.Exec(t, db, "INSERT INTO hold_remark VALUES (4)")
		job := begin(t, db, "firm", firmOfNord)
		got := finish(t, db, office, Config{}, job.ID)
		// Left: staff 117, 333, 4 and 2 above the last, which was taken off 1; remark 4 and 3, 2
		// and 1 above it, and papers 2 and 1 above those.
		if got.State != queue.Leftovers || got.Parked != 4 || got.Failures != 0 || got.Tables["staff"] != 301+6-4 {
			t.Errorf("%+v", got)
		}
		list, err := queue.ListParked(t.Context(), db, queue.ParkedOptions{JobID: &job.ID})
		if err != nil || len(list) != 4 {
			t.Fatal(list, err)
		}
		for _, p := range list {
			if !strings.Contains(p.Error, "1451") {
				t.Errorf("%+v", p)
			}
		}
		if n := count(t, db, "SELECT COUNT(*) FROM staff WHERE region = 'nord' AND firm_no = 1"); n != 4 {
			t.Errorf("%d staff are left", n)
		}
		dbtest.Exec(t, db, "DELETE FROM hold_staff WHERE id = 117")
		if _, err := queue.Retry(t.Context(), db, job.ID); err != nil {
			t.Fatal(err)
		}
		got = finish(t, db, office, Config{}, job.ID)
		if got.State != queue.Leftovers || got.Parked != 3 || got.Tables["staff"] != 301+6-3 {
			t.Errorf("%+v", got)
		}
		dbtest.Exec(t, db, "DELETE FROM hold_staff")
		dbtest.Exec(t, db, "DELETE FROM hold_remark")
		if _, err := queue.Retry(t.Context(), db, job.ID); err != nil {
			t.Fatal(err)
		}
		got = finish(t, db, office, Config{}, job.ID)
		if got.State != queue.Done || got.Parked != 0 || got.Tables["staff"] != 301+6 || got.Tables["remark"] != 5 {
			t.Errorf("%+v", got)
		}
	})
}

// TestPoisonousLeaves: rows that are deleted unread, or detached, are read once one of them
// refuses. Too many of them end the job; an error that is not about rows parks none.
func TestPoisonousLeaves(t *testing.T) {
	plan := schema.Plan{Tables: []schema.Table{
		{Name: "top", Key: []string{"id"}},
		{Name: "leaf", Key: []string{"id"}, Parents: []schema.Edge{{Table: "top", Columns: []string{"top_id"}}}},
		{Name: "loose", Key: []string{"id"}, Parents: []schema.Edge{{Table: "top", Columns: []string{"top_id"}, OnDelete: schema.OnDeleteDetach}}},
	}}
	plantTop := func(t *testing.T) *sql.DB {
		t.Helper()
		db := dbtest.Open(t)
		if err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		dbtest.Exec(t, db, "CREATE TABLE top (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB")
		dbtest.Exec(t, db, "CREATE TABLE leaf (id INT NOT NULL PRIMARY KEY, top_id INT NULL, KEY (top_id)) ENGINE=InnoDB")
		dbtest.Exec(t, db, "CREATE TABLE loose (id INT NOT NULL PRIMARY KEY, top_id INT NULL, KEY (top_id), CHECK (id <> 77 OR top_id IS NOT NULL)) ENGINE=InnoDB")
		dbtest.Exec(t, db, "CREATE TABLE hold (id INT, FOREIGN KEY (id) REFERENCES leaf (id)) ENGINE=InnoDB")
		dbtest.Exec(t, db, "INSERT INTO top VALUES (1)")
		for _, table := range []string{"leaf", "loose"} {
			dbtest.Exec(t, db, "INSERT INTO "+table+" WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 300) SELECT i, 1 FROM s")
		}
		dbtest.Exec(t, db, "INSERT INTO hold VALUES (10), (200), (300)")
		return db
	}
	t.Run("parked", func(t *testing.T) {
		t.Parallel()
		db := plantTop(t)
		job := begin(t, db, "top", "1")
		got := finish(t, db, plan, Config{}, job.ID)
		if got.State != queue.Leftovers || got.Parked != 4 || got.Tables["leaf"] != 297 || got.Detached["loose"] != 299 {
			t.Errorf("%+v", got)
		}
		list, err := queue.ListParked(t.Context(), db, queue.ParkedOptions{JobID: &job.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if _, err := queue.SkipParked(t.Context(), db, p.ID); err != nil {
				t.Error(err)
			}
		}
		if got := get(t, db, job.ID); got.State != queue.Done || got.Skipped != 4 || count(t, db, "SELECT COUNT(*) FROM top") != 1 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("too many", func(t *testing.T) {
		t.Parallel()
		db := plantTop(t)
		job := begin(t, db, "top", "1")
		got := finish(t, db, plan, Config{MaxParked: 2}, job.ID)
		if got.State != queue.Dead || got.Parked != 2 || got.Failures != 1 || !strings.Contains(got.LastError, fault.ErrParked.Error()) || !strings.Contains(got.LastError, "MaxParked") || !strings.Contains(got.LastError, "the next would be") {
			t.Errorf("%+v", got)
		}
		list, err := queue.ListParked(t.Context(), db, queue.ParkedOptions{JobID: &job.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if _, err := queue.SkipParked(t.Context(), db, p.ID); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := queue.Retry(t.Context(), db, job.ID); err != nil {
			t.Fatal(err)
		}
		if got := finish(t, db, plan, Config{MaxParked: 2}, job.ID); got.State != queue.Leftovers || got.Parked != 2 || got.Skipped != 2 {
			t.Errorf("with two skipped: %+v", got)
		}
	})
	t.Run("root", func(t *testing.T) {
		t.Parallel()
		db := plantTop(t)
		dbtest.Exec(t, db, "DELETE FROM hold")
		dbtest.Exec(t, db, "DELETE FROM loose WHERE id = 77")
		dbtest.Exec(t, db, "CREATE TABLE hold_top (id INT, FOREIGN KEY (id) REFERENCES top (id)) ENGINE=InnoDB")
		dbtest.Exec(t, db, "INSERT INTO hold_top VALUES (1)")
		if got := finish(t, db, plan, Config{}, begin(t, db, "top", "1").ID); got.State != queue.Leftovers || got.Parked != 1 || got.Tables["leaf"] != 300 || got.Detached["loose"] != 299 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("not of rows", func(t *testing.T) {
		t.Parallel()
		for number, want := range map[uint16]bool{1146: false, 1142: false, 1290: false, 1205: false, 1213: false, 1451: true, 1644: true, 3819: true} {
			if got := fault.OfRow(fmt.Errorf("x: %w", &mysql.MySQLError{Number: number})); got != want {
				t.Errorf("%d: %v", number, got)
			}
		}
		if fault.OfRow(context.Canceled) || fault.OfRow(&fault.Assets{Err: &mysql.MySQLError{Number: 1451}}) {
			t.Error("of another world")
		}
	})
}
