package featurefuzz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/proof/soak/fuzz"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// Kinds of findings.
const (
	brokenRefusal = "what the docs let in is refused"
	brokenWelcome = "what must be refused is not"
	brokenUnclear = "a refusal that no error of the toolkit names"
	brokenOwnSQL  = "the server refuses a statement of the toolkit's"
	brokenRefused = "what was refused has changed something"
	brokenVerb    = "a verb does not do its work"
	brokenDelete  = "a deletion is not what it should be"
	brokenRestore = "a restore is not what it should be"
)

// trial is a round under way.
type trial struct {
	*world
	*run
	admin, db *sql.DB // of its database; db is the drawn pool
	database  string
	label     string
	kill      bool
	refusal   string
	worked    bool
}

// found adds a finding, with what the schema had.
func (t *trial) found(kind, format string, args ...any) {
	t.worked = false
	t.run.found.Add(kind, "%s: %s", t.label, fmt.Sprintf(format, args...))
}

// play makes the round.
func (t *trial) play(ctx context.Context) error {
	err := t.create(ctx, t.admin)
	if err == nil {
		err = t.createTriggers(ctx, t.admin)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNotMade, err)
	}
	before, err := t.read(ctx, t.admin)
	if err != nil {
		return err
	}
	worker, refusal, err := t.begin(ctx)
	if err != nil || refusal != nil {
		return errors.Join(err, t.refused(ctx, refusal, before))
	}
	for name, at := range t.has {
		if f := slices.IndexFunc(features, func(f feature) bool { return f.name == name }); at && f >= 0 && features[f].refused {
			t.found(brokenWelcome, "%s", name)
			return nil
		}
	}
	t.worked = true
	if t.tables[0].archive != "" {
		if err := t.useVerbs(ctx, before); err != nil {
			return err
		}
	}
	roots := t.r.Perm(len(t.tables[0].rows))
	for _, root := range roots[:1+t.r.IntN(2)] {
		if err := t.deleteAndRestore(ctx, worker, root); err != nil || !t.worked {
			return err
		}
	}
	return nil
}

// begin does what a program does before it works. A refusal is the toolkit's.
func (t *trial) begin(ctx context.Context) (worker *cascade.Worker, refusal, err error) {
	if refusal = t.plan.Check(); refusal != nil {
		return nil, refusal, nil
	}
	refusal, server := t.trashTables(ctx, t.admin)
	if server != nil {
		t.found(brokenOwnSQL, "%v", server)
		return nil, server, nil
	}
	if refusal != nil {
		return nil, refusal, nil
	}
	asked := time.Now()
	refusal = live.Verify(ctx, t.db, t.plan)
	if t.longest[t.database] = max(t.longest[t.database], time.Since(asked)); refusal != nil {
		return nil, refusal, nil
	}
	c := cascade.Config{Batch: 1 + t.r.IntN(20), Chunk: 1 + t.r.IntN(12), Load: 1, Lease: time.Second}
	worker, refusal = cascade.NewWorker(t.db, t.plan, c)
	return worker, refusal, nil
}

// refused judges a refusal: that it may be, that it is one of the toolkit's, and that nothing has changed.
func (t *trial) refused(ctx context.Context, refusal error, before *image) error {
	if refusal == nil {
		return nil
	}
	t.refusal = short(refusal)
	var differs *live.VerifyError
	allowed := slices.ContainsFunc(features, func(f feature) bool { return t.has[f.name] && (f.refused || f.either) })
	switch {
	case !allowed && !isServers(refusal):
		t.found(brokenRefusal, "%v", refusal)
	case !errors.Is(refusal, schema.ErrInvalidPlan) && !errors.As(refusal, &differs) && !isServers(refusal):
		t.found(brokenUnclear, "%v", refusal)
	}
	if err := t.workerRefuses(ctx); err != nil {
		return err
	}
	after, err := t.read(ctx, t.admin)
	if err != nil {
		return err
	}
	for _, wrong := range (&expectation{}).compare(before, after) {
		t.found(brokenRefused, "%s; refused was: %v", wrong, refusal)
	}
	return nil
}

// blind are refusals of Verify alone: a worker that is started nevertheless goes on, for it does not need
// what is missing.
var blind = []string{ofUnaccepted, ofGoneTrigger, ofOtherEngine}

// workerRefuses starts a worker nevertheless, where none can do the work.
func (t *trial) workerRefuses(ctx context.Context) error {
	if slices.ContainsFunc(blind, func(name string) bool { return t.has[name] }) {
		return nil
	}
	worker, err := cascade.NewWorker(t.db, t.plan, cascade.Config{Load: 1})
	if err != nil {
		return nil //nolint:nilerr // it refuses
	}
	id, err := t.rootID(ctx, 0)
	if err != nil {
		return err
	}
	if _, err := queue.Enqueue(ctx, t.db, queue.Deletion{Resource: t.tables[0].name, ResourceID: id, From: queue.FromOperator}); err != nil {
		return nil //nolint:nilerr // it refuses
	}
	soon, cancel := context.WithTimeout(ctx, 700*time.Millisecond)
	defer cancel()
	_ = worker.Drain(soon) //nolint:errcheck // what it has changed is looked at
	return nil
}

// short is an error on one line, without the names of the round.
func short(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if i := strings.Index(text, "declares it ("); i >= 0 {
		text = text[i+len("declares it "):]
	}
	parts := strings.Split(text, "\"")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = "…"
	}
	return fmt.Sprintf("%.180s", strings.Join(parts, "\""))
}

// rootID is the encoded key of a root.
func (t *trial) rootID(ctx context.Context, number int) (string, error) {
	p := t.tables[0].key[0]
	read := "CAST(" + ident.Quote(p.name) + " AS BINARY)"
	if p.kind.text {
		read = "CONVERT(" + ident.Quote(p.name) + " USING utf8mb4)"
	}
	var raw []byte
	query := fmt.Sprintf("SELECT %s FROM %s WHERE n = %d", read, ident.Quote(t.tables[0].name), number)
	if archive := t.tables[0].archive; archive != "" {
		query += fmt.Sprintf(" UNION ALL SELECT %s FROM %s WHERE n = %d", read, ident.Quote(archive), number)
	}
	if err := onerow.QueryRow(ctx, t.admin, query, nil, &raw); err != nil {
		return "", fmt.Errorf("the key of root %d: %w", number, err)
	}
	switch {
	case p.kind.text:
		return onerow.EncodeKey(string(raw)) //nolint:wrapcheck // it says all
	case strings.HasPrefix(p.typ, "VARBINARY"):
		return onerow.EncodeKey(raw) //nolint:wrapcheck // it says all
	case strings.HasPrefix(p.typ, "BIGINT UNSIGNED"):
		n, err := strconv.ParseUint(string(raw), 10, 64)
		if err != nil {
			return "", fmt.Errorf("soak: %w", err)
		}
		return onerow.EncodeKey(n) //nolint:wrapcheck // it says all
	}
	return string(raw), nil
}

// useVerbs has verbs move rows of the resource, and looks at their bytes.
func (t *trial) useVerbs(ctx context.Context, before *image) error {
	if err := t.verbs(ctx, t.db, t.tables[0]); err != nil {
		t.found(brokenVerb, "%v", err)
		return nil
	}
	after, err := t.read(ctx, t.admin)
	if err != nil {
		return err
	}
	for _, m := range []*image{before, after} {
		for p, l := range m.rows {
			if t.has[ofViews] && p.table == t.views[0] {
				delete(m.rows, p) // it shows what is active
			} else if l.where = ""; p.table == t.tables[0].name {
				delete(l.cells, "name")
				m.rows[p] = l
			} else {
				m.rows[p] = l
			}
		}
	}
	for _, wrong := range (&expectation{}).compare(before, after) {
		t.found(brokenVerb, "%s", wrong)
	}
	return nil
}

// verb is one verb, with its way back half of the time.
func (w *world) verb(ctx context.Context, db *sql.DB, things *repo.Repo[thing], id int64) (err error) {
	one, err := things.Get(ctx, db, id)
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	switch w.r.IntN(5) {
	case 0:
		_, err = things.Archive(ctx, db, id)
	case 1:
		_, err = things.Activate(ctx, db, id)
	case 2:
		if _, err = things.Activate(ctx, db, id); err == nil {
			_, err = things.Rename(ctx, db, id, one.Name+" again")
		}
	case 3:
		if _, err = things.Activate(ctx, db, id); err == nil {
			_, err = things.Update(ctx, db, id, func(row *thing) error { row.Touched++; return nil })
		}
		if err == nil {
			_, err = things.Update(ctx, db, id, func(row *thing) error { row.Touched--; return nil })
		}
	case 4:
		if _, err = things.Delete(ctx, db, id, repo.Grace(time.Hour)); err == nil {
			_, err = things.CancelDelete(ctx, db, id)
		}
	}
	return err //nolint:wrapcheck // it says all
}

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
	return t.restore(ctx, before, fates, nil, root, job.ID)
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
	return errors.Join(err, <-ended)
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
				if t.touches(table) && r.root == root {
					e.free[p] = map[string]bool{colTouched: true}
					for _, c := range table.data {
						e.free[p][c.name] = strings.Contains(c.typ, "ON UPDATE") // the trigger's write moves it
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
