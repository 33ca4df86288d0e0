package pages

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

const projectsPerPage = 50

type userData struct {
	User         store.User
	State        schema.State
	Page         repo.Page[store.Project]
	First        bool // the list's first page
	Active, Over int
	Limit        int
	Unlimited    bool
	Deletion     *deletion
	RequestID    string // makes a form that is sent twice one project
	Name, Error  string
	ExistingID   int64
}

func (p *Pages) user(w http.ResponseWriter, r *http.Request) error {
	return p.showUser(w, r, http.StatusOK, userData{})
}

func (p *Pages) showUser(w http.ResponseWriter, r *http.Request, status int, data userData) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	ctx, query := r.Context(), r.URL.Query()
	if data.User, err = p.store.User(ctx, id); err != nil {
		return err
	}
	data.State = state(r)
	data.First = query.Get("cursor") == ""
	if data.Page, err = p.store.Projects(ctx, id, data.State, query.Get("cursor"), projectsPerPage); err != nil {
		return err
	}
	if data.Active, data.Over, err = p.store.Usage(ctx, id); err != nil {
		return err
	}
	if limit, ok := data.User.Plan.Limit(); ok {
		data.Limit, data.Unlimited = limit, limit == quota.Unlimited
	}
	if data.Deletion, err = p.deletion(ctx, query.Get("job"), id); err != nil {
		return err
	}
	if data.RequestID == "" {
		data.RequestID = rand.Text()
	}
	return p.render(w, r, status, "user", data.User.Name, data)
}

func state(r *http.Request) schema.State {
	if r.URL.Query().Get("state") == string(schema.Archived) {
		return schema.Archived
	}
	return schema.Active
}

// deletion is what the bar about a deletion shows.
type deletion struct {
	Job       queue.Job
	ProjectID int64
	Name      string // empty when the row is gone
	Undoable  bool
}

// deletion reads the job that the address names; nil where it names none, or one
// of another account's.
func (p *Pages) deletion(ctx context.Context, text string, userID int64) (*deletion, error) {
	jobID, err := strconv.ParseInt(text, 10, 64)
	if text == "" || err != nil {
		return nil, nil //nolint:nilerr,nilnil // no such job: nothing to show
	}
	d, owner, err := p.readDeletion(ctx, jobID)
	if errors.Is(err, queue.ErrNoJob) || err == nil && owner != 0 && owner != userID {
		return nil, nil //nolint:nilnil // as above
	}
	return d, err
}

// readDeletion reads a job and, while it is there, the row that it deletes.
func (p *Pages) readDeletion(ctx context.Context, jobID int64) (d *deletion, owner int64, err error) {
	job, err := p.store.Job(ctx, jobID)
	if err != nil {
		return nil, 0, err
	}
	d = &deletion{Job: job, Undoable: (job.State == queue.Scheduled || job.State == queue.Held) && job.Resource == store.ResourceProject}
	parts, err := onerow.DecodeKey(job.ResourceID)
	if err != nil {
		return nil, 0, err
	}
	projectID, isInt := parts[0].(int64)
	if !isInt || job.Resource != store.ResourceProject {
		return d, 0, nil
	}
	d.ProjectID = projectID
	owner, d.Name, err = p.store.Trash(ctx, projectID)
	if errors.Is(err, onerow.ErrNotFound) {
		err = nil
	}
	return d, owner, err
}

func (p *Pages) setPlan(w http.ResponseWriter, r *http.Request) error {
	id, err := posted(w, r)
	if err != nil {
		return err
	}
	u, err := p.store.SetTier(r.Context(), id, store.Tier(r.PostForm.Get("plan")))
	if err != nil {
		return err
	}
	return p.redirect(w, r, good("The plan is now "+string(u.Plan)+"."), "/users/%d", id)
}

func (p *Pages) createProject(w http.ResponseWriter, r *http.Request) error {
	id, err := posted(w, r)
	if err != nil {
		return err
	}
	name, requestID := r.PostForm.Get("name"), r.PostForm.Get("request_id")
	if len(requestID) > 255 {
		return problem.New(http.StatusBadRequest, "The form was changed on its way.")
	}
	res, err := p.store.CreateProject(r.Context(), id, name, requestID)
	switch {
	case errors.Is(err, repo.ErrRequestMismatch), errors.Is(err, repo.ErrGone):
		return p.redirect(w, r, bad("This form was sent before. Please fill in the new one."), "/users/%d", id)
	case err != nil:
		what := problem.From(err)
		if what.Status >= http.StatusInternalServerError || errors.Is(err, onerow.ErrNotFound) {
			return err
		}
		return p.showUser(w, r, what.Status, userData{Name: name, Error: what.Detail, ExistingID: what.ExistingID, RequestID: requestID})
	}
	text := "Created “" + isolated(res.Row.Name) + "”."
	if res.Row.IsOverQuota {
		text += " It is over the quota of the plan."
	}
	return p.redirect(w, r, good(text), "/users/%d", id)
}
