package cascade

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// keptForest is the forest with a trash.
func keptForest() schema.Plan {
	plan := forest
	plan.Trash = schema.Age(time.Hour)
	return plan
}

// keptWorkflow is a workflow on the small forest, whose rows are kept. steps may have gaps after a crash,
// so the trash is not compared but counted: restored tells whether what comes back is what was there.
func keptWorkflow(t *testing.T, dsn string, w crashtest.Workflow) crashtest.Workflow {
	t.Helper()
	w = complete(w, dsn)
	w.Ignore = append(w.Ignore, "onerow_trash")
	w.Empty = append(w.Empty, "onerow_trash")
	for _, table := range keptForest().Kept() {
		w.Ignore, w.Empty = append(w.Ignore, ident.TrashTable(table)), append(w.Empty, ident.TrashTable(table))
	}
	return w
}

func plantKept(t *testing.T, dsn string) *graph.Graph {
	t.Helper()
	db := dbtest.OpenDSN(t, dsn)
	plant(t, db)
	plantTrash(t, db, keptForest())
	g, err := graph.Read(t.Context(), db, keptForest())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// plantTrash makes the trash tables.
func plantTrash(t testing.TB, db *sql.DB, plan schema.Plan) {
	t.Helper()
	cat, err := catalog.Read(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	ddl, err := cat.TrashDDL(plan)
	if err == nil {
		err = execAll(t.Context(), db, ddl...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// restored compares the forest with what was there before the job; the root's own row is hidden, as it was.
func restored(ctx context.Context, db *sql.DB, before schematest.Snapshot) error {
	got, err := before.Again(ctx, db)
	if err != nil {
		return err
	}
	if diff := schematest.Diff(before, got); len(diff) > 0 {
		return fmt.Errorf("not as before:\n%s", strings.Join(diff, "\n"))
	}
	return nil
}

// TestCrashTrash: a batch keeps all that it deletes, or nothing of it happens.
func TestCrashTrash(t *testing.T) {
	t.Parallel()
	dsn, store := dbtest.DSN(t), &shelf{}
	plantKept(t, dsn)
	ready := mapped(t, dsn, keptForest())
	report := crashtest.Run(t, racetest.Share(keptWorkflow(t, dsn, crashtest.Workflow{
		Setup: smallForest,
		Call: func(ctx context.Context, db *sql.DB) error {
			w, err := NewWorker(db, keptForest(), Config{Batch: 20, Chunk: 20, Target: -1, Lease: time.Millisecond, Name: "w", Assets: store})
			if err != nil {
				return err
			}
			ready(w)
			return until(ctx, db, w, queue.Done)
		},
		Check: func(ctx context.Context, db *sql.DB) error {
			if store.names() != 0 {
				return fmt.Errorf("%d assets were deleted of rows in the trash", store.names())
			}
			if err := smallCounts(ctx, db); err != nil {
				return err
			}
			kept, err := admin.TrashOf(ctx, db, 1)
			counts := map[string]int64{}
			for _, k := range kept {
				counts[k.Table] = k.Rows
				var n int64
				if err == nil {
					err = db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+ident.Quote(ident.TrashTable(k.Table))).Scan(&n)
				}
				if err == nil && n != k.Rows {
					err = fmt.Errorf("%d rows of %s are in the trash, noted are %d", n, k.Table, k.Rows)
				}
			}
			if want := "map[comment:1 note:1 project_archive:1 reaction:2 reaction_archive:1 screen:1 screen_archive:1 tag:1 widget:1]"; err == nil && fmt.Sprint(counts) != want {
				err = fmt.Errorf("kept are %v, want %s", counts, want)
			}
			return err
		},
	})))
	if report.FaultPoints < racetest.Least(100) {
		t.Errorf("only %d fault points", report.FaultPoints)
	}
}

// TestCrashRestore: whatever cuts a restore, the next one goes on, and what is back is what was there.
func TestCrashRestore(t *testing.T) {
	t.Parallel()
	dsn := dbtest.DSN(t)
	g := plantKept(t, dsn)
	var before schematest.Snapshot
	report := crashtest.Run(t, racetest.Share(keptWorkflow(t, dsn, crashtest.Workflow{
		Setup: func(ctx context.Context, db *sql.DB) error {
			err := smallForest(ctx, db)
			if err == nil {
				before, err = schematest.Read(ctx, db)
			}
			var w *Worker
			if err == nil {
				w, err = NewWorker(db, keptForest(), Config{Assets: &shelf{}})
			}
			if err != nil {
				return err
			}
			still(w)
			w.graphCache.graph, w.graphCache.read = g, time.Now()
			return until(ctx, db, w, queue.Done)
		},
		Call: func(ctx context.Context, db *sql.DB) error {
			_, err := recover.Rows(ctx, db, keptForest(), 1, recover.Options{Batch: 6})
			return err
		},
		Check: func(ctx context.Context, db *sql.DB) error {
			job, err := queue.Get(ctx, db, 1)
			if err == nil && job.State != queue.Held {
				err = fmt.Errorf("the job is %s", job.State)
			}
			if err != nil {
				return err
			}
			if kept, err := admin.ListTrash(ctx, db, 10); len(kept) > 0 || err != nil {
				return fmt.Errorf("%+v are left in the trash, %w", kept, err)
			}
			return restored(ctx, db, before)
		},
	})))
	if report.FaultPoints < racetest.Least(40) {
		t.Errorf("only %d fault points", report.FaultPoints)
	}
}
