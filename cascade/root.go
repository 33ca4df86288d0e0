package cascade

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// place is where the root row is: in a table, or in none. The row has its key always.
type place struct {
	found  bool
	hidden bool // by the job's deletion
	table  *table
	row    row
}

// fruitlessPasses is how many passes may change nothing although something is left,
// because it moves or changes, before the job counts as failed; and how many it takes to
// believe that nothing is left but what is parked.
const (
	fruitlessPasses = 5
	settledPasses   = 2
)

// work works one job to its end. The error is nil when the job is done, or done but for
// leftovers.
func (w *Worker) work(ctx context.Context, job Job) error {
	r := &run{Worker: w, job: job, counts: counts{}, detached: counts{}, suspect: map[*edge]bool{}, none: map[*edge]bool{}, looped: map[*source]bool{}, fenced: time.Now(), stale: w.cfg.OnProgress != nil}
	err := r.again(ctx, func() (err error) {
		r.graph, err = w.current(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if r.node, err = r.graph.node(ctx, w, job); err != nil {
		return err
	}
	if r.root, err = r.node.tables[0].key.Decode(job.ResourceID); err != nil {
		return fmt.Errorf("cascade: the id of job %d: %w", job.ID, err)
	}
	if err := r.resume(ctx); err != nil {
		return err
	}
	for fruitless := 0; fruitless < fruitlessPasses; {
		before := r.changes
		done, err := r.pass(ctx)
		if done || err != nil {
			return err
		}
		fruitless++
		looped := r.loop != nil && r.held && !r.cutting
		switch {
		case r.changes > before:
			fruitless = 0
		case r.loop != nil && r.held && r.cutting && fruitless > settledPasses && !r.loop.src.edge.cuttable():
			return r.loopError() // not before others, who delete here too, had their time
		case len(r.parked) > 0 && fruitless >= settledPasses && !looped:
			if done, err := r.leftovers(ctx); done || err != nil {
				return err
			}
		}
		r.cutting = r.cutting || looped && (len(r.parked) == 0 || fruitless > 0)
	}
	return fmt.Errorf("%w: below %s %s; %d passes found rows and deleted none", ErrStuck, job.Resource, job.ResourceID, fruitlessPasses)
}

// pass goes once through everything below the root, and tries to end the job.
func (r *run) pass(ctx context.Context) (done bool, err error) {
	r.seen, r.loop, r.held, r.onPath = map[who]mark{}, nil, false, 0
	r.unqueue()
	if r.place, err = r.findRoot(ctx); err != nil {
		return false, err
	}
	root := []row{r.place.row}
	r.note(r.node, root, onPath)
	if err := r.walk(ctx, r.node, root); err != nil {
		return false, err
	}
	return r.drop(ctx, r.unqueue(), true)
}

// rootSQL reads the root row, by its primary key.
func (r *run) rootSQL(t *table) string {
	deletion := "NULL"
	if t.node.Managed && !t.active {
		deletion = schema.ColDeletionID
	}
	return fmt.Sprintf("SELECT %t, %s, %s FROM %s WHERE %s", t.active, deletion, t.columns(nil), t.from, t.key.In("", []rowkey.Key{r.root}))
}

// findRoot looks for the root row in both tables, in one statement: a row that moves
// is in one of them. If it is in none it is gone for good.
func (r *run) findRoot(ctx context.Context) (place, error) {
	query := ""
	for i, t := range r.node.tables {
		if i > 0 {
			query += " UNION ALL "
		}
		query += r.rootSQL(t)
	}
	var p place
	err := r.again(ctx, func() (err error) {
		if p, err = r.readPlace(ctx, r.db, query); err == nil && p.found && !p.hidden && r.node.Managed {
			err = r.own(ctx, r.db, p.table)
		}
		return err
	})
	return p, err
}

// readPlace also refuses a row that another deletion than the job's hides, and one of two
// that have this id. Of a root that is gone only the key is known, see node.gone.
func (r *run) readPlace(ctx context.Context, db onerow.DB, query string) (place, error) {
	p := place{row: r.node.gone(r.root)}
	var active, two bool
	var deletion sql.NullInt64
	scanner := r.node.tables[0].scanner(nil, 0, &active, &deletion)
	err := onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error {
		if two = p.found; two {
			return nil
		}
		v, _, err := scanner.scan(rows)
		if err != nil {
			return err
		}
		p = place{found: true, table: r.node.tables[0], row: v}
		if !active {
			p.table = r.node.tables[1]
		}
		return nil
	})
	if err != nil {
		return place{}, err
	}
	switch {
	case two:
		return place{}, r.foreign("is in both of its tables, so two rows have this id")
	case deletion.Valid && deletion.Int64 != r.job.DeletionID:
		return place{}, r.foreign(fmt.Sprintf("is hidden by deletion %d, the job belongs to deletion %d", deletion.Int64, r.job.DeletionID))
	}
	p.hidden = deletion.Valid
	return p, nil
}

// lockRoot locks the root row where it was seen. It is not found if it has moved or
// changed since.
func (r *run) lockRoot(ctx context.Context, tx *onerow.Tx) (place, error) {
	here, err := r.readPlace(ctx, tx, r.rootSQL(r.place.table)+" FOR UPDATE")
	if err != nil {
		return place{}, err
	}
	if here.found = here.found && here.row.asset == r.place.row.asset; !here.found {
		return here, nil
	}
	return here, r.lockGuards(ctx, tx, here.table, []row{here.row})
}

// finish is the end of the last batch: with the root row locked where it was seen, delete
// what leaves it has, look for anything else below it, delete it, and move the job to
// the archive. It is not done when something is left, or when the root row has moved
// or changed meanwhile.
func (r *run) finish(ctx context.Context, tx *onerow.Tx, here place, budget *int64, t tally) (done, full bool, err error) {
	root := r.place.row
	if r.place.found {
		if !here.found || r.parked[here.table.name][here.row.key] {
			return false, false, nil
		}
		root = here.row
	}
	if full, err = r.below(ctx, tx, r.node, []row{root}, budget, t); full || err != nil {
		return false, full, err
	}
	left, err := r.belowRoot(ctx, tx, root)
	if err != nil || left {
		r.held = r.held || left
		return false, false, err
	}
	if r.place.found {
		if err := r.cutOwn(ctx, tx, here.table, []row{root}); err != nil {
			return false, false, err
		}
		if _, err := tx.ExecContext(ctx, here.table.removeSQL([]rowkey.Key{root.key})); err != nil {
			return false, false, err
		}
		if err := r.markOwners(ctx, tx, here.table, []row{root}); err != nil {
			return false, false, err
		}
	}
	if len(r.parked) > 0 {
		if _, err := tx.ExecContext(ctx, sqlForgetParked, r.job.ID); err != nil {
			return false, false, err
		}
	}
	return true, false, r.archive(ctx, tx, Done)
}

// sqlForgetParked deletes one_row's part of a job that is done: somebody else has deleted
// what was parked.
const sqlForgetParked = `DELETE p FROM onerow_parked AS p WHERE p.job_id = ? AND p.state = 'parked'`

// leftovers is the last batch of a job that has nothing left to delete but what is parked
// and what is above it. It is not done when an operator has unparked something meanwhile.
func (r *run) leftovers(ctx context.Context) (done bool, err error) {
	known := int64(0)
	for _, keys := range r.parked {
		known += int64(len(keys))
	}
	err = r.batch(ctx, func(ctx context.Context, tx *onerow.Tx, _ tally) (bool, error) {
		done = false
		parked, all, err := parkedCounts(ctx, tx, r.job.ID)
		if err != nil || all < known {
			return false, err
		}
		state := Done // somebody has decided that all of it stays
		if parked > 0 {
			state = Leftovers
		}
		done = true
		return true, r.archive(ctx, tx, state)
	})
	if err == nil && !done {
		err = r.loadParked(ctx)
	}
	return done, err
}

// hopeless is what a job does not get over by being tried again.
func hopeless(err error) bool { return errors.Is(err, ErrDrift) || errors.Is(err, ErrParked) }
