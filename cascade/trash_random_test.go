package cascade_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
	"github.com/onerow/onerow/schema/live"
)

// envTrashSchemas is the name of the environment variable with the number of schemas, 40 by default.
const envTrashSchemas = "ONEROW_TRASH_SCHEMAS"

// TestTrashRandomSchemas: on random schemas with random data, what a job deletes comes back byte by byte,
// however often worker and restore were interrupted.
func TestTrashRandomSchemas(t *testing.T) {
	var next atomic.Uint64
	first, schemas := number(t, envSeed, 1), number(t, envTrashSchemas, 40)
	seed := func(i uint64) uint64 {
		if i == 0 && first == 1 {
			return 208 // a row on the walk's path is detached over another edge meanwhile
		}
		return first + i
	}
	for name, level := range map[string]sql.IsolationLevel{"read committed": sql.LevelReadCommitted, "repeatable read": sql.LevelRepeatableRead} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t, dbtest.Isolation(level))
			if err := migrations.Up(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			for i := next.Add(1) - 1; i < schemas && !t.Failed(); i = next.Add(1) - 1 {
				w := schematest.Generate(seed(i))
				m := &trashed{modelled{T: t, db: db, w: w, r: rand.New(rand.NewPCG(w.Seed, 8))}} //nolint:gosec // to be repeated
				if err := m.run(); err != nil {
					t.Errorf("%v\n%s%s=%d replays it", err, w, envSeed, w.Seed)
				}
				if err := errors.Join(dropTrash(t.Context(), db, m.plan), w.Drop(t.Context(), db)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// trashed is one random schema whose rows are kept.
type trashed struct{ modelled }

func (m *trashed) run() error {
	ctx := m.Context()
	if err := m.w.Create(ctx, m.db); err != nil {
		return err
	}
	var err error
	if m.created, err = schematest.Read(ctx, m.db); err != nil {
		return err
	}
	m.plan = m.w.Plan()
	m.plan.Trash = schema.Age(24 * time.Hour)
	if err := createTrash(ctx, m.db, m.plan); err != nil {
		return err
	}
	if err := live.Verify(ctx, m.db, m.plan); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	for range rootsPerSchema {
		root, ok, err := m.w.Root()
		if err != nil || !ok {
			return err
		}
		before, err := m.created.Again(ctx, m.db)
		if err != nil {
			return err
		}
		want := m.w.Delete(root)
		job, err := m.enqueue(root)
		if err == nil {
			err = m.drain()
		}
		if err == nil {
			err = m.ended(job.ID, want)
		}
		if err == nil {
			err = m.compare()
		}
		if err == nil {
			err = m.back(job.ID, before)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", root, err)
		}
		// The model has deleted it: so does the database, for the next one.
		if _, err = m.enqueue(root); err == nil {
			err = m.drain()
		}
		if err != nil {
			return fmt.Errorf("%s, again: %w", root, err)
		}
	}
	return nil
}

// back restores a job, cut a few times, and compares with what was there before it.
func (m *trashed) back(job int64, before schematest.Snapshot) error {
	cut := errors.New("cut")
	for cuts := m.r.IntN(4); ; cuts-- {
		left := m.r.IntN(3)
		o := recover.Options{Batch: 1 + m.r.IntN(30), OnBatch: func(context.Context, recover.Progress) error {
			if left--; cuts > 0 && left < 0 {
				return cut
			}
			return nil
		}}
		_, p, err := recover.Job(m.Context(), m.db, m.plan, job, o)
		if errors.Is(err, cut) {
			continue
		}
		if err != nil {
			return fmt.Errorf("restore: %w", err)
		}
		got, err := m.created.Again(m.Context(), m.db)
		if err != nil {
			return err
		}
		if diff := schematest.Diff(before, got); p.Changed > 0 || p.Stuck > 0 || len(diff) > 0 {
			return fmt.Errorf("restored with %+v:\n%s", p, strings.Join(diff, "\n"))
		}
		return nil
	}
}

func createTrash(ctx context.Context, db *sql.DB, plan schema.Plan) error {
	cat, err := catalog.Read(ctx, db)
	if err != nil {
		return err
	}
	ddl, err := cat.TrashDDL(plan)
	for _, statement := range ddl {
		if err == nil {
			_, err = db.ExecContext(ctx, statement)
		}
	}
	return err
}

func dropTrash(ctx context.Context, db *sql.DB, plan schema.Plan) (err error) {
	for _, table := range plan.Kept() {
		if _, e := db.ExecContext(ctx, "DROP TABLE IF EXISTS "+ident.Quote(ident.TrashTable(table))); e != nil {
			err = e
		}
	}
	_, e := db.ExecContext(ctx, "DELETE FROM onerow_trash")
	return errors.Join(err, e)
}
