package featurefuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/repo"
)

// deleteAndRestore takes one root away and brings it back.
func (t *trial) deleteAndRestore(ctx context.Context, worker *cascade.Worker, root int) error {
	before, err := t.read(ctx, t.admin)
	if err != nil {
		return err
	}
	fates := t.deleted(root)
	job, err := t.delete(ctx, worker, root)
	if err != nil || !t.worked {
		return err
	}
	parked, err := queue.ListParked(ctx, t.db, queue.ParkedOptions{JobID: &job.ID})
	if err != nil {
		return err //nolint:wrapcheck // it says all
	}
	want := queue.Done
	if fates[t.tables[0].rows[root]] != gone {
		want = queue.Leftovers
	}
	if job.State != want {
		t.found(brokenDelete, "root %d: the job is %s after %q, not %s; parked are %+v", root, job.State, job.LastError, want, parked)
		return nil
	}
	after, err := t.read(ctx, t.admin)
	if err != nil {
		return err
	}
	for _, wrong := range t.expect(before, fates, root, fates, false).compare(before, after) {
		t.found(brokenDelete, "root %d: %s; parked are %+v", root, wrong, parked)
	}
	if !t.worked {
		return nil
	}
	left := t.restored(fates)
	for len(left) > 0 {
		if err := t.restore(ctx, before, fates, left, root, job.ID); err != nil || !t.worked {
			return err
		}
		if err := t.relent(ctx, t.admin); err != nil {
			return err
		}
		t.has[ofBrokenCheck], left = false, nil
	}
	if err := t.restore(ctx, before, fates, nil, root, job.ID); err != nil {
		return err
	}
	return exec(ctx, t.admin, "UPDATE f_switch SET refuses = 1") // for the next one
}

// delete has the worker delete a root.
func (t *trial) delete(ctx context.Context, worker *cascade.Worker, root int) (job queue.Job, err error) {
	id, err := t.rootID(ctx, root)
	if err != nil {
		return job, err
	}
	if t.tables[0].archive != "" {
		things, err := repo.New[thing](t.plan, t.tables[0].name)
		if err != nil {
			return job, err //nolint:wrapcheck // it says all
		}
		gone, err := things.Delete(ctx, t.db, int64(7*root-20))
		if err != nil {
			t.found(brokenDelete, "root %d: %v", root, err)
		}
		job.ID = gone.JobID
	} else {
		d := queue.Deletion{Resource: t.tables[0].name, ResourceID: id, From: queue.FromOperator}
		if t.r.IntN(2) == 0 {
			if d.ID, err = queue.Log(ctx, t.db, d); err != nil {
				return job, err //nolint:wrapcheck // it says all
			}
		}
		if job, err = queue.Enqueue(ctx, t.db, d); err != nil {
			t.found(brokenDelete, "root %d: %v", root, err)
			return job, nil
		}
	}
	number := job.ID
	err = t.beset(ctx, func(ctx context.Context) (bool, error) {
		err := worker.Drain(ctx)
		if err == nil {
			job, err = queue.Get(ctx, t.db, number)
		}
		return err == nil && !job.State.Open(), err //nolint:wrapcheck // it says all
	})
	if err != nil {
		t.found(brokenDelete, "root %d: %v; job %+v", root, err, job)
	}
	return job, nil
}

// idleConns is what database/sql keeps by itself.
const idleConns = 2

// kills is for how long sessions are killed, and patience how long something may take.
const (
	kills    = 400 * time.Millisecond
	patience = 10 * time.Second
)

// beset tries until it is done, while sessions are killed at first.
func (t *trial) beset(ctx context.Context, try func(context.Context) (bool, error)) error {
	ended := make(chan error, 1)
	killed, stop := context.WithTimeout(ctx, kills)
	defer stop()
	if t.kill {
		r := rand.New(rand.NewPCG(t.r.Uint64(), 1)) //nolint:gosec // to be repeated
		go func() { ended <- t.killer.Run(killed, t.quiet, t.database, r, 15*time.Millisecond) }()
	} else {
		ended <- nil
	}
	var last error
	done, err := fuzz.Within(ctx, patience, func() (done bool, err error) {
		if done, last = try(ctx); last != nil && !t.kill {
			return false, last
		}
		return done, nil
	})
	if err == nil && !done {
		err = errors.Join(errHangs, last)
	}
	stop()
	err = errors.Join(err, <-ended)
	t.db.SetMaxIdleConns(0) // what was killed while it was idle is not used any more
	t.db.SetMaxIdleConns(idleConns)
	return err
}

var errHangs = fmt.Errorf("not done after %v", patience)

// restore brings the root back, and holds everything against what was before; left is what cannot come back.
func (t *trial) restore(ctx context.Context, before *image, fates, left map[*row]fate, root int, job int64) error {
	var p recover.Progress
	var back repo.Restored
	batch, idle := 1+t.r.IntN(30), true
	for _, f := range fates {
		idle = idle && f != gone && f != cut // what may have gone need not have
	}
	err := t.beset(ctx, func(ctx context.Context) (_ bool, err error) {
		back, p, err = recover.Job(ctx, t.db, t.plan, job, recover.Options{Batch: batch})
		if (t.kill || idle) && errors.Is(err, recover.ErrNotKept) {
			err = nil // the answer was lost, or nothing went
		}
		return err == nil, err //nolint:wrapcheck // it says all
	})
	if err != nil {
		t.found(brokenRestore, "root %d: %v", root, err)
		return nil
	}
	after, err := t.read(ctx, t.admin)
	if err != nil {
		return err
	}
	if len(left) == 0 && !t.kill && !t.has[ofSiblings] && (p.Stuck > 0 || len(p.Missing) > 0 || p.RootMissing != "") {
		t.found(brokenRestore, "root %d: %+v", root, p)
	}
	if len(left) > 0 && p.Stuck == 0 && !t.kill {
		t.found(brokenRestore, "root %d: %d rows cannot come back, and none is told: %+v, %+v", root, len(left), p, back)
	}
	for _, wrong := range t.expect(before, left, root, fates, true).compare(before, after) {
		t.found(brokenRestore, "root %d: %s; %+v", root, wrong, p)
	}
	return nil
}

// expect is what rows, views, log and counts have to be.
func (t *trial) expect(before *image, now map[*row]fate, root int, went map[*row]fate, back bool) *expectation {
	e := &expectation{fates: map[place]fate{}, edges: map[string][]string{}, free: map[place]map[string]bool{}}
	for i, table := range t.tables {
		e.edges[table.name] = names(table.edge)
		for _, r := range table.rows {
			shown := []place{{table.name, r.number}}
			if t.has[ofViews] {
				shown = append(shown, place{t.views[i], r.number})
			}
			f := now[r]
			if back && f == same && went[r] != same && t.is(ofSiblings, i) {
				f = maybe
			}
			for _, p := range shown {
				e.fates[p] = f
				hidden := t.has[ofVerbs] && i == 0 // an archived row is hidden by an UPDATE, and shown by another
				if touched := t.touches(table); (touched || hidden) && r.root == root {
					e.free[p] = map[string]bool{colTouched: touched}
					for _, c := range table.data {
						e.free[p][c.name] = strings.Contains(c.typ, "ON UPDATE") // such a write moves it
					}
				}
			}
		}
	}
	t.expectTriggers(e, before, now, went, back)
	return e
}

// touches says whether a trigger writes into the table's rows.
func (t *trial) touches(table *table) bool {
	if !t.has[ofTouch] {
		return false
	}
	toucher := t.tables[t.at[ofTouch]]
	return table == toucher || slices.Contains(t.siblings(toucher), table)
}
