package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/undo"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
)

// restores are what this process brings back for those who have asked on its page, one job after another.
// When it ends, the restore ends after its batch and can be asked for again.
type restores struct {
	mu    sync.Mutex
	of    map[int64]restoring
	asked chan restoreAsked
}

type restoreAsked struct {
	job           queue.Job
	actor, reason string
}

// restoring is how far one is.
type restoring struct {
	recover.Progress
	Row   string
	Ended bool
	Told  string // when it has ended
	Bad   bool
}

func newRestores() *restores {
	return &restores{of: map[int64]restoring{}, asked: make(chan restoreAsked, 16)}
}

func (r *restores) get(job int64) (restoring, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of, known := r.of[job]
	return of, known
}

func (r *restores) set(job int64, of restoring) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[job] = of
}

// atWork are those that have not ended.
func (r *restores) atWork() (jobs []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for job, of := range r.of {
		if !of.Ended {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// restore works what was asked for, until ctx ends.
func (p *Page) restore(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case asked := <-p.restores.asked:
			p.restoreOne(ctx, asked)
		}
	}
}

func (p *Page) restoreOne(ctx context.Context, asked restoreAsked) {
	id, state := asked.job.ID, restoring{Row: output.RowName(asked.job)}
	back, progress, err := recover.Job(queue.WithActor(ctx, asked.actor, asked.reason), p.db, p.plan, id, recover.Options{
		OnBatch: func(_ context.Context, progress recover.Progress) error {
			state.Progress = progress
			p.restores.set(id, state)
			return nil
		}})
	state.Progress, state.Ended = progress, true
	rows := output.Plural(progress.Rows, "row") + " back"
	switch {
	case errors.Is(err, recover.ErrNotKept):
		state.Bad, state.Told = true, "Nothing of this job is in the trash, so nothing was changed."
	case err != nil:
		state.Bad, state.Told = true, capital(fmt.Sprintf("%s, then it ended; restore again to go on: %s", rows, output.OneLine(err.Error())))
	case progress.Stuck > 0:
		state.Bad = true
		state.Told = capital(fmt.Sprintf("%s. %s; %s could not come back and stay in the trash, among them: %s", undo.ToldRestored(back, progress), rows, output.Plural(progress.Stuck, "row"), output.OneLine(progress.Why)))
	case len(progress.Missing) > 0 || progress.RootMissing != "":
		state.Bad = true
		state.Told = capital(fmt.Sprintf("%s. %s; not back: %s", undo.ToldRestored(back, progress), rows, strings.Join(undo.Missing(progress), "; ")))
	default:
		state.Told = capital(undo.Told(back)) + ": " + rows + "."
	}
	p.log.InfoContext(ctx, "page: restored", "job", id, "rows", progress.Rows, "stuck", progress.Stuck, "error", err)
	p.restores.set(id, state)
	p.watch.changed()
}

// askRestore queues a restore.
func (p *Page) askRestore(ctx context.Context, r *http.Request, id int64) (string, error) {
	job, err := queue.Get(ctx, p.db, id)
	if err != nil {
		return "", jobError(id, err)
	}
	if of, known := p.restores.get(id); known && !of.Ended {
		return "", fmt.Errorf("job %d is being brought back already", id)
	}
	if err := undo.MayRestore(ctx, p.db, p.plan); err != nil {
		return "", err
	}
	select {
	case p.restores.asked <- restoreAsked{job, p.actor(r), reasonOf(r)}:
		p.restores.set(id, restoring{Row: output.RowName(job)})
		return fmt.Sprintf("%s comes back, with everything below it that was kept.", output.RowName(job)), nil
	default:
		return "", errors.New("sixteen others wait to be brought back: try again later")
	}
}

func restoreText(r restoring) string {
	switch {
	case r.Ended:
		return r.Told
	case r.Total == 0:
		return "begins"
	}
	return fmt.Sprintf("%s of %s (%d%%)", output.Grouped(r.Seen()), output.Plural(r.Total, "row"), 100*r.Seen()/r.Total)
}
