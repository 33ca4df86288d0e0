package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/undo"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/repo"
)

// inGrace is a job whose deletion can still be taken back, as far as one can see; what
// decides is the conditional update in repo.Restore.
func (p *Page) inGrace(ctx context.Context, id int64) (queue.Job, error) {
	job, err := queue.Get(ctx, p.db, id)
	switch {
	case err != nil:
		return job, jobError(id, err)
	case job.State != queue.Scheduled && job.State != queue.Held && job.State != queue.OnPause:
		return job, cannotError(fmt.Sprintf("job %d is %s: its deletion cannot be taken back any more", id, job.State))
	case job.DeletionID == 0:
		return job, cannotError(fmt.Sprintf("job %d belongs to no logged deletion, so it cannot be taken back", id))
	}
	return job, nil
}

func (p *Page) undoJob(ctx context.Context, _ *http.Request, id int64) (string, error) {
	job, err := p.inGrace(ctx, id)
	if err != nil {
		return "", err
	}
	back, err := undo.Restore(ctx, p.db, p.plan, job.DeletionID)
	if err != nil {
		return "", err
	}
	return capital(undo.Told(back)) + "." + p.gone(ctx, job), nil
}

// gone is what a job that was ended had done, to be said behind the rest; empty: nothing.
func (p *Page) gone(ctx context.Context, job queue.Job) string {
	lines, err := undo.Gone(ctx, p.db, p.plan, job)
	switch {
	case err != nil:
		return " What it had deleted cannot be read: " + output.OneLine(err.Error()) + "."
	case len(lines) == 0:
		return ""
	}
	return " " + capital(strings.Join(lines, "; ")) + "."
}

// cancelJob ends a deletion that may have begun.
func (p *Page) cancelJob(ctx context.Context, _ *http.Request, id int64) (string, error) {
	back, job, err := repo.CancelJob(ctx, p.db, p.plan, id)
	switch {
	case errors.Is(err, queue.ErrWrongState):
		return "", fmt.Errorf("job %d is done: what it has deleted can be restored, where the plan keeps it", id)
	case err != nil:
		return "", jobError(id, err)
	}
	text := fmt.Sprintf("Job %d (%s) is cancelled", job.ID, output.RowName(job))
	if back.Changed {
		text += "; " + undo.Told(back)
	}
	return text + "." + p.gone(ctx, job), nil
}

func (p *Page) pauseJob(ctx context.Context, r *http.Request, id int64) (string, error) {
	job, err := queue.PauseJob(ctx, p.db, id, reasonOf(r))
	if errors.Is(err, queue.ErrWrongState) {
		return "", fmt.Errorf("job %d is not open: no worker takes it", id)
	}
	if err != nil {
		return "", jobError(id, err)
	}
	return fmt.Sprintf("Job %d (%s) is paused.", job.ID, output.RowName(job)), nil
}

// putFirst has a job worked before all others that are due.
func (p *Page) putFirst(ctx context.Context, _ *http.Request, id int64) (string, error) {
	job, err := queue.PutFirst(ctx, p.db, id)
	if errors.Is(err, queue.ErrWrongState) {
		return "", fmt.Errorf("job %d does not wait for a worker any more", id)
	}
	if err != nil {
		return "", jobError(id, err)
	}
	return fmt.Sprintf("Job %d (%s) is the next one.", job.ID, output.RowName(job)), nil
}

func (p *Page) resumeJob(ctx context.Context, _ *http.Request, id int64) (string, error) {
	job, err := queue.ResumeJob(ctx, p.db, id)
	if err != nil {
		return "", jobError(id, err)
	}
	return fmt.Sprintf("Job %d (%s) is %s.", job.ID, output.RowName(job), job.State), nil
}

// expireTrash has what a job has put into the trash go.
func (p *Page) expireTrash(ctx context.Context, _ *http.Request, id int64) (string, error) {
	steps, err := admin.ExpireTrash(ctx, p.db, id)
	if err != nil {
		return "", err
	}
	if steps == 0 {
		return "", goneError(fmt.Sprintf("Nothing of job %d is in the trash.", id))
	}
	return fmt.Sprintf("The trash of job %d is given up: workers remove it.", id), nil
}
