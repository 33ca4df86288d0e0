package work

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/trash"
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

// run is one worker's work on one job.
type run struct {
	Target
	db     *sql.DB // for what is read between the batches
	lease  Lease
	graph  *graph.Graph
	limits Limits
	store  Store
	node   *graph.Node

	trash *trash.Keeper // nil: the plan keeps nothing
	// rootless says that the root row was not there when the pass began.
	rootless bool
	unread   unread
	widths   map[*graph.Node]int // of portions
	loops    loops
	parked   map[string]map[rowkey.Key]bool // by table
	changes  int64                          // rows deleted, detached, cut or parked in this run
	top      graph.Row                      // the root, as the pass has seen it
	seen     map[who]mark                   // in the pass
	goes     map[*graph.Node]bool           // whose rows may be below the root, over edges that delete
}

const (
	// fruitlessPasses is how many passes in a row may change nothing although something is left, because it
	// moves or changes, before the job counts as failed.
	fruitlessPasses = 5
	// settledPasses is how many it takes to believe that nothing is left but what is parked.
	settledPasses = 2
)

// Do works one job to its end. The error is nil when the job is done, or done but for
// leftovers. The resource must be one of the graph's.
//
// A pass that has not ended the job is followed by another one. If it met a loop and rows stayed, the next
// one cuts loops, unless what stayed may be above a parked row: then only if this one has changed nothing. If
// settledPasses in a row have changed nothing and rows are parked, the job ends with leftovers; if
// fruitlessPasses have, it fails.
func Do(ctx context.Context, db *sql.DB, g *graph.Graph, target Target, lease Lease, store Store, limits Limits) error {
	r := &run{Target: target, db: db, lease: lease, graph: g, limits: limits, store: store, node: g.Nodes[target.Resource],
		unread: newUnread(), widths: map[*graph.Node]int{}, loops: loops{met: map[*graph.Source]bool{}}, parked: map[string]map[rowkey.Key]bool{}}
	r.goes = r.node.Reach()
	if err := r.openTrash(ctx); err != nil {
		return err
	}
	if target.Begun {
		if err := r.loadParked(ctx); err != nil {
			return err
		}
	}
	for fruitless := 0; fruitless < fruitlessPasses; {
		before := r.changes
		r.seen = map[who]mark{}
		p := &pass{run: r}
		done, err := p.once(ctx)
		if done || err != nil {
			return err
		}
		fruitless++
		looped := p.loop != nil && p.held && !r.loops.cut
		switch {
		case r.changes > before:
			fruitless = 0
		case p.loop != nil && p.held && r.loops.cut && fruitless > settledPasses && !p.loop.src.Edge.Cuttable():
			return r.loopError(p.loop) // not before others, who delete here too, had their time
		case len(r.parked) > 0 && fruitless >= settledPasses && !looped:
			if done, err := r.leftovers(ctx); done || err != nil {
				return err
			}
		}
		r.loops.cut = r.loops.cut || looped && (len(r.parked) == 0 || fruitless > 0)
	}
	return fmt.Errorf("%w: below %s %s; %d passes found rows and deleted none", ErrStuck, r.Resource, r.ResourceID, fruitlessPasses)
}

// pass goes once through everything below the root, and tries to end the job. What it has seen is its own:
// the next pass begins anew.
type pass struct {
	*run
	place place // where the root row was seen

	queue   []group  // rows to be deleted, everything below them being gone or before them
	waiting int      // how many rows that are
	walking int      // how many rows are being walked below
	skipped bool     // below the rows at hand the walk met one that is on its path
	loop    *loopRow // a row of a loop that was met
	held    bool     // a row stayed, because something was below it
}

// once walks and drops what is below the root, and then the root.
func (p *pass) once(ctx context.Context) (done bool, err error) {
	if p.place, err = p.findRoot(ctx); err != nil {
		return false, err
	}
	if ended, ready, err := p.due(ctx); ended || !ready || err != nil {
		return ended, err
	}
	p.rootless, p.top = !p.place.found, p.place.row
	root := []graph.Row{p.place.row}
	p.note(p.node, root, onPath)
	if err := p.walk(ctx, p.node, root); err != nil {
		return false, err
	}
	return p.drop(ctx, load{groups: p.unqueue(), root: true})
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
