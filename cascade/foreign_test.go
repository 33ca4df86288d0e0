package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/schema"
)

// office is a schema that somebody else designed: composite keys of text and numbers,
// foreign keys everywhere, staff that are below staff, papers below a firm's code, with an
// author who may go, remarks below papers by a polymorphic column of text, and below
// remarks.
var office = schema.Plan{Tables: []schema.Table{
	{Name: "firm", Key: []string{"region", "no"}},
	{Name: "staff", Key: []string{"region", "firm_no", "id"}, Parents: []schema.Edge{
		{Table: "firm", Columns: []string{"region", "firm_no"}},
		{Table: "staff", Columns: []string{"region", "firm_no", "boss"}}}},
	{Name: "paper", Key: []string{"id"}, Parents: []schema.Edge{
		{Table: "firm", Columns: []string{"firm_code"}, References: []string{"code"}},
		{Table: "staff", Columns: []string{"author_region", "author_firm", "author"}, OnDelete: schema.OnDeleteDetach}}},
	{Name: "remark", Key: []string{"id"}, Parents: []schema.Edge{
		{Table: "paper", Columns: []string{"owner_id"}, References: []string{"num"}, When: map[string]string{"owner_type": "paper"}},
		{Table: "remark", Columns: []string{"reply_to"}}}},
}}

var officeDDL = []string{
	`CREATE TABLE firm (region VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, no INT NOT NULL, code VARCHAR(20) CHARACTER SET latin1 NULL,
PRIMARY KEY (region, no), UNIQUE KEY code (code)) ENGINE=InnoDB`,
	`CREATE TABLE staff (region VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL, firm_no INT NOT NULL, id SMALLINT UNSIGNED NOT NULL, boss SMALLINT UNSIGNED NULL,
PRIMARY KEY (region, firm_no, id), KEY boss (boss, firm_no, region), CONSTRAINT staff_firm FOREIGN KEY (region, firm_no) REFERENCES firm (region, no),
CONSTRAINT staff_boss FOREIGN KEY (region, firm_no, boss) REFERENCES staff (region, firm_no, id)) ENGINE=InnoDB`,
	`CREATE TABLE paper (id BINARY(4) NOT NULL, num INT UNSIGNED NOT NULL, firm_code VARCHAR(20) CHARACTER SET latin1 NULL, written DATE NULL,
author_region VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NULL, author_firm INT NULL, author SMALLINT UNSIGNED NULL,
PRIMARY KEY (id), UNIQUE KEY num (num), KEY firm_code (firm_code, written), CONSTRAINT paper_firm FOREIGN KEY (firm_code) REFERENCES firm (code),
CONSTRAINT paper_author FOREIGN KEY (author_region, author_firm, author) REFERENCES staff (region, firm_no, id)) ENGINE=InnoDB`,
	`CREATE TABLE remark (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, owner_type ENUM('firm','paper') NULL, owner_id VARCHAR(40) CHARACTER SET utf8mb4 NULL, reply_to BIGINT UNSIGNED NULL,
PRIMARY KEY (id), KEY owner (owner_type, owner_id), KEY reply_to (reply_to), CONSTRAINT remark_reply FOREIGN KEY (reply_to) REFERENCES remark (id)) ENGINE=InnoDB`,
}

// The office: two firms, the second of which writes in another case what it refers to; the
// first has a boss of herself, two who are each other's, and remarks in a loop.
var officeRows = []string{
	"INSERT INTO firm VALUES ('Nord', 1, 'n''1\\\\é'), ('nord', 2, 'n2'), ('Süd', 1, NULL)",
	"INSERT INTO staff VALUES ('NORD', 1, 1, 1), ('nord', 1, 2, 1), ('Nord', 1, 3, NULL), ('Nord', 1, 4, 2), ('nord', 2, 1, NULL), ('nord', 2, 2, 1)",
	"INSERT INTO staff VALUES ('Nord', 1, 7, NULL), ('Nord', 1, 8, 7)", "UPDATE staff SET boss = 8 WHERE id = 7",
	`INSERT INTO paper VALUES (x'00000001', 1, 'N''1\\É', '2001-01-01', 'nord', 1, 2), (x'00000002', 2, 'n''1\\é', NULL, 'nord', 2, 1), (x'00000003', 3, 'n2', NULL, 'NORD', 1, 4),
(x'27000000', 4, NULL, NULL, 'Nord', 1, 4), (x'00000005', 5, NULL, NULL, 'nord', 2, 2)`,
	"INSERT INTO remark VALUES (1, 'paper', '1', NULL), (2, NULL, NULL, 1), (3, NULL, NULL, 2), (4, 'paper', '2', 3), (5, 'firm', '1', NULL), (6, 'paper', '3', NULL), (7, 'paper', '4', 6), (8, 'paper', '1', 8)",
	"UPDATE remark SET reply_to = 3 WHERE id = 1",
}

const (
	firmOfNord  = "'Nord,1"
	officeGone  = "map[paper:2 remark:5 staff:6]"
	officeLoose = "map[paper:2]" // papers 1, 3 and 4 lose their author; the first is deleted later, and counts as that
)

func plantOffice(t testing.TB, db *sql.DB) {
	t.Helper()
	dbtest.Toolkit(t, db, dbtest.OfQueue()...)
	for _, stmt := range officeDDL {
		dbtest.Exec(t, db, stmt)
	}
}

// eachOffice runs a test on an office under each of the sessions.
func eachOffice(t *testing.T, test func(t *testing.T, db *sql.DB)) {
	for name, opts := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t, opts...)
			plantOffice(t, db)
			test(t, db)
		})
	}
}

// begin queues the cascade of a row.
func begin(t testing.TB, db *sql.DB, resource, id string) queue.Job {
	t.Helper()
	job, err := queue.Enqueue(t.Context(), db, queue.Deletion{Resource: resource, ResourceID: id})
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// finish drains until the job has ended.
func finish(t testing.TB, db *sql.DB, plan schema.Plan, c Config, id int64) queue.Job {
	t.Helper()
	w, err := NewWorker(db, plan, c)
	if err != nil {
		t.Fatal(err)
	}
	drain(t, w)
	return get(t, db, id)
}

// TestForeignSchema: what the foreign keys and the plan reach is gone or detached, the rest
// is as it was.
func TestForeignSchema(t *testing.T) {
	for _, c := range []Config{{}, {Batch: 1, Chunk: 1}, {Batch: 3, Chunk: 2}} {
		t.Run(fmt.Sprint(c.Batch), func(t *testing.T) {
			eachOffice(t, func(t *testing.T, db *sql.DB) {
				for _, stmt := range officeRows {
					dbtest.Exec(t, db, stmt)
				}
				got := finish(t, db, office, c, begin(t, db, "firm", firmOfNord).ID)
				if got.State != queue.Done || fmt.Sprint(got.Tables) != officeGone || fmt.Sprint(got.Detached) != officeLoose || got.Failures > 0 {
					t.Errorf("%+v", got)
				}
				for query, want := range map[string]int64{
					"SELECT COUNT(*) FROM firm":                    2,
					"SELECT COUNT(*) FROM staff WHERE firm_no = 2": 2,
					"SELECT COUNT(*) FROM staff":                   2,
					"SELECT COUNT(*) FROM paper":                   3,
					"SELECT COUNT(*) FROM paper WHERE author_region IS NULL AND author_firm IS NULL AND author IS NULL AND num IN (3, 4)": 2,
					"SELECT COUNT(*) FROM paper WHERE author = 2 AND num = 5":                                                             1,
					"SELECT COUNT(*) FROM paper WHERE firm_code = 'n2'":                                                                   1,
					"SELECT COUNT(*) FROM remark WHERE id IN (5, 6, 7)":                                                                   3,
					"SELECT COUNT(*) FROM remark":                                                                                         3,
				} {
					if n := count(t, db, query); n != want {
						t.Errorf("%s: %d, want %d", query, n, want)
					}
				}
			})
		})
	}
}

// TestCrashForeign: a job on the office survives a failure at every statement.
func TestCrashForeign(t *testing.T) {
	for name, opts := range sessions {
		if name == "read committed" {
			continue // TestCrashCascade has both; this one has a thousand fault points
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t, opts...)
			plantOffice(t, dbtest.OpenDSN(t, dsn))
			ready := mapped(t, dsn, office)
			w := complete(crashtest.Workflow{
				Without: []crashtest.Fault{crashtest.Abandoned}, // TestCrashCascade has it, with fewer statements
				Call: func(ctx context.Context, db *sql.DB) error {
					w, err := NewWorker(db, office, Config{Batch: 20, Chunk: 20, Target: -1, Lease: time.Millisecond, Name: "w"})
					if err != nil {
						return err
					}
					ready(w)
					return until(ctx, db, w, queue.Done)
				},
				Check: func(ctx context.Context, db *sql.DB) error {
					job, err := queue.Get(ctx, db, 1)
					if err == nil && (fmt.Sprint(job.Tables) != officeGone || fmt.Sprint(job.Detached) != officeLoose || job.State != queue.Done || job.Failures > 0) {
						err = fmt.Errorf("%+v", job)
					}
					return err
				},
			}, dsn)
			w.Empty = []string{"onerow_job", "onerow_job_archive", "onerow_job_count", "onerow_job_detached", "onerow_job_plan"}
			w.Setup = func(ctx context.Context, db *sql.DB) error {
				return execAll(ctx, db, slices.Concat([]string{"UPDATE remark SET reply_to = NULL", "DELETE FROM remark", "DELETE FROM paper",
					"UPDATE staff SET boss = NULL", "DELETE FROM staff", "DELETE FROM firm"}, officeRows,
					[]string{strings.Replace(putJob("firm", "ready", "0 SECOND"), "'1', 5", `'''Nord,1', 0`, 1)})...)
			}
			report := crashtest.Run(t, racetest.Share(w))
			if report.FaultPoints < racetest.Least(200) {
				t.Errorf("only %d fault points", report.FaultPoints)
			}
			t.Logf("%d fault points", report.FaultPoints)
		})
	}
}
