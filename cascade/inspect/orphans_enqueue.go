package inspect

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// EnqueuedOrphans is what [EnqueueOrphans] did.
type EnqueuedOrphans struct {
	Queued int `json:"queued"` // jobs that were made
	Open   int `json:"open"`   // rows for which a job was open already
	// Returned is how many of the rows are there after all; nothing was queued for them.
	Returned int `json:"returned"`
	// ReportOnly is how many cannot be queued, see [Orphan].
	ReportOnly int `json:"report_only"`
}

// EnqueueOrphans queues a cascade for each missing row, so that a worker deletes what is
// below it. Whether it is missing still is asked of all its tables again, in one statement,
// as the first of the transaction that queues it: nothing is queued for a row that is there.
// Nor for one of which a job has left parked or skipped rows, or is dead: what becomes of
// these a person decides, who retries that job.
//
// What is safe: a row that moves between its tables is seen in one of them; a row that
// is being deleted has a job, which counts as open; an id that is never used again cannot come
// back; and a row whose children are inserted under a share lock on it, as package repo
// does, was there before them. What is not: where an application inserts children first
// and their parent, with an id that it chose, only after this transaction, the cascade
// deletes both. Do not queue orphans while such a load runs.
//
// Statements on a pool: 10 of the catalog, then 6 per 500 rows of a resource: BEGIN, look for
// the rows, look for their jobs, those of [queue.EnqueueMany], COMMIT; up to 500 more where a
// collation takes keys for each other. Calling it again is safe.
func EnqueueOrphans(ctx context.Context, db onerow.DB, plan schema.Plan, orphans []Orphan) (done EnqueuedOrphans, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cascade: enqueue orphans, %d are queued: %w", done.Queued+done.Open, err)
		}
	}()
	ids, known := map[string][]string{}, map[[2]string]bool{}
	for _, o := range orphans {
		row := [2]string{o.Resource, o.ID}
		switch {
		case o.ReportOnly != "" || o.ID == "":
			done.ReportOnly++
		case !known[row]: // else by another table
			known[row] = true
			ids[o.Resource] = append(ids[o.Resource], o.ID)
		}
	}
	if len(ids) == 0 {
		return done, nil
	}
	resources := slices.Sorted(maps.Keys(ids))
	for _, resource := range resources {
		if _, err := plan.Node(resource); err != nil {
			return done, err
		}
	}
	g, err := readGraph(ctx, db, plan)
	if err != nil {
		return done, err
	}
	for _, resource := range resources {
		for chunk := range slices.Chunk(ids[resource], idsAtOnce) {
			now, err := enqueueMissing(ctx, db, g.Nodes[resource], chunk)
			if err != nil {
				return done, err
			}
			done.Queued += now.Queued
			done.Open += now.Open
			done.Returned += now.Returned
			done.ReportOnly += now.ReportOnly
		}
	}
	return done, nil
}

// enqueueMissing queues those that are missing, in one transaction. Its first statement
// is a plain read, so at REPEATABLE READ the snapshot is no older than that.
func enqueueMissing(ctx context.Context, db onerow.DB, n *graph.Node, ids []string) (done EnqueuedOrphans, err error) {
	err = onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
		done = EnqueuedOrphans{}
		there, err := present(ctx, tx, n, ids)
		if err != nil {
			return err
		}
		found, err := findJobs(ctx, tx, n.Name, ids)
		if err != nil {
			return err
		}
		var deletions []queue.Deletion
		for _, id := range ids {
			switch {
			case there[id]:
				done.Returned++
			case found.kept[id] != "" && !found.open[id]:
				done.ReportOnly++
			default:
				deletions = append(deletions, queue.Deletion{Resource: n.Name, ResourceID: id})
			}
		}
		done.Queued, done.Open, err = queue.EnqueueMany(ctx, tx, deletions)
		return err
	})
	return done, err
}
