package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/undo"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/cascade/recover"
)

// restoreAsked is what somebody has asked for on the page of this process, which brings back one job after
// another. When it ends, the restore ends after its batch and can be asked for again.
type restoreAsked struct {
	job           queue.Job
	actor, reason string
}

type restoring struct {
	recover.Progress
	Row   string
	Ended bool
	Told  string // when it has ended
	Bad   bool
}

// restore works what was asked for, until ctx ends.
func (p *Page) restore(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case asked := <-p.askedRestores:
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

func (p *Page) askRestore(ctx context.Context, r *http.Request, id int64) (string, error) {
	job, err := queue.Get(ctx, p.db, id)
	if err != nil {
		return "", notDone(id, err)
	}
	if of, known := p.restores.get(id); known && !of.Ended {
		return "", fmt.Errorf("job %d is being brought back already", id)
	}
	if err := undo.MayRestore(ctx, p.db, p.plan); err != nil {
		return "", err
	}
	select {
	case p.askedRestores <- restoreAsked{job, p.actor(r), reasonOf(r)}:
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
	return fmt.Sprintf("%s of %s (%d%%)", output.Grouped(r.Seen), output.Plural(r.Total, "row"), 100*r.Seen/r.Total)
}
