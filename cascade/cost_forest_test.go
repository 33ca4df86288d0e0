package cascade

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// orchard is what the forest has not: a key of two columns, columns that edges refer to besides it, and edges
// that detach, also what goes later.
var orchard = schema.Plan{Tables: []schema.Table{
	{Name: "tree", Key: []string{"row_no", "no"}},
	{Name: "branch", Key: []string{"id"}, Parents: []schema.Edge{{Table: "tree", Columns: []string{"tree"}, References: []string{"code"}}}},
	{Name: "bird", Key: []string{"id"}, Parents: []schema.Edge{{Table: "branch", Columns: []string{"branch"}, OnDelete: schema.OnDeleteDetach},
		{Table: "tree", Columns: []string{"tree"}, References: []string{"code"}}}},
	{Name: "leaf", Key: []string{"id"}, Parents: []schema.Edge{{Table: "branch", Columns: []string{"branch"}}}},
}}

// numbered is the first id of what a call makes; what lies beside it has smaller ones.
const numbered = 5_000_000

// crowded has as many rows of each kind beside those of the calls as rows says: jobs of another plan that are
// due, jobs of projects that are not, jobs that ended well and badly, parked rows, audits, and rows of each
// table below others.
func crowded(t *testing.T, rows int, level sql.IsolationLevel) string {
	t.Helper()
	dsn := dbtest.DSN(t, dbtest.Isolation(level))
	db := dbtest.OpenDSN(t, dsn)
	plant(t, db)
	const now, old, times = "UTC_TIMESTAMP(6)", "UTC_TIMESTAMP(6) - INTERVAL 400 DAY + INTERVAL i MICROSECOND", "UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)"
	from := func(what string) string { return cost.Numbers(rows) + "SELECT " + what + " FROM numbers" }
	job := func(resource, id, state, due string) string {
		return "INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) " +
			from(fmt.Sprintf("'%s', %s, 1, '%s', %s, %s", resource, id, state, now+due, now))
	}
	below := func(table, columns, values string) string {
		return fmt.Sprintf("INSERT INTO %s (id, %s, created_at, updated_at) ", table, columns) + from(fmt.Sprintf("i + %d, %s, %s", numbered, values, times))
	}
	for _, stmt := range []string{
		job("elsewhere", "i", "ready", " - INTERVAL 1 HOUR"),
		job("project", "i + 5000000", "scheduled", " + INTERVAL i + 3600 SECOND"),
		"INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at) " +
			from(fmt.Sprintf("i + %d, 'project', i, i, IF(i %% 100, 'done', 'dead'), %s, 1, 1, 0, %s, %s", numbered/2, now, now, old)),
		"INSERT INTO onerow_job_count (job_id, table_name, deleted_rows) SELECT id, 'screen', 1 FROM onerow_job_archive",
		"INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) " + from(fmt.Sprintf("i + %d, 'note', i, 'held', 'parked', %s", numbered/2, now)),
		"INSERT INTO onerow_deletion (resource, resource_id, deleted_from, grace_us, requested_at) " + from("'project', i, 'active', 0, "+old),
		"INSERT INTO onerow_action (action, deletion_id, job_id, actor, reason, acted_at) " + from("'delete', i, i, 'ben', '', "+old),
		below("screen", "project_id, blob_key", "i + 5000000, CONCAT('b', i)"),
		"ALTER TABLE screen ADD KEY blob_key (blob_key)", "ALTER TABLE screen_archive ADD KEY blob_key (blob_key)",
		below("comment", "screen_id", "i + 5000000"),
		below("reaction", "comment_id", "i + 5000000"),
		below("tag", "screen_id", "i + 5000000"),
		below("note", "project_id", "i + 5000000"),
		below("widget", "project_id, user_id", "i + 5000000, 1"),
		"CREATE TABLE tree (row_no INT, no INT, code INT NOT NULL, PRIMARY KEY (row_no, no), UNIQUE KEY code (code))",
		"CREATE TABLE branch (id INT PRIMARY KEY, tree INT NOT NULL, KEY tree (tree))",
		"CREATE TABLE bird (id INT PRIMARY KEY, branch INT NULL, tree INT NULL, KEY branch (branch), KEY tree (tree))",
		"CREATE TABLE leaf (id INT PRIMARY KEY, branch INT NULL, KEY branch (branch))",
		"INSERT INTO tree " + from("i, 1, i"), "INSERT INTO branch " + from("i, i"), "INSERT INTO bird " + from("i, i, IF(i % 2, i, NULL)"), "INSERT INTO leaf " + from("i, i"),
		"INSERT INTO leaf VALUES (0, 0)",
		"CREATE TABLE nail (leaf INT NOT NULL, FOREIGN KEY (leaf) REFERENCES leaf (id))", "INSERT INTO leaf VALUES (-9, 9)",
		"INSERT INTO nail VALUES (9), (-9)",
		"CREATE TRIGGER stuck BEFORE DELETE ON onerow_job FOR EACH ROW BEGIN IF OLD.resource_id = 'stuck' THEN SIGNAL SQLSTATE '45000'; END IF; END",
	} {
		dbtest.Exec(t, db, stmt)
	}
	for _, table := range []string{"onerow_job", "onerow_deletion", "onerow_parked", "widget"} {
		dbtest.Exec(t, db, fmt.Sprintf("ALTER TABLE %s AUTO_INCREMENT = %d", table, 2*numbered))
	}
	for _, id := range []int64{3, 4, 5} {
		grow(t, db, id, 2, 2, 2, 2)
	}
	dbtest.Exec(t, db, "ANALYZE TABLE onerow_action, onerow_job, onerow_job_archive, onerow_job_count, onerow_parked, onerow_deletion, screen, comment, reaction, tag, note, widget, tree, branch, bird, leaf")
	return dsn
}
