package page

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade/inspect"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// A page says how far a job is, so somebody has to count what is left: this process, while somebody looks. A
// quick count comes first, and is all that a small job needs. Of a larger one a thorough count follows that
// waits as long as it works, and ends at limits. The job goes on meanwhile, so a figure is about right.
const (
	quickRows  = 2000             // of each table
	lookedFor  = 10 * time.Second // since somebody has looked, nothing is counted any more
	countPause = 500 * time.Millisecond
	countsKept = 1000
)

// Rows whose keys have to be kept are those that others hang below, or that can be reached in two ways: the
// memory of a worker is for its work.
const (
	thoroughTime = 2 * time.Minute
	thoroughKeys = 500_000
)

// remaining is what a job had before it when it was counted, and had deleted until then.
type remaining struct {
	Left     int64 // rows that were found
	Tables   map[string]int64
	Deleted  int64
	Gone     map[string]int64
	AtLeast  bool // there are more than were counted
	Counting bool // just now
	Thorough bool // there is no better count to be had
}

// byJob keeps what is known of jobs, of countsKept at most: the oldest are forgotten.
type byJob[T any] struct {
	mu sync.Mutex
	of map[int64]T
}

func (b *byJob[T]) get(job int64) (T, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known, found := b.of[job]
	return known, found
}

func (b *byJob[T]) all() map[int64]T {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.of)
}

func (b *byJob[T]) set(job int64, known T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = map[int64]T{}
	}
	if _, found := b.of[job]; !found && len(b.of) >= countsKept {
		delete(b.of, slices.Min(slices.Collect(maps.Keys(b.of))))
	}
	b.of[job] = known
}

// count counts quickly, or thoroughly, until ctx ends.
func (p *Page) count(ctx context.Context, thorough bool) {
	tick := time.NewTicker(countPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, job := range p.watch.underWay() {
			r, known := p.counts.get(job.ID)
			switch {
			case !thorough && !known:
				p.countJob(ctx, job, quickRows)
			case thorough && known && r.AtLeast && !r.Thorough:
				p.countJob(ctx, job, 0)
			default:
				continue
			}
			break // others may have come, and nobody may look any more
		}
	}
}

// countJob counts what is left below a job's row, up to limit rows of a table, or with 0 all: then it tells
// as it goes.
func (p *Page) countJob(ctx context.Context, job queue.Job, limit int) {
	ctx, cancel := context.WithTimeout(ctx, p.countBudget)
	defer cancel()
	job, err := queue.Get(ctx, p.db, job.ID) // the board's is older
	if err != nil {
		return // it is purged, or the board says what is wrong with the database
	}
	before, _ := p.counts.get(job.ID)
	found := remaining{Deleted: job.DeletedRows, Gone: job.Tables}
	kept, last := keptTables(p.plan), time.Now()
	var soFar inspect.Estimate
	tell := func(e inspect.Estimate) {
		soFar = e
		if limit > 0 {
			return
		}
		if now := p.left(found, job, e); now.Left > before.Left {
			now.AtLeast, now.Counting = true, true
			p.counts.set(job.ID, now)
		}
		held := int64(0)
		for _, table := range kept {
			held += e.Tables[table]
		}
		if held > thoroughKeys {
			cancel()
			return
		}
		select { // as long as the statement took: half the time is others'
		case <-ctx.Done():
		case <-time.After(time.Since(last)):
		}
		last = time.Now()
	}
	e, err := inspect.DryRun(ctx, p.db, p.plan, job.Resource, job.ResourceID, limit, tell)
	cut := err != nil
	if cut {
		e = soFar
		if ctx.Err() == nil {
			p.log.InfoContext(ctx, "page: what is left of a job cannot be counted", "job", job.ID, "error", output.OneLine(err.Error()))
		}
	}
	if after, err := queue.Get(ctx, p.db, job.ID); err == nil {
		found.meanwhile(after)
	}
	found = p.left(found, job, e)
	if cut && before.Left > found.Left {
		found = before
	}
	found.AtLeast, found.Counting = cut || len(e.Capped) > 0, false
	found.Thorough = limit == 0 || !found.AtLeast
	p.counts.set(job.ID, found)
}

// left takes an estimate into what is left. A job does not count its root's own row.
func (p *Page) left(r remaining, job queue.Job, e inspect.Estimate) remaining {
	r.Tables = maps.Clone(e.Tables)
	if root, err := p.plan.Node(job.Resource); err == nil && e.Root {
		for _, table := range root.Tables {
			if r.Tables[table] > 0 {
				r.Tables[table]--
				break
			}
		}
	}
	r.Left = output.SumRows(r.Tables)
	return r
}

// meanwhile takes what went during the count for half counted.
func (r *remaining) meanwhile(after queue.Job) {
	gone := map[string]int64{}
	for table, n := range after.Tables {
		gone[table] = (n + r.Gone[table]) / 2
	}
	r.Gone, r.Deleted = gone, output.SumRows(gone)
}

// keptTables are those of which a dry run keeps the keys of the rows that it has counted.
func keptTables(plan schema.Plan) (tables []string) {
	nodes := plan.Nodes()
	above := map[string]bool{}
	for _, n := range nodes {
		for _, e := range n.Parents {
			above[e.Table] = true
		}
	}
	for _, n := range nodes {
		if above[n.Name] || len(n.Parents) > 1 {
			tables = append(tables, n.Tables...)
		}
	}
	return tables
}
