package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/undo"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/repo"
)

// actTimeout is what a button may take. Batches hold a job's row for moments only.
const actTimeout = 15 * time.Second

// maxReason is what the columns of reasons take.
const maxReason = 200

// action does what a button says and returns what to tell.
type action func(ctx context.Context, r *http.Request, id int64) (string, error)

// act makes a handler of an action: it parses the form, does it, and sends the browser back
// to the page with a message. What is not there is a 404. Who may not act does not get here, see onlyFor.
func (p *Page) act(do action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !p.form(w, r) {
			return
		}
		id := addressed(r)
		if id == 0 && r.PathValue("id") != "" {
			p.fail(w, r, http.StatusNotFound, nothingHere)
			return
		}
		ctx, cancel := context.WithTimeout(queue.WithActor(r.Context(), p.actor(r), reasonOf(r)), actTimeout)
		defer cancel()
		done, err := do(ctx, r, id)
		p.watch.changed()
		var no refusal
		switch {
		case errors.As(err, &no) && no.status == http.StatusNotFound:
			p.fail(w, r, no.status, no.text)
			return
		case err != nil:
			p.log.WarnContext(r.Context(), "page: not done", "path", r.URL.Path, "error", output.OneLine(err.Error()))
			p.setFlash(w, r, flash{Bad: true, Text: capital(output.OneLine(err.Error()))})
		default:
			p.log.InfoContext(r.Context(), "page: done", "path", r.URL.Path, "from", r.RemoteAddr)
			p.setFlash(w, r, flash{Text: done})
		}
		http.Redirect(w, r, p.prefix+localPath(r.PostFormValue("to")), http.StatusSeeOther) //nolint:gosec // localPath keeps it on this page
	}
}

// actor is who has used a button, as far as is known: by the token's name or the proxy's word, else by the
// address.
func (p *Page) actor(r *http.Request) string {
	if c, _ := p.who(r); c.name != "" {
		return c.name + " (page)"
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return "the page, from " + host
}

// reasonOf is what was typed beside the button.
func reasonOf(r *http.Request) string {
	return output.Shorten(strings.TrimSpace(output.Printable(r.PostFormValue("reason"))), maxReason)
}

// capital makes a sentence of what an error says.
func capital(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// onJob makes an action of a verb, which is told as: %[1]d is the job, %[2]s its row, %[3]s its state.
// refused is told where that state does not allow it.
func (p *Page) onJob(told, refused string, verb func(ctx context.Context, db onerow.DB, id int64) (queue.Job, error)) action {
	return func(ctx context.Context, _ *http.Request, id int64) (string, error) {
		job, err := verb(ctx, p.db, id)
		switch {
		case errors.Is(err, queue.ErrWrongState):
			return "", fmt.Errorf(refused, id, output.RowName(job), job.State)
		case errors.Is(err, onerow.ErrNotFound):
			return "", notFound("There is no parked row %d; perhaps its job was retried meanwhile.", id)
		case err != nil:
			return "", notDone(id, err)
		}
		return fmt.Sprintf(told, job.ID, output.RowName(job), job.State), nil
	}
}

// notDone says in the page's words why nothing was done about a job.
func notDone(id int64, err error) error {
	switch {
	case errors.Is(err, queue.ErrNoJob):
		return notFound("There is no job %d.", id)
	case errors.Is(err, queue.ErrOpenJob):
		return fmt.Errorf("it is not needed any more: the newer %w for the same row is open and does its work", output.Detail(err, queue.ErrOpenJob))
	}
	return err
}

func (p *Page) pauseJob(ctx context.Context, r *http.Request, id int64) (string, error) {
	return p.onJob("Job %[1]d (%[2]s) is paused.", "job %[1]d is %[3]s: no worker takes it", func(ctx context.Context, db onerow.DB, id int64) (queue.Job, error) {
		return queue.PauseJob(ctx, db, id, reasonOf(r))
	})(ctx, r, id)
}

func (p *Page) pause(ctx context.Context, r *http.Request, _ int64) (string, error) {
	return "Paused: every worker on this database stops after its batch, within a second or so.", admin.Pause(ctx, p.db, "", cmp.Or(reasonOf(r), "paused on the page"))
}

func (p *Page) resume(ctx context.Context, _ *http.Request, _ int64) (string, error) {
	return "Resumed: the workers go on.", admin.Resume(ctx, p.db, "")
}

func (p *Page) pauseResource(ctx context.Context, r *http.Request, _ int64) (string, error) {
	resource := r.PostFormValue("resource")
	if _, err := p.plan.Node(resource); err != nil {
		return "", err
	}
	return "Jobs of " + output.Printable(resource) + " are paused.", admin.Pause(ctx, p.db, resource, reasonOf(r))
}

// resumeResource takes any name: a plan may have lost a resource that is paused.
func (p *Page) resumeResource(ctx context.Context, r *http.Request, _ int64) (string, error) {
	resource := r.PostFormValue("resource")
	if resource == "" {
		return "", errors.New("no resource is named")
	}
	return "Jobs of " + output.Printable(resource) + " are worked.", admin.Resume(ctx, p.db, resource)
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
	return capital(undo.Told(back)) + "." + p.deleted(ctx, job), nil
}

// deleted is what a job that was ended had done, to be said behind the rest; empty: nothing.
func (p *Page) deleted(ctx context.Context, job queue.Job) string {
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
		return "", notDone(id, err)
	}
	text := fmt.Sprintf("Job %d (%s) is cancelled", job.ID, output.RowName(job))
	if back.Changed {
		text += "; " + undo.Told(back)
	}
	return text + "." + p.deleted(ctx, job), nil
}

// expireTrash has what a job has put into the trash go.
func (p *Page) expireTrash(ctx context.Context, _ *http.Request, id int64) (string, error) {
	steps, err := admin.ExpireTrash(ctx, p.db, id)
	if err != nil {
		return "", err
	}
	if steps == 0 {
		return "", notFound("Nothing of job %d is in the trash.", id)
	}
	return fmt.Sprintf("The trash of job %d is given up: workers remove it.", id), nil
}
