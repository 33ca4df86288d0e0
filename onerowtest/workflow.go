package onerowtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/guard"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/wire"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

// Workflow makes a database as [DB] does, and returns what crashtest must know of it: its name, the tables to
// empty before each run, and the columns that differ from run to run. Add Call. Add Setup if a run starts
// with rows. If tables in ddl have random or copied values, append to Ignore, Generated and Refs. The pool
// that Call is given sends what a pool of [pool.Open] sends, with several statements in one packet.
//
// Results that are stored under an idempotency key are not compared, because they may hold generated ids. To
// compare them, keep what Call returned and test it in Check.
func Workflow(t testing.TB, plan schema.Plan, ddl ...string) crashtest.Workflow {
	t.Helper()
	dsn := makeDatabase(t, plan, ddl, dbtest.Param("multiStatements", "true"), dbtest.Param("interpolateParams", "true"))
	db := open(t, dsn)
	tables, err := childrenFirst(t.Context(), db)
	if err != nil {
		t.Fatalf("onerowtest: %v", err)
	}
	group, err := inGroup(t.Context(), db)
	if err != nil {
		t.Fatalf("onerowtest: %v", err)
	}
	return crashtest.Workflow{
		DSN: dsn, Empty: tables, Tables: tables,
		Ignore: slices.Clone(ignored), Generated: slices.Clone(drawn), Sets: []string{"onerow_deletion", "onerow_quota_mark"},
		Refs: references(plan),
		Wrap: func(c driver.Connector) driver.Connector { return guard.Answered(c, group) },
	}
}

// inGroup asks whether the server is in a MySQL replication group, which each session would with its first
// savepoint.
func inGroup(ctx context.Context, db *sql.DB) (wire.Answer, error) {
	group, _, err := wire.AskGroup("onerowtest", func(text string) (string, error) {
		answer, err := pairs(ctx, db, text, 2)
		if err == nil && len(answer) == 0 {
			err = sql.ErrNoRows
		}
		if err != nil {
			return "", err
		}
		return answer[0][1], nil
	})
	return group, err
}

// ignored are columns of the toolkit's tables that a retry may change, and that nobody relies on.
var ignored = []string{
	"onerow_request.call_token", "onerow_request.fingerprint", "onerow_key.fingerprint", // of rows with drawn ids among them
	"onerow_key.token", "onerow_key.call_token", "onerow_key.version", "onerow_key.result", "onerow_key_audit.token",
	"onerow_admission.call_token",
	"onerow_serial_claim.call_token",
	"onerow_flow.call_token", "onerow_flow.version",
	"onerow_quota_owner.generation", "onerow_limit.version",
	"onerow_job.token", "onerow_job.batch_seq", "onerow_job_archive.token", "onerow_job_archive.batch_seq",
	"onerow_control.version", "onerow_retention.next_at",
	"onerow_plan", // written beside the work
}

// drawn are columns whose values may be drawn anew by each run: ids of rows and of owners, as texts and of
// any table.
var drawn = []string{
	"onerow_request.row_id", "onerow_request.owner", "onerow_job.deletion_id", "onerow_job.resource_id",
}

func references(plan schema.Plan) map[string]string {
	refs := map[string]string{
		"onerow_job_archive.id": "onerow_job.id", "onerow_job_count.job_id": "onerow_job.id",
		"onerow_job_plan.job_id": "onerow_job.id", "onerow_job_detached.job_id": "onerow_job.id", "onerow_parked.job_id": "onerow_job.id",
		"onerow_trash.job_id": "onerow_job.id", "onerow_action.job_id": "onerow_job.id",
		"onerow_job_archive.deletion_id": "onerow_job.deletion_id", "onerow_action.deletion_id": "onerow_job.deletion_id",
		"onerow_job_archive.resource_id": "onerow_job.resource_id", "onerow_action.resource_id": "onerow_job.resource_id",
		"onerow_deletion.resource_id": "onerow_job.resource_id",
	}
	for _, table := range []string{"onerow_deletion", "onerow_quota_mark", "onerow_quota_owner", "onerow_limit", "onerow_reservation"} {
		refs[table+".owner"] = "onerow_request.owner"
	}
	first := map[string]string{} // of each node: its active table's key
	for _, n := range plan.Nodes() {
		if len(n.Key) != 1 {
			continue
		}
		first[n.Name] = n.Tables[0] + "." + n.Key[0]
		for _, archive := range n.Tables[1:] {
			refs[archive+"."+n.Key[0]] = first[n.Name]
			if n.Managed {
				refs[archive+"."+ident.ColDeletionID] = "onerow_job.deletion_id"
			}
		}
	}
	for _, n := range plan.Nodes() {
		for _, e := range n.Parents {
			above := first[e.Table]
			if len(e.Columns) != 1 || len(e.When) > 0 || above == "" || len(e.References) == 1 && !strings.HasSuffix(above, "."+e.References[0]) {
				continue
			}
			for _, table := range n.Tables {
				refs[table+"."+e.Columns[0]] = above
			}
		}
	}
	return refs
}

// sqlTables lists the base tables, and sqlReferences which of them have a foreign key to which other.
const (
	sqlTables = `SELECT TABLE_NAME FROM information_schema.TABLES
 WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY TABLE_NAME`
	sqlReferences = `SELECT DISTINCT TABLE_NAME, REFERENCED_TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE
 WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_NAME <> TABLE_NAME`
)

// childrenFirst returns the tables of the database but that of the migrations, each before what it refers to
// with a foreign key; those that refer to each other in a circle come last.
func childrenFirst(ctx context.Context, db *sql.DB) ([]string, error) {
	tables, err := pairs(ctx, db, sqlTables, 1)
	if err != nil {
		return nil, err
	}
	edges, err := pairs(ctx, db, sqlReferences, 2)
	if err != nil {
		return nil, err
	}
	left := make([]string, 0, len(tables))
	for _, row := range tables {
		if !strings.EqualFold(row[0], migrations.TableName) {
			left = append(left, row[0])
		}
	}
	var sorted []string
	for len(left) > 0 {
		before := len(left)
		for _, name := range slices.Clone(left) {
			held := slices.ContainsFunc(edges, func(e [2]string) bool { return e[1] == name && slices.Contains(left, e[0]) })
			if !held {
				sorted = append(sorted, name)
				left = slices.DeleteFunc(left, func(other string) bool { return other == name })
			}
		}
		if len(left) == before {
			return append(sorted, left...), nil
		}
	}
	return sorted, nil
}

// pairs returns the rows of a query with one or two columns.
func pairs(ctx context.Context, db *sql.DB, query string, columns int) (list [][2]string, err error) {
	err = onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error {
		var row [2]string
		err := rows.Scan([]any{&row[0], &row[1]}[:columns]...)
		list = append(list, row)
		return err
	})
	return list, err
}
