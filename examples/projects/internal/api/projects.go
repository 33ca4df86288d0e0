package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/schema"
)

// list is a page of a list; next is null on the last one.
type list[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

func orNull(next string) *string {
	if next == "" {
		return nil
	}
	return &next
}

const (
	defaultLimit = 50
	maxLimit     = 500
)

func limit(r *http.Request) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxLimit {
		return 0, problem.New(http.StatusBadRequest, "limit must be a number from 1 to %d.", maxLimit)
	}
	return n, nil
}

// paging reads the parameters of a list.
func paging(r *http.Request) (state schema.State, cursor string, n int, err error) {
	state = schema.State(r.URL.Query().Get("state"))
	if state == "" {
		state = schema.Active
	}
	if state != schema.Active && state != schema.Archived {
		return "", "", 0, problem.New(http.StatusBadRequest, "state must be %q or %q.", schema.Active, schema.Archived)
	}
	n, err = limit(r)
	return state, r.URL.Query().Get("cursor"), n, err
}

// maxRequestID is the longest Idempotency-Key, in bytes.
const maxRequestID = 255

func requestID(r *http.Request) (string, error) {
	keys := r.Header.Values("Idempotency-Key")
	switch {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1:
		return "", problem.New(http.StatusBadRequest, "There are %d Idempotency-Key headers; send one.", len(keys))
	case keys[0] == "" || len(keys[0]) > maxRequestID:
		return "", problem.New(http.StatusBadRequest, "An Idempotency-Key has 1 to %d bytes, this one has %d.", maxRequestID, len(keys[0]))
	}
	return keys[0], nil
}

func projectName(w http.ResponseWriter, r *http.Request) (string, error) {
	var body struct {
		Name *string `json:"name"`
	}
	if err := decode(w, r, &body); err != nil {
		return "", err
	}
	return field("name", body.Name)
}

func (a *API) createProject(w http.ResponseWriter, r *http.Request) error {
	userID, err := id(r)
	if err != nil {
		return err
	}
	key, err := requestID(r)
	if err != nil {
		return err
	}
	name, err := projectName(w, r)
	if err != nil {
		return err
	}
	res, err := a.store.CreateProject(r.Context(), userID, name, key)
	if err != nil {
		return err
	}
	if res.Replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	w.Header().Set("Location", "/api/projects/"+strconv.FormatInt(res.Row.ID, 10))
	return reply(w, http.StatusCreated, res.Row)
}

func (a *API) listProjects(w http.ResponseWriter, r *http.Request) error {
	userID, err := id(r)
	if err != nil {
		return err
	}
	state, cursor, n, err := paging(r)
	if err != nil {
		return err
	}
	page, err := a.store.Projects(r.Context(), userID, state, cursor, n)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, list[store.Project]{page.Items, orNull(string(page.Next))})
}

func (a *API) renameProject(w http.ResponseWriter, r *http.Request) error {
	projectID, err := id(r)
	if err != nil {
		return err
	}
	name, err := projectName(w, r)
	if err != nil {
		return err
	}
	p, err := a.store.RenameProject(r.Context(), projectID, name)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, p)
}

// one answers with what a verb makes of the project in the path.
func (a *API) one(w http.ResponseWriter, r *http.Request, verb func(context.Context, int64) (store.Project, error)) error {
	projectID, err := id(r)
	if err != nil {
		return err
	}
	p, err := verb(r.Context(), projectID)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, p)
}

func (a *API) getProject(w http.ResponseWriter, r *http.Request) error {
	return a.one(w, r, a.store.Project)
}

func (a *API) archiveProject(w http.ResponseWriter, r *http.Request) error {
	return a.one(w, r, a.store.ArchiveProject)
}

func (a *API) activateProject(w http.ResponseWriter, r *http.Request) error {
	return a.one(w, r, a.store.ActivateProject)
}

func (a *API) cancelDelete(w http.ResponseWriter, r *http.Request) error {
	return a.one(w, r, a.store.CancelDelete)
}

func (a *API) deleteProject(w http.ResponseWriter, r *http.Request) error {
	projectID, err := id(r)
	if err != nil {
		return err
	}
	d, err := grace(r)
	if err != nil {
		return err
	}
	del, err := a.store.DeleteProject(r.Context(), projectID, d)
	if err != nil {
		return err
	}
	if del.JobID == 0 {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	w.Header().Set("Location", "/api/jobs/"+strconv.FormatInt(del.JobID, 10))
	return reply(w, http.StatusAccepted, map[string]int64{"job_id": del.JobID})
}

func (a *API) getJob(w http.ResponseWriter, r *http.Request) error {
	jobID, err := id(r)
	if err != nil {
		return err
	}
	job, err := a.store.Job(r.Context(), jobID)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, job)
}
