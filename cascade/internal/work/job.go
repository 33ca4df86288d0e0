package work

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/rowkey"
)

// Target is what is to be deleted: a row and everything below it.
type Target struct {
	JobID      int64
	Resource   string
	ResourceID string // encoded
	Root       rowkey.Key
	DeletionID int64 // that the row belongs to, 0 for none
	// Begun says that an earlier attempt may have parked rows.
	Begun bool
	// Due says that the plan's retention asks for the deletion, and that nothing has been deleted yet.
	Due bool
}

// Limits bound the work.
type Limits struct {
	// Chunk is how many rows with something below them, or with an asset, are read at a time.
	Chunk int
	// MaxParked is how many rows may be parked.
	MaxParked int
}

// Store deletes external assets by their names, at most 100 at a time. A missing one is no error.
type Store interface {
	Delete(ctx context.Context, names []string) error
}

// run is one worker's work on one job: what stays true from pass to pass.
type run struct {
	*eraser
	*root          // the only one
	db     *sql.DB // for what is read between the batches
	lease  Lease
	limits Limits
	store  Store

	widths   map[*graph.Node]int // of portions
	patience patience
}

// Do works one job to its end. The error is nil when the job is done, or done but for leftovers. The resource
// must be one of the graph's. A pass that has not ended the job is followed by another one, as patience says.
func Do(ctx context.Context, db *sql.DB, g *graph.Graph, target Target, lease Lease, store Store, limits Limits) error {
	e := newEraser(g, []Target{target})
	r := &run{eraser: e, root: &e.roots[0], db: db, lease: lease, store: store, limits: limits, widths: map[*graph.Node]int{}}
	if err := r.openTrash(ctx); err != nil {
		return err
	}
	if target.Begun {
		if err := r.loadParked(ctx); err != nil {
			return err
		}
	}
	for !r.patience.isOver() {
		before := r.changes
		r.seen = map[rowRef]mark{}
		p := &pass{run: r}
		done, err := p.once(ctx)
		if done || err != nil {
			return err
		}
		end := passed{changed: r.changes > before, looped: p.loop != nil && p.held, parked: len(r.parked) > 0}
		end.cuttable = end.looped && p.loop.src.Edge.Cuttable()
		switch r.patience.after(end) {
		case blameLoop:
			return r.loopError(p.loop)
		case leaveParked:
			if done, err := r.leaveParked(ctx); done || err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%w: below %s %s; %d passes found rows and deleted none", fault.ErrStuck, r.Resource, r.ResourceID, fruitlessPasses)
}

// pass goes once through everything below the root, and tries to end the job. What it has seen is its own:
// the next pass begins anew.
type pass struct {
	*run
	queue   []group  // rows to be deleted, everything below them being gone or before them
	waiting int      // how many rows that are
	walking int      // how many rows are being walked below
	skipped bool     // below the rows at hand the walk met one that is on its path
	loop    *loopRow // a row of a loop that was met
	held    bool     // a row stayed, because something was below it
}

// once walks and drops what is below the root, and then the root.
func (p *pass) once(ctx context.Context) (done bool, err error) {
	if err := p.findRoot(ctx); err != nil {
		return false, err
	}
	if ended, ready, err := p.isDue(ctx); ended || !ready || err != nil {
		return ended, err
	}
	root := []graph.Row{p.expected.row}
	p.note(p.node, root, onPath)
	if err := p.walk(ctx, p.node, root); err != nil {
		return false, err
	}
	return p.drop(ctx, load{groups: p.unqueue(), roots: true})
}

// batch is the lease's, and adds up what it has changed.
func (r *run) batch(ctx context.Context, fn func(ctx context.Context, tx *onerow.Tx, t Tally) (last bool, err error)) error {
	var rows func() int64
	err := r.lease.Batch(ctx, func(ctx context.Context, tx *onerow.Tx, t Tally) (bool, error) {
		rows = t.Rows
		r.trash.Begin()
		last, err := fn(ctx, tx, t)
		if err == nil {
			err = r.trash.Note(ctx, tx)
		}
		return last, err
	})
	if err == nil {
		r.changes += rows()
	}
	return err
}
