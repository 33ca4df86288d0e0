package inspect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/onerow/onerow/cascade/internal/foresttest"
	"github.com/onerow/onerow/internal/cost"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/schema"
)

// grove has leaves below branches of which some are not there, in tables that somebody else designed.
var grove = schema.Plan{Tables: []schema.Table{
	{Name: "branch", Key: []string{"id"}},
	{Name: "leaf", Key: []string{"id"}, Parents: []schema.Edge{{Table: "branch", Columns: []string{"branch"}}}},
}}

// crowded has as many rows of each table below others as rows says, and jobs of others, open and ended.
func crowded(t *testing.T, rows int, level sql.IsolationLevel) string {
	t.Helper()
	dsn := dbtest.DSN(t, dbtest.Isolation(level))
	db := dbtest.OpenDSN(t, dsn)
	foresttest.Plant(t, db)
	const now = "UTC_TIMESTAMP(6)"
	from := func(what string) string { return cost.Numbers(rows) + "SELECT " + what + " FROM numbers" }
	below := func(table, columns, values string) string {
		return fmt.Sprintf("INSERT INTO %s (id, %s, created_at, updated_at) ", table, columns) +
			from("i + 5000000, "+values+", UTC_TIMESTAMP(6) - INTERVAL 2 DAY, UTC_TIMESTAMP(6) - INTERVAL 2 DAY")
	}
	for _, stmt := range []string{
		"INSERT INTO onerow_job (resource, resource_id, deletion_id, state, due_at, created_at) " + from("'project', i + 5000000, 1, 'scheduled', "+now+" + INTERVAL i + 3600 SECOND, "+now),
		"INSERT INTO onerow_job_archive (id, resource, resource_id, deletion_id, state, due_at, token, batch_seq, failures, created_at, finished_at) " +
			from("i + 2500000, 'project', i, i, IF(i % 100, 'done', 'dead'), "+now+", 1, 1, 0, "+now+", "+now),
		"INSERT INTO onerow_parked (job_id, table_name, row_key, error, state, parked_at) " + from("i + 2500000, 'note', i, 'held', 'parked', "+now),
		below("screen", "project_id, blob_key", "i + 5000000, CONCAT('b', i)"),
		"ALTER TABLE screen ADD KEY blob_key (blob_key)", "ALTER TABLE screen_archive ADD KEY blob_key (blob_key)",
		below("comment", "screen_id", "i + 5000000"),
		below("reaction", "comment_id", "i + 5000000"),
		below("tag", "screen_id", "i + 5000000"),
		below("note", "project_id", "i + 5000000"),
		below("widget", "project_id, user_id", "i + 5000000, 1"),
		"CREATE TABLE branch (id INT PRIMARY KEY)",
		"CREATE TABLE leaf (id INT PRIMARY KEY, branch INT NULL, KEY branch (branch))",
		"INSERT INTO branch " + from("i"), "INSERT INTO leaf " + from("i, i"), "INSERT INTO leaf VALUES (-9, -9)",
	} {
		dbtest.Exec(t, db, stmt)
	}
	foresttest.Project(t, db, 4)
	foresttest.Grow(t, db, 4, 2, 2, 2, 2)
	dbtest.Exec(t, db, "ANALYZE TABLE onerow_job, onerow_job_archive, onerow_parked, screen, comment, reaction, tag, note, widget, branch, leaf")
	return dsn
}

// is wants an error to be another.
func is(err, want error) error {
	if !errors.Is(err, want) {
		return fmt.Errorf("got the error %w, want %w", err, want)
	}
	return nil
}

// TestCosts: what a call reads and locks depends neither on the jobs of others, open or finished, nor on the
// rows below others.
func TestCosts(t *testing.T) {
	enough := errors.New("enough")
	for _, level := range racetest.Levels() {
		c := cost.Compare(t, crowded(t, cost.Few, level), crowded(t, cost.Many(t), level), 550)
		c.Call("dry run", func(ctx context.Context, db *sql.DB) error {
			e, err := DryRun(ctx, db, forest, "project", "4", 10_000, nil)
			if err == nil && e.Tables["note"] != 2 {
				err = fmt.Errorf("%+v", e)
			}
			return err
		})
		c.Call("two pages of orphans", func(ctx context.Context, db *sql.DB) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			pages := 0
			o := OrphanOptions{Table: "tag", Page: 10, OnPage: func(string, int64, string) {
				if pages++; pages == 2 {
					cancel()
				}
			}}
			return is(Orphans(ctx, db, forest, o, func(Orphan) error { return nil }), context.Canceled)
		})
		c.Call("orphans", func(ctx context.Context, db *sql.DB) error {
			return is(Orphans(ctx, db, grove, OrphanOptions{Table: "leaf", Page: 10}, func(Orphan) error { return enough }), enough)
		})
		c.Call("enqueue an orphan", func(ctx context.Context, db *sql.DB) error {
			done, err := EnqueueOrphans(ctx, db, grove, []Orphan{{Resource: "branch", ID: "-9", Table: "leaf"}})
			if err == nil && done != (EnqueuedOrphans{Queued: 1}) {
				err = fmt.Errorf("%+v", done)
			}
			return err
		})
		c.Source(".", nil)
	}
}
