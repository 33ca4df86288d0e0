// Package retain queues the deletion of rows that are old enough, as [schema.Retention] of the plan says, for
// a worker between its jobs (see package cascade) and for the command retention. What is due is read page by
// page along an index that begins with the column, never by a scan, and queued at the policy's rate, which
// all who do so keep together by the table onerow_retention.
//
// Open this package when rows are queued too early, too late, or not at all.
package retain

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

// Retainer works the policies of a plan. One goroutine uses it; there may be many.
type Retainer struct {
	db    *sql.DB
	graph func(context.Context) (*graph.Graph, error)
	names []string // the resources and tables that have a policy, in the order of the plan
	ways  map[string]*retention
}

// retention is a policy, and how far its rows were looked through.
type retention struct {
	table int // of the node's
	after *graph.DueRow
	rests time.Time // by this process's clock: nothing is looked for before
}

// New makes the retainer of a plan that was checked; current reads the graph of the plan. It does not use the
// database.
func New(db *sql.DB, plan schema.Plan, current func(context.Context) (*graph.Graph, error)) *Retainer {
	r := &Retainer{db: db, graph: current, ways: map[string]*retention{}}
	for _, n := range plan.Nodes() {
		if n.Retention != nil {
			r.names, r.ways[n.Name] = append(r.names, n.Name), &retention{}
		}
	}
	return r
}

// Names are the resources and tables that have a policy.
func (r *Retainer) Names() []string { return r.names }

// Done is what a [Retainer.Step] did.
type Done struct {
	// Resource is the resource or table that the policy is for.
	Resource string
	Queued   int // jobs that were made
	// Passed are rows that are due and were not queued, for the reasons that package cascade names.
	Passed int
	// Closed says that nothing was looked for because the window is closed. Next is when it opens; the zero
	// time: not within eight days.
	Closed bool
	Next   time.Time
	// Full says that nothing was looked for because enough jobs are due.
	Full bool
	// Early says that nothing was queued because the rate allows no more at the moment.
	Early bool
	// End says that all that is due was looked through.
	End bool
}

const (
	// retentionPage is how many rows are read, and queued, at once.
	retentionPage = 500
	// retentionOpen is how many jobs may be due where the rate is low.
	retentionOpen = 100
	// retentionTurn is how long a turn is at least, for which the rate is counted.
	retentionTurn = time.Second
	// retentionPages is how many pages a step passes over that have nothing to queue.
	retentionPages = 4
)

// retentionTurnOf is how many rows are queued in a turn, and how long it is.
func retentionTurnOf(p schema.Retention) (rows int, every time.Duration) {
	rate := p.Rate
	if rate == 0 {
		rate = 100 // as schema.Retention says
	}
	rows = max(1, int(rate*retentionTurn.Seconds()))
	return rows, time.Duration(math.Ceil(float64(rows) / rate * float64(time.Second)))
}

// sqlRetentionTime reads the clock, of the index due (resource, due_at, state) so many entries as there may
// be, and the time of the next turn by the primary key.
const sqlRetentionTime = `SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)),
  (SELECT COUNT(*) FROM (SELECT 1 AS one FROM onerow_job FORCE INDEX (due) WHERE resource = ? AND due_at <= UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE LIMIT ?) AS o),
  COALESCE((SELECT next_at > UTC_TIMESTAMP(6) FROM onerow_retention WHERE resource = ?), -1)`

// sqlRetentionMade makes the row, if it is not there, and sqlRetentionTurn decides who has the turn; both by
// the primary key.
const (
	sqlRetentionMade = `INSERT INTO onerow_retention (resource, next_at) VALUES (?, UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE next_at = next_at`
	sqlRetentionTurn = `UPDATE onerow_retention SET next_at = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND WHERE resource = ? AND next_at <= UTC_TIMESTAMP(6)`
)

// Step queues what is due for one turn of a policy, or says what it waits for; now says that the windows do
// not matter. Each step goes on where the last one has ended, and begins anew after the end. Two steps at the
// same time do as much as one; an error has queued nothing, or a part that counts.
//
// Errors: those of the plan, which may have no retention for the resource, and of the database. Statements: 1
// that finds it has to wait; 2 per page, up to 4 pages of which nothing is queued, and 5 per 500 rows that
// are; those that read the graph.
func (r *Retainer) Step(ctx context.Context, resource string, now bool) (done Done, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cascade: retention of %s: %w", resource, err)
		}
	}()
	done.Resource = resource
	n, due, err := r.node(ctx, resource)
	if err != nil {
		return done, err
	}
	way := r.ways[resource]
	rows, every := retentionTurnOf(due[0].Policy)
	maxOpen := max(2*rows, retentionOpen)
	at, open, turn, err := r.look(ctx, resource, maxOpen)
	if err != nil {
		return done, err
	}
	inside, next := due[0].Policy.Open(at)
	switch {
	case !inside && !now:
		return Done{Resource: resource, Closed: true, Next: next}, nil
	case open >= maxOpen:
		return Done{Resource: resource, Full: true}, nil
	case turn == 1:
		return Done{Resource: resource, Early: true}, nil
	case turn < 0:
		if _, err := r.db.ExecContext(ctx, sqlRetentionMade, resource); err != nil {
			return done, err
		}
	}
	hasTurn := false
	for passed := 0; done.Queued < rows && passed < retentionPages; passed++ {
		page, err := r.page(ctx, n, due[way.table], at, way.after, min(retentionPage, rows-done.Queued))
		if err != nil {
			return done, err
		}
		if len(page.deletions) > 0 {
			queued, got, err := r.queue(ctx, resource, page.deletions, every, hasTurn)
			if err != nil {
				return done, err
			}
			if hasTurn = hasTurn || got; !hasTurn {
				done.Early = true
				return done, nil
			}
			passed, done.Queued = -1, done.Queued+queued
		}
		done.Passed += page.passed
		way.after = page.last
		if page.last == nil {
			if way.table++; way.table == len(due) {
				way.table, done.End = 0, true
				return done, nil
			}
		}
	}
	return done, nil
}

// look reads the server's time, how many jobs of the resource are open, of most, and whether its next turn is
// still to come (1) or it has had none (-1).
func (r *Retainer) look(ctx context.Context, resource string, most int) (at time.Time, open, turn int, err error) {
	var micro int64
	err = onerow.QueryRow(ctx, r.db, sqlRetentionTime, []any{resource, most, resource}, &micro, &open, &turn)
	return time.UnixMicro(micro).UTC(), open, turn, err
}

// queue takes the turn, if it is not this step's already, and queues deletions, in one transaction.
func (r *Retainer) queue(ctx context.Context, resource string, deletions []queue.Deletion, every time.Duration, mine bool) (queued int, got bool, err error) {
	err = onerow.InTx(ctx, r.db, func(ctx context.Context, tx *onerow.Tx) error {
		queued, got = 0, mine
		if !mine {
			n, err := onerow.Affected(ctx, tx, sqlRetentionTurn, every.Microseconds(), resource)
			if got = n > 0; err != nil || !got {
				return err
			}
		}
		queued, _, err = queue.EnqueueMany(ctx, tx, deletions)
		return err
	})
	return queued, got, err
}

// node is the resource with those of its tables whose rows can be due.
func (r *Retainer) node(ctx context.Context, resource string) (*graph.Node, []*graph.Due, error) {
	if r.ways[resource] == nil {
		return nil, nil, fmt.Errorf("the plan has no retention for it: %q; it has some for %q", resource, r.names)
	}
	g, err := r.graph(ctx)
	if err != nil {
		return nil, nil, err
	}
	n := g.Nodes[resource]
	var all []*graph.Due
	for _, t := range n.Tables {
		if t.Due == nil {
			continue
		}
		if t.Due.Err != nil {
			return nil, nil, t.Due.Err
		}
		all = append(all, t.Due)
	}
	return n, all, nil
}

const (
	retentionRest  = 10 * time.Second // after all that is due was looked through
	retentionSorry = time.Minute      // after an error
)

// StepAll takes a step of each policy that does not rest, logs what it queued, and tells it. A policy whose
// rows were all looked through rests for ten seconds, one that has met an error for a minute.
func (r *Retainer) StepAll(ctx context.Context, log *slog.Logger, tell func(Done)) {
	for _, name := range r.names {
		way := r.ways[name]
		if ctx.Err() != nil || time.Now().Before(way.rests) {
			continue
		}
		done, err := r.Step(ctx, name, false)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.WarnContext(ctx, "retention: nothing is queued for a minute", "resource", name, "error", fault.Redact(err))
			way.rests = time.Now().Add(retentionSorry)
		case done.End:
			way.rests = time.Now().Add(retentionRest)
		}
		if err == nil {
			tell(done)
		}
		if done.Queued > 0 {
			log.InfoContext(ctx, "retention: queued", "resource", name, "rows", done.Queued)
		}
	}
}
