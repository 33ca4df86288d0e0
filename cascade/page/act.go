package page

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/admin"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
)

// actTimeout is what a button may take. Batches hold a job's row for moments only.
const actTimeout = 15 * time.Second

// maxReason is what the columns of reasons take.
const maxReason = 200

// errGone: what the button was about is not there any more.
var errGone = errors.New("gone")

// deed does what a button says and returns what to tell.
type deed func(ctx context.Context, r *http.Request, id int64) (string, error)

// act makes a handler of a deed: it parses the form, does it, and sends the browser back
// to the page with a message. What is not there is a 404.
func (p *Page) act(do deed) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !p.mayAct() {
			p.fail(w, r, http.StatusForbidden, "This page only shows: without a token nobody but this machine itself may act. Start the worker with "+output.EnvToken+".")
			return
		}
		if !p.form(w, r) {
			return
		}
		var id int64
		if text := r.PathValue("id"); text != "" {
			var err error
			if id, err = strconv.ParseInt(text, 10, 64); err != nil || id < 1 {
				p.fail(w, r, http.StatusNotFound, "There is nothing at this address.")
				return
			}
		}
		ctx, cancel := context.WithTimeout(queue.WithActor(r.Context(), p.actor(r), reasonOf(r)), actTimeout)
		defer cancel()
		done, err := do(ctx, r, id)
		p.watch.changed()
		switch {
		case errors.Is(err, errGone):
			p.fail(w, r, http.StatusNotFound, err.Error())
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

// actor is who has used a button, as far as is known: by the token's name, or by the address.
func (p *Page) actor(r *http.Request) string {
	if name, _ := p.who(r); name != "" {
		return name + " (page)"
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

// goneError is errGone with a sentence.
type goneError string

func (e goneError) Error() string        { return string(e) }
func (e goneError) Is(target error) bool { return target == errGone }

func capital(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func (p *Page) pause(ctx context.Context, r *http.Request, _ int64) (string, error) {
	reason := reasonOf(r)
	if reason == "" {
		reason = "paused on the page"
	}
	if err := admin.Pause(ctx, p.db, "", reason); err != nil {
		return "", err
	}
	return "Paused: every worker on this database stops after its batch, within a second or so.", nil
}

func (p *Page) resume(ctx context.Context, _ *http.Request, _ int64) (string, error) {
	if err := admin.Resume(ctx, p.db, ""); err != nil {
		return "", err
	}
	return "Resumed: the workers go on.", nil
}

func (p *Page) retryJob(ctx context.Context, _ *http.Request, id int64) (string, error) {
	job, err := queue.Retry(ctx, p.db, id)
	if errors.Is(err, queue.ErrWrongState) {
		return "", fmt.Errorf("job %d is %s, so there is nothing to retry: somebody was faster", id, job.State)
	}
	if err != nil {
		return "", jobError(id, err)
	}
	return fmt.Sprintf("Job %d (%s) is tried again.", job.ID, output.RowName(job)), nil
}

// jobError says in the page's words why a job cannot be retried.
func jobError(id int64, err error) error {
	switch {
	case errors.Is(err, queue.ErrNoJob):
		return goneError(fmt.Sprintf("There is no job %d.", id))
	case errors.Is(err, queue.ErrOpenJob):
		return fmt.Errorf("job %d is not needed any more: the newer %s for the same row is open and does its work", id, output.Detail(err, queue.ErrOpenJob))
	}
	return err
}

func (p *Page) retryRow(ctx context.Context, _ *http.Request, id int64) (string, error) {
	job, err := queue.RetryParked(ctx, p.db, id)
	if err != nil {
		return "", rowError(id, err)
	}
	return fmt.Sprintf("The row is tried again with job %d (%s).", job.ID, output.RowName(job)), nil
}

func (p *Page) skipRow(ctx context.Context, _ *http.Request, id int64) (string, error) {
	job, err := queue.SkipParked(ctx, p.db, id)
	if err != nil {
		return "", rowError(id, err)
	}
	return fmt.Sprintf("The row is skipped: it stays, and so does what is above it. Job %d is %s.", job.ID, job.State), nil
}

// rowError says in the page's words why nothing was done about a parked row.
func rowError(id int64, err error) error {
	if errors.Is(err, queue.ErrNoParked) {
		return goneError(fmt.Sprintf("There is no parked row %d; perhaps its job was retried meanwhile.", id))
	}
	return jobError(id, err)
}
