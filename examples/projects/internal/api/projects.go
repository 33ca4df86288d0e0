package api

import (
	"net/http"
	"strconv"

	"github.com/onerow/onerow/examples/projects/internal/problem"
)

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
