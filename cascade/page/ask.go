package page

import (
	"context"
	"fmt"
	"net/http"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/dbtime"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// askView is the question before what cannot be taken back, or takes long. Asking changes nothing.
type askView struct {
	Title   string
	Lines   []string
	Note    string
	Action  string // where the form goes
	Hidden  []fact // what it says besides
	Why     bool   // a reason is needed
	Result  bool   // and what came of the work, as JSON
	Yes, No string
	Back    string // where No leads, and Yes in the end
	Danger  bool
}

// question finds out what there is to ask, or why there is nothing.
type question func(ctx context.Context, r *http.Request, id int64) (askView, error)

// ask makes a handler of a question, for those who may act. It may take as long as what is asked about: it
// may read as much.
func (p *Page) ask(about question) http.HandlerFunc {
	return p.showWithin(actTimeout, "ask", func(ctx context.Context, r *http.Request) (any, error) {
		if !p.mayAct(r) {
			return nil, refusal{http.StatusForbidden, p.noAct(r)}
		}
		return about(ctx, r, addressed(r))
	})
}

// inGrace is a job whose deletion can still be taken back, as far as one can see; what
// decides is the conditional update in repo.Restore.
func (p *Page) inGrace(ctx context.Context, id int64) (queue.Job, error) {
	job, err := queue.Get(ctx, p.db, id)
	switch {
	case err != nil:
		return job, notDone(id, err)
	case job.State != queue.Scheduled && job.State != queue.Held && job.State != queue.OnPause:
		return job, conflict("job %d is %s: its deletion cannot be taken back any more", id, job.State)
	case job.DeletionID == 0:
		return job, conflict("job %d belongs to no logged deletion, so it cannot be taken back", id)
	}
	return job, nil
}

func (p *Page) questionUndo(ctx context.Context, _ *http.Request, id int64) (askView, error) {
	job, err := p.inGrace(ctx, id)
	if err != nil {
		return askView{}, err
	}
	now, err := dbtime.Now(ctx, p.db)
	if err != nil {
		return askView{}, err
	}
	row, note := output.RowName(job), ""
	if job.State == queue.Scheduled {
		note = fmt.Sprintf("The worker begins %s (%s UTC); after that it is too late.", until(now, job.DueAt), output.Moment(job.DueAt))
	}
	return askView{Title: "Bring " + row + " back?", Action: jobPath(id) + "/undo", Yes: "Yes, bring it back", No: "No, leave it", Back: "/", Note: note,
		Lines: []string{fmt.Sprintf("The deletion of %s (job %d) is undone: the row is back where it was, with everything below it. Nothing was deleted yet.", row, id)}}, nil
}

func (p *Page) questionCancel(ctx context.Context, _ *http.Request, id int64) (askView, error) {
	job, err := queue.Get(ctx, p.db, id)
	if err != nil {
		return askView{}, notDone(id, err)
	}
	if job.State == queue.Done || job.State == queue.Cancelled || job.State == queue.Restored {
		return askView{}, conflict("job %d is %s: there is nothing to cancel", id, job.State)
	}
	row := output.RowName(job)
	lines := []string{fmt.Sprintf("The job stops after its batch, %s returns to where it was, and what is left below it stays.", row)}
	kept, err := admin.TrashOf(ctx, p.db, id)
	if err != nil {
		return askView{}, err
	}
	switch rows := keptRows(kept); {
	case job.DeletedRows == 0:
		lines = append(lines, "Nothing below it was deleted so far.")
	case rows > 0:
		lines = append(lines, fmt.Sprintf("%s gone so far; %s of that are in the trash and can be restored.", rowsAre(job.DeletedRows), output.Grouped(rows)))
	default:
		lines = append(lines, fmt.Sprintf("%s gone so far, for good: nothing of that is in the trash.", rowsAre(job.DeletedRows)))
	}
	return askView{Title: "Cancel the deletion of " + row + "?", Lines: lines, Action: jobPath(id) + "/cancel", Yes: "Yes, cancel it", No: "No, go on deleting", Back: jobPath(id), Danger: true}, nil
}

func (p *Page) questionRestore(ctx context.Context, _ *http.Request, id int64) (askView, error) {
	job, kept, err := p.inTrash(ctx, id)
	if err != nil {
		return askView{}, err
	}
	row := output.RowName(job)
	return askView{Title: "Restore " + row + "?", Action: jobPath(id) + "/restore", Yes: "Yes, restore it", No: "No, leave it", Back: jobPath(id),
		Lines: []string{fmt.Sprintf("It brings back %s from the trash, parents first, then %s itself, under its name or as a copy.", output.Plural(keptRows(kept), "row"), row),
			"It goes on in the background, beside everything else. What cannot come back, because its place is taken, stays in the trash with the reason."}}, nil
}

func (p *Page) questionExpire(ctx context.Context, _ *http.Request, id int64) (askView, error) {
	job, kept, err := p.inTrash(ctx, id)
	if err != nil {
		return askView{}, err
	}
	return askView{Title: "Empty the trash of " + output.RowName(job) + "?", Action: jobPath(id) + "/expire", Yes: "Yes, for good", No: "No, keep it", Back: jobPath(id), Danger: true,
		Lines: []string{fmt.Sprintf("%s cannot be restored from that moment on. Workers remove them in small batches.", output.Plural(keptRows(kept), "row"))}}, nil
}

func (p *Page) questionSkip(ctx context.Context, r *http.Request, _ int64) (askView, error) {
	of := r.PathValue("digest")
	rows, more, err := p.equalRows(ctx, of)
	switch {
	case err != nil:
		return askView{}, err
	case len(rows) == 0:
		return askView{}, notFound("None of these rows is parked any more.")
	}
	n := output.Plural(len(rows), "row")
	if more {
		n = "the newest " + n
	}
	return askView{Title: "Skip " + n + " of " + output.Printable(rows[0].Table) + "?", Action: "/errors/" + of + "/skip", Yes: "Yes, leave them", No: "No", Back: "/", Danger: true,
		Lines: []string{"They stay, and so does what is above them, for good. Their jobs end.", "The first: " + output.Shorten(output.OneLine(rows[0].Error), 300)}}, nil
}

// inTrash is a job of which something is in the trash.
func (p *Page) inTrash(ctx context.Context, id int64) (queue.Job, []admin.Kept, error) {
	job, err := queue.Get(ctx, p.db, id)
	if err != nil {
		return job, nil, notDone(id, err)
	}
	kept, err := admin.TrashOf(ctx, p.db, id)
	if err == nil && len(kept) == 0 {
		err = conflict("nothing of job %d is in the trash", id)
	}
	return job, kept, err
}

func keptRows(kept []admin.Kept) (rows int64) {
	for _, k := range kept {
		rows += k.Rows
	}
	return rows
}

func jobPath(id int64) string { return fmt.Sprintf("/jobs/%d", id) }

func rowsAre(n int64) string {
	if n == 1 {
		return "1 row is"
	}
	return output.Plural(n, "row") + " are"
}
