package inspect

import (
	"context"
	"fmt"
	"math"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

const (
	dryRunParents = 200 // whose children one statement looks for
	rowsPerBatch  = 500 // that the worker begins with
)

// Estimate is what a cascade from a row would do.
type Estimate struct {
	// Root says whether the row itself is there.
	Root bool
	// Tables is how many rows of each table would be deleted, the root's own among them.
	// A table of which none would be is not in it.
	Tables map[string]int64
	// Capped names the tables of which there are at least as many as Tables says: the
	// limit was reached there, or in a table above. Assets and Batches are then at
	// least as many, too.
	Capped map[string]bool
	// Detached is how many rows of each table would stay and lose a reference.
	Detached map[string]int64
	// CappedDetached is Capped for Detached. Where it is not known of all rows whether
	// they go, none is counted.
	CappedDetached map[string]bool
	// Assets is how many of the rows name an external asset.
	Assets int64
	// Loops has a row of a loop that no job can delete, for each table that has any: rows that are below
	// themselves over columns of which none may be NULL. The job deletes what else it can and fails there.
	Loops []Loop
	// Batches is about how many transactions a worker would need, at 500 rows each. The
	// worker adapts its batches to the time that they take.
	Batches int64
}

// Loop is a row that is below itself, by (Columns), of which none may be NULL.
type Loop struct {
	Table   string   `json:"table"`
	Key     string   `json:"key"` // encoded
	Columns []string `json:"columns"`
	// Why says why a job cannot delete the row, and what to do.
	Why string `json:"-"`
}

// DryRun counts what a cascade from a row would delete and detach, and changes nothing.
// The id is encoded, see [onerow.EncodeKey]; a row that is not there is no error: what is
// below it is counted, as far as it refers to the key.
//
// A row that is reached over several edges counts once. At most limit rows of each table are counted, by
// index and in chunks of parents; one that has more is said to have "at least" as many. With a limit of 0 all
// are. A table without children whose rows are reached over one edge only is counted without being read; of
// the others the keys are kept in memory. onProgress, unless it is nil, is called after each statement with
// what was counted so far.
//
// It is an estimate: rows that come, go or move meanwhile may be missed or counted twice, and rows that a
// foreign key outside the plan reaches are not seen. Loops are found among the rows that are read, over edges
// of a table to itself that nobody can cut.
//
// Statements: 10 of the catalog, 1 for the root, then, per edge and table of the child,
// 1 for 200 parents. Errors: [schema.ErrInvalidPlan], [schema.ErrUnknownResource],
// [onerow.ErrInvalidKey], [queue.ErrInvalid] for a table whose rows stay; a table without an index
// by which its rows can be found is refused.
func DryRun(ctx context.Context, db onerow.DB, plan schema.Plan, resource, encodedID string, limit int, onProgress func(Estimate)) (e Estimate, err error) {
	defer func() {
		if err != nil {
			e, err = Estimate{}, fmt.Errorf("cascade: dry run of %s %s: %w", resource, encodedID, err)
		}
	}()
	if limit <= 0 {
		limit = math.MaxInt / 2
	}
	switch node, err := plan.Node(resource); {
	case err != nil:
		return e, err
	case node.Stays:
		return Estimate{}, fmt.Errorf("%w: the plan says that rows of %q stay", queue.ErrInvalid, resource)
	}
	g, err := readGraph(ctx, db, plan)
	if err != nil {
		return e, err
	}
	d := &dry{db: db, limit: int64(limit), onProgress: onProgress, nodes: map[*graph.Node]*dryNode{}, tables: map[string]*dryTable{}, detached: map[string]*dryTable{}}
	if err := d.plan(g.Nodes[resource]); err != nil {
		return e, err
	}
	if err := d.root(ctx, encodedID); err != nil {
		return e, err
	}
	for _, n := range d.order {
		if err := d.expand(ctx, n); err != nil {
			return e, err
		}
	}
	e = d.estimate(d.order)
	e.Loops, err = d.loops()
	return e, err
}

// estimate draws up the balance. order is nil for an interim one.
func (d *dry) estimate(order []*dryNode) Estimate {
	e := Estimate{Root: d.rootFound, Tables: map[string]int64{}, Capped: map[string]bool{}, Detached: map[string]int64{}, CappedDetached: map[string]bool{}, Assets: d.assets}
	total := int64(0)
	for name, t := range d.tables {
		if total += t.count; t.count > 0 {
			e.Tables[name] = t.count
		}
		if t.capped {
			e.Capped[name] = true
		}
	}
	for name, t := range d.detached {
		n := t.count
		if deleted := d.tables[name]; deleted != nil && order != nil {
			for key := range t.keys { // what goes is not detached
				if deleted.keys[key] {
					n--
				}
			}
		}
		if total += n; n > 0 {
			e.Detached[name] = n
		}
		if t.capped {
			e.CappedDetached[name] = true
		}
	}
	// Below a table of which not all rows are known, no count is exact.
	partial := map[*graph.Node]bool{}
	for _, n := range order {
		for _, t := range n.Tables {
			partial[n.Node] = partial[n.Node] || e.Capped[t.Name]
		}
		if !partial[n.Node] {
			continue
		}
		for _, b := range n.Edges {
			partial[b.Child] = partial[b.Child] || !b.Detach
			for _, t := range b.Child.Tables {
				if b.Detach {
					e.CappedDetached[t.Name] = true
				} else {
					e.Capped[t.Name] = true
				}
			}
		}
	}
	for name := range e.Capped { // of rows that may go or stay, none is sure to be detached
		if n, some := e.Detached[name]; some {
			total -= n
			delete(e.Detached, name)
			e.CappedDetached[name] = true
		}
	}
	e.Batches = max(1, (total+rowsPerBatch-1)/rowsPerBatch)
	return e
}

func (d *dry) progress() {
	if d.onProgress != nil {
		d.onProgress(d.estimate(nil))
	}
}
