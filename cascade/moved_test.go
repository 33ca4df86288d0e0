package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
)

var errRefused = errors.New("the row is being deleted")

// moveRow takes a row of a table from below row 1 to below row 2 of the table above, as package repo does it.
// rows are those above, from below up: what they are, and what they are below.
func moveRow(table, column string, above ...[2]string) call {
	return func(ctx context.Context, db *sql.DB) error {
		return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
			var parent int64
			if err := onerow.QueryRow(ctx, tx, "SELECT "+column+" FROM "+table+" WHERE id = 1 FOR UPDATE", nil, &parent); err != nil {
				return gone(err)
			}
			from, to, jobs := parent, int64(2), ""
			for _, up := range above {
				for _, key := range []*int64{&from, &to} {
					jobs += fmt.Sprintf(" OR resource = '%s' AND resource_id = '%d'", up[0], *key)
					query := fmt.Sprintf("SELECT %s FROM %s WHERE id = ? LOCK IN SHARE MODE", up[1], up[0])
					if err := onerow.QueryRow(ctx, tx, query, []any{*key}, key); err != nil {
						return gone(err)
					}
				}
			}
			var job int64
			err := onerow.QueryRow(ctx, tx, "SELECT id FROM onerow_job FORCE INDEX (one_open) WHERE FALSE"+jobs+" LIMIT 1 LOCK IN SHARE MODE", nil, &job)
			if err == nil {
				return errRefused
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			_, err = tx.ExecContext(ctx, "UPDATE "+table+" SET "+column+" = 2 WHERE id = 1")
			return err
		})
	}
}

// byHand writes the column and locks nothing above.
func byHand(ctx context.Context, db *sql.DB) error {
	n, err := onerow.Affected(ctx, db, "UPDATE comment SET screen_id = 2 WHERE id = 1 AND screen_id = 1")
	if err == nil && n == 0 {
		err = errRefused
	}
	return err
}

func gone(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return errRefused
	}
	return err
}

// TestMovedAway: a row that was moved while the worker walks keeps what is below it, or was refused and is
// gone with it; one whose column somebody has just written is not deleted where it was found. The root is a
// row that no deletion hides: then nothing but its job says that it goes.
func TestMovedAway(t *testing.T) {
	setup := func(ctx context.Context, db *sql.DB) error {
		for _, row := range []struct {
			table  string
			values map[string]any
		}{
			{"project", map[string]any{"id": 1, "user_id": 7}}, {"project", map[string]any{"id": 2, "user_id": 7}},
			{"screen", map[string]any{"id": 1, "project_id": 1}}, {"screen", map[string]any{"id": 2, "project_id": 2}},
			{"comment", map[string]any{"id": 1, "screen_id": 1}}, {"comment", map[string]any{"id": 2, "screen_id": 1}},
			{"reaction", map[string]any{"id": 1, "comment_id": 1}}, {"tag", map[string]any{"id": 1, "screen_id": 1}},
		} {
			if err := insertRow(ctx, db, row.table, row.values); err != nil {
				return err
			}
		}
		return nil
	}
	enqueue := func(ctx context.Context, db *sql.DB) error {
		d := queue.Deletion{Resource: "project", ResourceID: "1", From: queue.FromOperator}
		var err error
		if d.ID, err = queue.Log(ctx, db, d); err == nil {
			_, err = queue.Enqueue(ctx, db, d)
		}
		return err
	}
	for name, opts := range sessions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.DSN(t, opts...)
			plant(t, dbtest.OpenDSN(t, dsn))
			ready := mapped(t, dsn, forest)
			// round queues the job and works it, with one row in each batch or all.
			round := func(batch int) call {
				return func(ctx context.Context, db *sql.DB) error {
					if err := enqueue(ctx, db); err != nil {
						return err
					}
					w, err := NewWorker(db, forest, Config{Lease: time.Hour, Name: "w", Assets: &shelf{}, Batch: batch, Chunk: batch})
					if err != nil {
						return err
					}
					ready(w)
					_, err = w.RunOnce(ctx)
					return err
				}
			}
			for _, c := range []struct {
				name  string
				batch int
				move  call
				table string
				whole []string // what lives where the row lives
			}{
				{"a screen", 100, moveRow("screen", "project_id", [2]string{"project", "1"}), "screen WHERE id = 1 AND project_id = 2",
					[]string{"comment", "reaction", "tag"}},
				{"a screen, row by row", 1, moveRow("screen", "project_id", [2]string{"project", "1"}), "screen WHERE id = 1 AND project_id = 2",
					[]string{"comment", "reaction", "tag"}},
				{"a comment", 100, moveRow("comment", "screen_id", [2]string{"screen", "project_id"}, [2]string{"project", "1"}), "comment WHERE id = 1 AND screen_id = 2",
					[]string{"reaction"}},
				{"a comment, row by row", 1, moveRow("comment", "screen_id", [2]string{"screen", "project_id"}, [2]string{"project", "1"}), "comment WHERE id = 1 AND screen_id = 2",
					[]string{"reaction"}},
				{"by hand", 100, byHand, "comment WHERE id = 1 AND screen_id = 2", nil}, // what is below it may go
			} {
				if c.batch == 1 && name != "read committed" {
					continue // the longest, once
				}
				t.Run(c.name, func(t *testing.T) {
					judge := func(ctx context.Context, db *sql.DB, answers []error) error {
						for i, err := range answers {
							if err != nil && (i == 0 || !errors.Is(err, errRefused)) {
								return err
							}
						}
						exists := func(query string) (n int64) {
							if err := onerow.QueryRow(ctx, db, "SELECT COUNT(*) FROM "+query, nil, &n); err != nil {
								t.Error(err)
							}
							return n
						}
						lives := exists(c.table) == 1
						if lives != (answers[1] == nil) {
							return fmt.Errorf("the row lives: %v, and the move answered %w", lives, answers[1])
						}
						for _, table := range c.whole {
							if n := exists(table + " WHERE id = 1"); (n == 1) != lives {
								return fmt.Errorf("the row lives: %v, and %d rows of %s", lives, n, table)
							}
						}
						if n := exists("project WHERE id = 1") + exists("screen WHERE project_id = 1"); n != 0 {
							return fmt.Errorf("%d rows are left where it was", n)
						}
						return nil
					}
					race := crashtest.Race{Workflow: complete(crashtest.Workflow{Name: "cascade: moved, " + c.name, Setup: setup}, dsn), Judge: judge, Every: 60, Preemptions: 1}
					race.Calls = []call{round(c.batch), c.move}
					report := crashtest.Interleave(t, race)
					t.Logf("workflow %s: %d interleavings (%s, %s)", report.Workflow, report.Schedules, report.Engine, report.Isolation)
				})
			}
		})
	}
}

// TestKindMoved: a row that was found below another one by its kind and its id stays if its kind alone has
// changed since.
func TestKindMoved(t *testing.T) {
	db, ctx := dbtest.Open(t), t.Context()
	if err := migrations.Up(ctx, db); err != nil {
		t.Fatal(err)
	}
	plan := schema.Plan{Tables: []schema.Table{
		{Name: "host", Key: []string{"id"}},
		{Name: "note", Key: []string{"id"}, Asset: "file", Parents: []schema.Edge{{Table: "host", Columns: []string{"about"}, When: map[string]string{"kind": "host"}}}},
	}}
	for _, stmt := range []string{
		"CREATE TABLE host (id INT PRIMARY KEY)", "INSERT INTO host VALUES (1)",
		"CREATE TABLE note (id INT PRIMARY KEY, kind VARCHAR(9) NOT NULL, about INT NOT NULL, file VARCHAR(9) NULL, KEY about (kind, about))",
		"INSERT INTO note VALUES (1, 'host', 1, 'a'), (2, 'host', 1, NULL), (3, 'user', 1, 'b')",
	} {
		dbtest.Exec(t, db, stmt)
	}
	w, err := NewWorker(db, plan, Config{Assets: &shelf{hook: func(ctx context.Context, _ []string) error {
		return execAll(ctx, db, "UPDATE note SET kind = 'user' WHERE id = 2") // between the rehearsal and the batch
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queue.Enqueue(ctx, db, queue.Deletion{Resource: "host", ResourceID: "1"}); err != nil {
		t.Fatal(err)
	}
	drain(t, w)
	if left := dbtest.Scan[string](t, db, "SELECT GROUP_CONCAT(id ORDER BY id) FROM note"); left != "2,3" {
		t.Errorf("left are %s", left)
	}
}
