package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cmd/cascade-worker/internal/output"
	"github.com/onerow/onerow/cmd/cascade-worker/internal/undo"
	"github.com/onerow/onerow/schema"
)

// What a count of what is left below a row may cost. Rows whose keys have to be kept are
// those that others hang below, or that can be reached in two ways: the memory of a worker
// is for its work.
const (
	countLimit  = 1_000_000 // rows of each table
	countKeys   = 500_000   // rows whose keys are kept
	countBudget = 8 * time.Second
)

type undoView struct {
	ID               int64
	Row, When, Exact string
}

// askUndo is the question before a deletion is taken back. It changes nothing.
func (p *Page) askUndo(w http.ResponseWriter, r *http.Request) {
	job, err := p.inGrace(r.Context(), jobID(r))
	switch {
	case errors.Is(err, errGone):
		p.fail(w, r, http.StatusNotFound, err.Error())
		return
	case err != nil:
		p.fail(w, r, http.StatusConflict, capital(output.OneLine(err.Error()))+".")
		return
	}
	now, err := databaseClock(r.Context(), p.work.DB)
	if err != nil {
		p.fail(w, r, http.StatusServiceUnavailable, "The database cannot be read just now.")
		return
	}
	p.render(w, r, http.StatusOK, "undo", undoView{ID: job.ID, Row: output.RowName(job), When: until(now, job.DueAt), Exact: output.Moment(job.DueAt)})
}

// inGrace is a job whose deletion can still be taken back, as far as one can see; what
// decides is the conditional update in repo.Restore.
func (p *Page) inGrace(ctx context.Context, id int64) (cascade.Job, error) {
	job, err := cascade.Get(ctx, p.work.DB, id)
	switch {
	case err != nil:
		return job, jobError(id, err)
	case job.State != cascade.Scheduled && job.State != cascade.Held && job.State != cascade.OnPause:
		return job, fmt.Errorf("job %d is %s: its deletion cannot be taken back any more", id, job.State)
	case job.DeletionID == 0:
		return job, fmt.Errorf("job %d belongs to no logged deletion, so it cannot be taken back", id)
	}
	return job, nil
}

func (p *Page) undoJob(ctx context.Context, _ *http.Request, id int64) (string, error) {
	job, err := p.inGrace(ctx, id)
	if err != nil {
		return "", err
	}
	back, err := undo.Restore(ctx, p.work.DB, p.work.Plan, job.DeletionID)
	if err != nil {
		return "", err
	}
	return capital(undo.Told(back)) + ".", nil
}

// countJob counts what is left below a job's row, at bounded cost and one at a time in
// this process. The job goes on meanwhile, so the figure is about right.
func (p *Page) countJob(ctx context.Context, _ *http.Request, id int64) (string, error) {
	select {
	case p.Watch.counting <- struct{}{}:
		defer func() { <-p.Watch.counting }()
	default:
		return "", errors.New("another count is under way: try again when it has ended")
	}
	job, err := cascade.Get(ctx, p.work.DB, id)
	switch {
	case err != nil:
		return "", jobError(id, err)
	case !job.State.Open():
		return "", fmt.Errorf("job %d is %s, so there is nothing to count", id, job.State)
	}
	at, err := databaseClock(ctx, p.work.DB)
	if err != nil {
		return "", err
	}
	counted, cancel := context.WithTimeout(ctx, p.CountBudget)
	defer cancel()
	var soFar cascade.Estimate
	kept := KeptTables(p.work.Plan)
	e, err := cascade.DryRun(counted, p.work.DB, p.work.Plan, job.Resource, job.ResourceID, cascade.DryRunOptions{Limit: countLimit, OnProgress: func(e cascade.Estimate) {
		soFar = e
		keys := int64(0)
		for _, table := range kept {
			keys += e.Tables[table]
		}
		if keys > countKeys {
			cancel()
		}
	}})
	cut := false
	switch {
	case err == nil:
	case counted.Err() != nil && ctx.Err() == nil && output.SumRows(soFar.Tables) > 0:
		e, cut = soFar, true // of a big job that much is known, at least
	case counted.Err() != nil:
		return "", fmt.Errorf("there is too much to count below %s in %s", output.RowName(job), span(p.CountBudget))
	default:
		return "", err
	}
	left := remaining{At: at, Deleted: job.DeletedRows, AtLeast: cut || len(e.Capped) > 0}
	for _, n := range e.Tables {
		left.Left += n
	}
	if e.Root {
		left.Left-- // a job does not count its root's own row
	}
	p.Watch.count(id, left)
	if left.AtLeast {
		return fmt.Sprintf("At least %s left below %s: more than are counted.", rowsAre(left.Left), output.RowName(job)), nil
	}
	return fmt.Sprintf("About %s left below %s.", rowsAre(left.Left), output.RowName(job)), nil
}

// KeptTables are those of which a dry run keeps the keys of the rows that it has counted.
func KeptTables(plan schema.Plan) (tables []string) {
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

func rowsAre(n int64) string {
	if n == 1 {
		return "1 row is"
	}
	return output.Plural(n, "row") + " are"
}
