package restorefuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/schematest"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// world is the schema of one seed.
type world struct {
	*schematest.World
	db     *sql.DB
	r      *rand.Rand
	found  func(kind, format string, args ...any)
	plan   schema.Plan
	root   schematest.Root
	job    int64
	shapes schematest.Snapshot     // columns alone
	told   []string                // what was done, for people
	cuts   map[schematest.Name]int // copies of rows that lost a reference, after the deletion

	trial trial
}

// Run makes what a seed draws, in a database that has the toolkit's tables, and leaves nothing there. What it
// finds is told by kind, with what was done.
func Run(ctx context.Context, db *sql.DB, seed uint64, found func(kind, text string)) (err error) {
	w := &world{World: schematest.Generate(seed), db: db, r: rand.New(rand.NewPCG(seed, 9))} //nolint:gosec // to be repeated
	w.found = func(kind, format string, args ...any) {
		found(kind, fmt.Sprintf(format, args...)+"\n    after: "+strings.Join(w.told, "; "))
	}
	err = w.run(ctx)
	return errors.Join(err, w.clean(ctx))
}

func (w *world) say(format string, args ...any) {
	w.told = append(w.told, fmt.Sprintf(format, args...))
}

func (w *world) run(ctx context.Context) error {
	t := &w.trial
	if err := w.Create(ctx, w.db); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	w.draw()
	err := w.trashTables(ctx)
	if err == nil {
		w.shapes, err = schematest.Read(ctx, w.db)
	}
	if err == nil {
		t.before, err = w.state(ctx)
	}
	t.refs = w.Refs()
	ok := false
	if err == nil {
		w.root, ok, err = w.Root()
	}
	if err != nil || !ok {
		return err
	}
	t.root = w.root.Name()
	w.Delete(w.root)
	if err := w.delete(ctx); err != nil {
		return fmt.Errorf("delete %s: %w", w.root, err)
	}
	if t.after, err = w.state(ctx); err != nil {
		return err
	}
	if err := w.look(ctx); err != nil {
		return err
	}
	strangers, err := w.trouble(ctx)
	if err != nil {
		return fmt.Errorf("trouble: %w", err)
	}
	if err := w.try(ctx); err != nil || len(strangers) == 0 || w.r.IntN(2) == 0 {
		return err
	}
	w.say("the strangers went")
	for _, n := range slices.Backward(strangers) {
		for _, table := range w.Tables()[n.Node] {
			if err := w.perhaps(ctx, "DELETE FROM "+ident.Quote(table)+" WHERE "+schematest.NumberColumn+" = "+n.Number); err != nil {
				return err
			}
		}
	}
	return w.try(ctx)
}

// draw decides what the plan keeps.
func (w *world) draw() {
	w.plan = w.Plan()
	w.plan.Trash = schema.Age(24 * time.Hour)
	w.trial.unkept = map[string]bool{}
	if w.r.IntN(4) == 0 {
		w.unkeep("does not keep")
	}
}

// unkeep has the plan not keep one table.
func (w *world) unkeep(verb string) {
	w.plan.Tables = slices.Clone(w.plan.Tables)
	i := w.r.IntN(len(w.plan.Tables))
	w.plan.Tables[i].Trash = schema.NoTrash
	w.trial.unkept[w.plan.Tables[i].Name] = true
	w.say("the plan %s %s", verb, w.plan.Tables[i].Name)
}

func (w *world) trashTables(ctx context.Context) error {
	cat, err := catalog.Read(ctx, w.db)
	var ddl []string
	if err == nil {
		ddl, err = cat.TrashDDL(w.plan)
	}
	for _, statement := range ddl {
		if err == nil {
			_, err = w.db.ExecContext(ctx, statement)
		}
	}
	return err //nolint:wrapcheck // it says all
}

// delete deletes the root with what is below it, or a part of that.
func (w *world) delete(ctx context.Context) error {
	d := queue.Deletion{Resource: w.root.Resource, ResourceID: w.root.ID}
	var err error
	if w.r.IntN(2) == 0 {
		d.ID, err = queue.Log(ctx, w.db, d)
	}
	var job queue.Job
	if err == nil {
		job, err = queue.Enqueue(ctx, w.db, d)
	}
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	w.job = job.ID
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := cascade.Config{Batch: 1 + w.r.IntN(20), Chunk: 1 + w.r.IntN(12), MaxFailures: 1}
	left := -1
	if w.r.IntN(6) == 0 {
		left = 1 + w.r.IntN(4)
	}
	c.Progress, c.OnEvent = true, progressed(func(queue.Job) {
		if left--; left == 0 {
			cancel()
		}
	})
	worker, err := cascade.NewWorker(w.db, w.plan, c)
	if err == nil {
		err = worker.Drain(ctx)
	}
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	if err == nil {
		job, err = queue.Get(context.WithoutCancel(ctx), w.db, w.job)
	}
	w.trial.done = job.State == queue.Done
	w.say("%s was deleted with batches of %d, chunks of %d: job %d is %s", w.root, c.Batch, c.Chunk, w.job, job.State)
	return err //nolint:wrapcheck // it says all
}

// try restores, and judges.
func (w *world) try(ctx context.Context) (err error) {
	t := &w.trial
	if t.start, err = w.state(ctx); err != nil {
		return err
	}
	if err := w.look(ctx); err != nil {
		return err
	}
	t.dry, err = recover.Rows(ctx, w.db, w.plan, w.job, recover.Options{DryRun: true})
	kept := !errors.Is(err, recover.ErrNotKept)
	if err != nil && kept {
		w.found(brokenError, "dry run: %v", err)
	}
	t.told, err = w.restore(ctx)
	switch {
	case errors.Is(err, recover.ErrNotKept) && !kept:
	case err != nil:
		w.found(brokenError, "restore: %v", err)
		return nil
	}
	if t.end, err = w.state(ctx); err != nil {
		return err
	}
	if !kept {
		if t.copies.live > 0 || !sameRows(t.start, t.end) {
			w.found(brokenDry, "%d are in the trash, but: nothing is kept", t.copies.live)
		}
		return nil
	}
	if t.report, err = admin.ReadReport(ctx, w.db, 0, w.job); err != nil {
		return err //nolint:wrapcheck // it says all
	}
	t.judge(w.found)
	return nil
}

var errCut = errors.New("cut")

// restore restores, perhaps in several calls.
func (w *world) restore(ctx context.Context) (recover.Progress, error) {
	cuts := max(0, w.r.IntN(6)-3)
	for w.trial.cut = false; ; cuts-- {
		left := w.r.IntN(3)
		o := recover.Options{Batch: 1 + w.r.IntN(30), OnBatch: func(context.Context, recover.Progress) error {
			if left--; cuts > 0 && left < 0 {
				return errCut
			}
			return nil
		}}
		_, p, err := recover.Job(ctx, w.db, w.plan, w.job, o)
		if !errors.Is(err, errCut) {
			w.say("restored with batches of %d", o.Batch)
			return p, err
		}
		w.trial.cut = true
		w.say("restored with batches of %d, and stopped", o.Batch)
		if w.r.IntN(3) == 0 {
			if err := w.purge(ctx); err != nil {
				return p, err
			}
		}
	}
}

func (w *world) purge(ctx context.Context) error {
	n, err := admin.PurgeTrash(ctx, w.db, w.plan, nil, 100_000)
	w.say("purged %d", n)
	return err //nolint:wrapcheck // it says all
}

// progressed hears of jobs alone.
func progressed(f func(queue.Job)) func(cascade.Event) {
	return func(e cascade.Event) {
		if e.Progress != nil {
			f(*e.Progress)
		}
	}
}
