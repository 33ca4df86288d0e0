package cascade

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/backoff"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// graphTTL is how long the catalog is taken for true: ten seconds, or a hundred times as long as the last
// read took, whichever is longer. With thousands of tables a read takes long, and all jobs of the worker wait
// for it.
const (
	graphTTL       = 10 * time.Second
	graphTTLFactor = 100
)

// graphCache is the graph of a worker's plan, for all its goroutines.
type graphCache struct {
	mu    sync.Mutex
	graph *graph.Graph
	read  time.Time
	took  time.Duration
	plans plans
}

// fresh says whether the graph need not be made anew.
func (a *graphCache) fresh() bool {
	return a.graph != nil && time.Since(a.read) < max(graphTTL, graphTTLFactor*a.took)
}

// current is the graph of the plan and of the schema as it is, or was a moment ago. It is read each ten
// seconds, or in each hundred times that this takes.
func (w *Worker) current(ctx context.Context) (*graph.Graph, error) {
	return w.graphCache.current(ctx, w.db, w.plan)
}

func (a *graphCache) current(ctx context.Context, db *sql.DB, plan schema.Plan) (*graph.Graph, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fresh() {
		return a.graph, nil
	}
	begin := time.Now()
	made, err := graph.Read(ctx, db, plan)
	if err != nil {
		return nil, err
	}
	a.graph, a.read, a.took = made, time.Now(), time.Since(begin)
	a.plans.remember(ctx, db, made)
	return made, nil
}

// drift says whether the plan or the schema is another one than the job was begun under. It ends with ctx,
// also where nothing is read.
func (l *lease) drift(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var now *graph.Graph
	err := backoff.Read(ctx, func() (err error) {
		now, err = l.current(ctx)
		return err
	})
	switch {
	case errors.Is(err, fault.ErrMisfit):
		return fmt.Errorf("%w: job %d was begun under the fingerprint %s, now %w", fault.ErrDrift, l.job.ID, l.graph.Fingerprint, err)
	case err != nil:
		return err
	}
	if now.Fingerprint == l.graph.Fingerprint {
		return nil
	}
	return l.drifted(l.graph.Fingerprint, l.graph.Description, now)
}

// maxChanges is how many an error names.
const maxChanges = 8

// drifted is the error of a job that was begun under what is described, or under what nobody knows any more.
func (l *lease) drifted(begun, before string, now *graph.Graph) error {
	changes := catalog.Changes(before, now.Description)
	what := fmt.Sprintf("it was begun under the fingerprint %s, now it is %s", begun, now.Fingerprint)
	if n := len(changes); n > maxChanges {
		changes = append(changes[:maxChanges:maxChanges], fmt.Sprintf("and %d more", n-maxChanges))
	}
	if len(changes) > 0 {
		what = strings.Join(changes, "; ")
	}
	return fmt.Errorf("%w: job %d: %s. Run cascade-worker verify, adapt the plan if need be, restart the workers with it, then retry the job", fault.ErrDrift, l.job.ID, what)
}

// plans remembers, for people, what is behind the fingerprints that jobs are begun under. Nothing is
// decided by it: where it cannot be written or read, an error names fingerprints.
type plans struct {
	fingerprint string
	at          time.Time
}

// plansEvery is how often a worker says that a description is still in use.
const plansEvery = 24 * time.Hour

// sqlRemember writes a description once, by the primary key, and later only that it is in use. sqlForget
// walks the index stored_at; sqlDescribed reads by the primary key.
const (
	sqlRemember = `INSERT INTO onerow_plan (fingerprint, description, stored_at) VALUES (?, ?, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE stored_at = VALUES(stored_at)`
	sqlForget    = `DELETE FROM onerow_plan WHERE stored_at < UTC_TIMESTAMP(6) - INTERVAL 400 DAY ORDER BY stored_at LIMIT 10`
	sqlDescribed = `SELECT description FROM onerow_plan WHERE fingerprint = ?`
)

// maxPlan bounds what is stored, and what is read back, compressed and not.
const (
	maxStoredPlan = 4 << 20
	maxPlan       = 64 << 20
)

// remember stores the description of a graph, unless it has lately. Two statements, or none.
func (p *plans) remember(ctx context.Context, db onerow.DB, g *graph.Graph) {
	if p.fingerprint == g.Fingerprint && time.Since(p.at) < plansEvery {
		return
	}
	p.fingerprint, p.at = g.Fingerprint, time.Now()
	var text bytes.Buffer
	zip := gzip.NewWriter(&text)
	if _, err := io.WriteString(zip, g.Description); err != nil || zip.Close() != nil || text.Len() > maxStoredPlan {
		return
	}
	_, err := db.ExecContext(ctx, sqlRemember, []byte(g.Fingerprint), text.Bytes())
	if err == nil {
		_, err = db.ExecContext(ctx, sqlForget)
	}
	if err != nil {
		p.fingerprint = "" // again with the next look at the catalog
	}
}

// readPlan is the description behind a fingerprint; "" if nobody knows it. One statement.
func readPlan(ctx context.Context, db onerow.DB, fingerprint string) string {
	var text []byte
	if err := onerow.QueryRow(ctx, db, sqlDescribed, []any{[]byte(fingerprint)}, &text); err != nil {
		return ""
	}
	zip, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return ""
	}
	plain, err := io.ReadAll(io.LimitReader(zip, maxPlan))
	if err != nil {
		return ""
	}
	return string(plain)
}
