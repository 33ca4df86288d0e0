package cascade_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/devdb"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/discover"
	"github.com/onerow/onerow/schema/live"
)

// A failure is replayed with the seed that it prints; more schemas are tried with the number.
const (
	envSeed    = "ONEROW_MODEL_SEED"
	envSchemas = "ONEROW_MODEL_SCHEMAS"
)

func number(t *testing.T, name string, or uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return or
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestModelRandomSchemas: on random schemas with random data, the worker leaves what a model
// says that follows pointers in memory. The worker is interrupted again and again, and has
// batches of all sizes. Where every edge is a foreign key, the plan is the one that discovery
// finds; Verify accepts each.
func TestModelRandomSchemas(t *testing.T) {
	var next atomic.Uint64
	first, schemas := number(t, envSeed, 1), number(t, envSchemas, 100)
	if dbtest.Server(t).Engine() == devdb.MySQL && os.Getenv(envSeed) == "" {
		first = 101 // others than on MariaDB: who tests on both has seen 200
	}
	if os.Getenv(envSeed) != "" && os.Getenv(envSchemas) == "" {
		schemas = 1
	}
	for name, opts := range map[string][]dbtest.Option{
		"read committed":  {dbtest.Isolation(sql.LevelReadCommitted)},
		"repeatable read": {dbtest.Isolation(sql.LevelRepeatableRead), dbtest.Param("clientFoundRows", "true"), dbtest.Param("interpolateParams", "false"), dbtest.Param("parseTime", "true")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := dbtest.Open(t, opts...)
			dbtest.Toolkit(t, db, "onerow_") // Verify asks for all
			for i := next.Add(1) - 1; i < schemas && !t.Failed(); i = next.Add(1) - 1 {
				w := schematest.Generate(first + i)
				m := &modelled{T: t, db: db, w: w, r: rand.New(rand.NewPCG(w.Seed, 7))} //nolint:gosec // to be repeated
				if err := m.run(); err != nil {
					t.Errorf("%v\n%s%s=%d replays it", err, w, envSeed, w.Seed)
				}
				if err := w.Drop(t.Context(), db); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// modelled is one random schema in the database and in the model.
type modelled struct {
	*testing.T
	db      *sql.DB
	w       *schematest.World
	r       *rand.Rand
	plan    schema.Plan
	created schematest.Snapshot
}

const rootsPerSchema = 2

func (m *modelled) run() error {
	ctx := m.Context()
	stats, err := admin.ReadStats(ctx, m.db)
	if err != nil {
		return err
	}
	for state, jobs := range stats.Open {
		if jobs > 0 {
			return fmt.Errorf("%d %s jobs of the schema before are still there", jobs, state)
		}
	}
	if err := m.w.Create(ctx, m.db); err != nil {
		return err
	}
	if m.created, err = schematest.Read(ctx, m.db); err != nil {
		return err
	}
	if m.plan = m.w.Plan(); !m.w.Declared {
		tops := m.w.Tops()
		if m.plan, _, _, err = discover.Plan(ctx, m.db, schema.Plan{}, tops, nil); err != nil {
			return fmt.Errorf("discover from %q: %w", tops, err)
		}
		if err := m.w.Adopt(m.plan, tops...); err != nil {
			return fmt.Errorf("discovered from %q: %w", tops, err)
		}
	}
	if err := live.Verify(ctx, m.db, m.plan); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if err := m.orphans(); err != nil {
		return err
	}
	for range rootsPerSchema {
		root, ok, err := m.w.Root()
		if err != nil || !ok {
			return err
		}
		if err := m.remove(root); err != nil {
			return fmt.Errorf("%s: %w", root, err)
		}
	}
	if m.r.IntN(3) == 0 {
		if err := m.together(); err != nil {
			return fmt.Errorf("several at once: %w", err)
		}
	}
	return m.orphans()
}

// orphans compares what the search finds with what the model knows.
func (m *modelled) orphans() error {
	page := 1000 * m.r.IntN(2)
	if page == 0 {
		page = 1 + m.r.IntN(30)
	}
	want := m.w.Orphans()
	err := inspect.Orphans(m.Context(), m.db, m.plan, inspect.OrphanOptions{Page: page}, func(o inspect.Orphan) error {
		key := schematest.Orphan(o.Table, o.Columns, o.Resource)
		if want[key] -= o.Rows; o.AtLeast && page < 1000 {
			want[key] = max(0, want[key])
			return nil
		}
		if o.AtLeast || want[key] < 0 {
			return fmt.Errorf("there are not so many orphans: %+v", o)
		}
		return nil
	})
	for key, rows := range want {
		if err == nil && rows != 0 && page == 1000 {
			err = fmt.Errorf("%d orphans of %s were not found", rows, key)
		}
	}
	return err
}

// together has two workers delete several roots at once, of which one may be below another:
// whoever deletes a row, what is left is the same.
func (m *modelled) together() error {
	var jobs []int64
	for range 2 + m.r.IntN(2) {
		root, ok, err := m.w.Root()
		if err != nil {
			return err
		}
		if !ok {
			break // nothing is left; what was enqueued is to be worked before the next schema
		}
		m.w.Delete(root)
		job, err := m.enqueue(root)
		if err != nil {
			return fmt.Errorf("%s: %w", root, err)
		}
		jobs = append(jobs, job.ID)
	}
	ctx, cancel := context.WithCancel(m.Context())
	defer cancel()
	var running sync.WaitGroup
	errs := make(chan error, 2)
	for range 2 {
		worker, err := cascade.NewWorker(m.db, m.plan, cascade.Config{Batch: 1 + m.r.IntN(20), Chunk: 1 + m.r.IntN(12), MaxFailures: 1, ClaimJobs: 1, Poll: time.Millisecond})
		if err != nil {
			return err
		}
		running.Go(func() { errs <- worker.Run(ctx) })
	}
	dbtest.Eventually(m.T, time.Minute, func() (bool, string) {
		for _, id := range jobs {
			if job, err := queue.Get(m.Context(), m.db, id); err != nil || job.State.Open() {
				return false, fmt.Sprintf("several at once: %+v, %v\n%s", job, err, m.w)
			}
		}
		return true, ""
	})
	cancel()
	running.Wait()
	for range 2 {
		if err := <-errs; err != nil {
			return err
		}
	}
	for _, id := range jobs {
		if job, err := queue.Get(m.Context(), m.db, id); err != nil || job.State != queue.Done {
			return errors.Join(fmt.Errorf("%+v", job), err)
		}
	}
	return m.compare()
}

// remove deletes a root in the database and in the model and compares.
func (m *modelled) remove(root schematest.Root) error {
	estimate, err := inspect.DryRun(m.Context(), m.db, m.plan, root.Resource, root.ID, 10_000, nil)
	if err != nil {
		return err
	}
	want := m.w.Delete(root)
	if err := estimated(estimate, root, want); err != nil {
		return err
	}
	job, err := m.enqueue(root)
	if err != nil {
		return err
	}
	switch again, err := m.enqueue(root); {
	case err != nil:
		return err
	case again.ID != job.ID:
		return fmt.Errorf("enqueued again it is job %d, not %d", again.ID, job.ID)
	}
	if err := m.drain(); err != nil {
		return err
	}
	if err := m.ended(job.ID, want); err != nil {
		return err
	}
	if err := m.compare(); err != nil || m.r.IntN(4) > 0 {
		return err
	}
	// Once more, when nothing is there any more.
	if job, err = m.enqueue(root); err != nil {
		return err
	}
	if err := m.drain(); err != nil {
		return err
	}
	if err := m.ended(job.ID, schematest.Outcome{}); err != nil {
		return err
	}
	return m.compare()
}

// estimated compares what a dry run said before, which counts the root's row.
func estimated(e inspect.Estimate, root schematest.Root, want schematest.Outcome) error {
	deleted := maps.Clone(want.Deleted)
	deleted[root.Table()]++
	if !e.Root || !maps.Equal(e.Tables, deleted) || !maps.Equal(e.Detached, want.Detached) || len(e.Capped)+len(e.CappedDetached) > 0 {
		return fmt.Errorf("the dry run says %+v, the model deletes %v and detaches %v", e, deleted, want.Detached)
	}
	return nil
}

func (m *modelled) enqueue(root schematest.Root) (queue.Job, error) {
	d := queue.Deletion{Resource: root.Resource, ResourceID: root.ID}
	id, err := queue.Log(m.Context(), m.db, d)
	if err != nil {
		return queue.Job{}, err
	}
	d.ID = id
	return queue.Enqueue(m.Context(), m.db, d)
}

// drain runs workers one after another; each but the last is stopped after some batches.
func (m *modelled) drain() error {
	for stops := m.r.IntN(4); ; stops-- {
		ctx, cancel := context.WithCancel(m.Context())
		c := cascade.Config{Batch: 1 + m.r.IntN(20), Chunk: 1 + m.r.IntN(12), MaxFailures: 1}
		if m.r.IntN(3) == 0 {
			c.Batch, c.Chunk = 0, 0 // as users have it
		}
		if left := 1 + m.r.IntN(4); stops > 0 {
			c.Progress, c.OnEvent = true, progressed(func(queue.Job) {
				if left--; left == 0 {
					cancel()
				}
			})
		}
		worker, err := cascade.NewWorker(m.db, m.plan, c)
		if err == nil {
			err = worker.Drain(ctx)
		}
		cancel()
		switch {
		case err == nil:
			return nil
		case stops <= 0 || !errors.Is(err, context.Canceled):
			return fmt.Errorf("drain with batches of %d, chunks of %d: %w", c.Batch, c.Chunk, err)
		}
	}
}

// ended compares the job's state and counts, which are exact whatever interrupted it.
func (m *modelled) ended(id int64, want schematest.Outcome) error {
	job, err := queue.Get(m.Context(), m.db, id)
	if err != nil {
		return err
	}
	deleted := maps.Clone(job.Tables)
	maps.DeleteFunc(deleted, func(_ string, n int64) bool { return n == 0 })
	if job.State != queue.Done || !maps.Equal(deleted, want.Deleted) && len(deleted)+len(want.Deleted) > 0 {
		parked, err := queue.ListParked(m.Context(), m.db, queue.ParkedOptions{JobID: &id})
		return errors.Join(fmt.Errorf("the job is %s, failures %d, %q; it deleted %v, want %v; parked: %+v", job.State, job.Failures, job.LastError, job.Tables, want.Deleted, parked), err)
	}
	for table, n := range job.Detached {
		if n > want.AtMost[table] {
			return fmt.Errorf("the job detached %d rows of %q, want at most %d", n, table, want.AtMost[table])
		}
	}
	for table, n := range want.Detached {
		if job.Detached[table] < n {
			return fmt.Errorf("the job detached %d rows of %q, want at least %d", job.Detached[table], table, n)
		}
	}
	return nil
}

func (m *modelled) compare() error {
	want, err := m.w.Expect(m.created)
	if err != nil {
		return err
	}
	got, err := m.created.Again(m.Context(), m.db)
	if err != nil {
		return err
	}
	var errs []error
	for _, line := range schematest.Diff(want, got) {
		errs = append(errs, errors.New(line))
	}
	return errors.Join(errs...)
}

// progressed hears of jobs alone.
func progressed(f func(queue.Job)) func(cascade.Event) {
	return func(e cascade.Event) {
		if e.Progress != nil {
			f(*e.Progress)
		}
	}
}
