package page

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/undo"
	"github.com/onerow/onerow/cascade/queue"
)

// maxMany is how many jobs one button retries or takes back; it also ends when its time is over.
const maxMany = 500

// many are jobs that one button is about: those that were there when it was asked about. The newest one's id
// travels with the question, so that the answer is about no other.
type many struct {
	state    queue.State
	resource string // "": of any
	newest   int64  // 0: any
}

// list reads them, newest first, maxMany at most; more says that there may be others.
func (m many) list(ctx context.Context, p *Page) (found []queue.Job, more bool, err error) {
	after := int64(0)
	if m.newest > 0 {
		after = m.newest + 1
	}
	for {
		jobs, err := queue.List(ctx, p.db, queue.ListOptions{State: m.state, After: after, Limit: maxMany})
		if err != nil || len(jobs) == 0 {
			return found, false, err
		}
		for _, j := range jobs {
			if after = j.ID; m.resource != "" && j.Resource != m.resource {
				continue
			}
			if len(found) == maxMany {
				return found, true, nil
			}
			found = append(found, j)
		}
	}
}

// asked is what the form of a question says that it was about.
func asked(r *http.Request, state queue.State) many {
	newest, err := strconv.ParseInt(r.FormValue("newest"), 10, 64)
	if err != nil || newest < 0 {
		newest = 0
	}
	return many{state: state, resource: r.FormValue("resource"), newest: newest}
}

// question asks whether all of them are meant, in these words: %s is how many.
func (m many) question(ctx context.Context, p *Page, title string, v askView) (askView, error) {
	jobs, more, err := m.list(ctx, p)
	switch {
	case err != nil:
		return v, err
	case len(jobs) == 0:
		return v, conflict("no job is %s any more", map[bool]string{true: "in its grace period", false: string(m.state)}[m.state == queue.Scheduled])
	}
	n := output.Plural(len(jobs), "job")
	if m.resource != "" {
		n += " of " + output.Printable(m.resource)
	}
	if more {
		n = "the newest " + n
		v.Lines = append(v.Lines, "There are more; ask again for them.")
	}
	first, last := jobs[len(jobs)-1], jobs[0]
	v.Title = fmt.Sprintf(title, n)
	v.Lines = append(v.Lines, fmt.Sprintf("From %s (job %d) to %s (job %d). Each is decided by itself: what somebody changes meanwhile is left, and told.", output.RowName(first), first.ID, output.RowName(last), last.ID))
	v.Hidden = []fact{{"newest", strconv.FormatInt(last.ID, 10)}, {"resource", m.resource}}
	v.Back = "/"
	return v, nil
}

func (p *Page) questionRetryDead(ctx context.Context, r *http.Request, _ int64) (askView, error) {
	return asked(r, queue.Dead).question(ctx, p, "Retry %s?", askView{Action: "/dead/retry", Yes: "Yes, try again", No: "No",
		Lines: []string{"Workers try these dead jobs again, with all their attempts."}})
}

func (p *Page) questionUndoAll(ctx context.Context, r *http.Request, _ int64) (askView, error) {
	if r.FormValue("resource") == "" {
		return askView{}, refusal{http.StatusBadRequest, "Say the jobs of which resource are to be undone."}
	}
	return asked(r, queue.Scheduled).question(ctx, p, "Undo %s?", askView{Action: "/scheduled/cancel", Yes: "Yes, bring them all back", No: "No, leave them",
		Lines: []string{"These deletions are in their grace period. Each row comes back to where it was, with everything below it: nothing was deleted yet."}})
}

// retryDead tries dead jobs again, each by its own statement.
func (p *Page) retryDead(ctx context.Context, r *http.Request, _ int64) (string, error) {
	return asked(r, queue.Dead).each(ctx, p, tally{noun: "job", verb: "tried again"}, func(j queue.Job) error {
		_, err := queue.Retry(ctx, p.db, j.ID)
		return err
	})
}

// undoAll takes deletions of one resource back, each by its own statement: one that has begun goes on.
func (p *Page) undoAll(ctx context.Context, r *http.Request, _ int64) (string, error) {
	m := asked(r, queue.Scheduled)
	if m.resource == "" {
		return "", refusal{http.StatusBadRequest, "No resource is named."}
	}
	return m.each(ctx, p, tally{noun: "deletion", verb: "taken back"}, func(j queue.Job) error {
		if j.DeletionID == 0 {
			return fmt.Errorf("job %d belongs to no logged deletion, so it cannot be taken back", j.ID)
		}
		_, err := undo.Restore(ctx, p.db, p.plan, j.DeletionID)
		return err
	})
}

// each does a verb to all of them, oldest first, until the time is over.
func (m many) each(ctx context.Context, p *Page, all tally, verb func(queue.Job) error) (string, error) {
	jobs, more, err := m.list(ctx, p)
	if err != nil {
		return "", err
	}
	all.more = more
	for i, j := range slices.Backward(jobs) {
		if ctx.Err() != nil {
			all.late = i + 1
			break
		}
		all.add(verb(j))
	}
	return all.told()
}
