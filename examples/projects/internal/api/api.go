package api

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/examples/projects/internal/web"
)

// API answers the requests below /api and /healthz.
type API struct {
	store     *store.Store
	log       *slog.Logger
	maxUpload int64
}

// New returns the interface to a store. maxUpload is the largest file, in bytes.
func New(s *store.Store, log *slog.Logger, maxUpload int64) *API {
	return &API{store: s, log: log, maxUpload: maxUpload}
}

// handler is one endpoint. What it returns as an error is answered as a problem.
type handler func(w http.ResponseWriter, r *http.Request) error

// methods are the endpoints under one path.
type methods map[string]handler

// Register adds the interface's paths to mux.
func (a *API) Register(mux *http.ServeMux) {
	for path, m := range map[string]methods{
		"/healthz":                              {"GET": a.health},
		"/api/users":                            {"GET": a.listUsers, "POST": a.createUser},
		"/api/users/{id}/plan":                  {"PUT": a.setPlan},
		"/api/users/{id}/projects":              {"GET": many(a.store.Projects, as), "POST": a.createProject},
		"/api/projects/{id}":                    {"GET": one(a.store.Project), "PATCH": a.renameProject, "DELETE": a.deleteProject},
		"/api/projects/{id}/archive":            {"POST": one(a.store.ArchiveProject)},
		"/api/projects/{id}/activate":           {"POST": one(a.store.ActivateProject)},
		"/api/projects/{id}/cancel-delete":      {"POST": one(a.store.CancelDelete)},
		"/api/projects/{id}/screens":            {"GET": many(a.store.Screens, screenOf)},
		"/api/projects/{id}/screens/{$}":        {"GET": a.noName, "PUT": a.noName},
		"/api/projects/{id}/screens/{filename}": {"GET": a.findScreen, "PUT": a.upload},
		"/api/screens/{id}/archive":             {"POST": screen(a.store.ArchiveScreen)},
		"/api/screens/{id}/activate":            {"POST": screen(a.store.ActivateScreen)},
		"/api/screens/{id}/comments":            {"GET": many(a.comments, as), "POST": a.addComment},
		"/api/jobs/{id}":                        {"GET": one(a.store.Job)},
	} {
		mux.Handle(path, a.dispatch(m))
	}
	mux.Handle("/api/", a.handle(func(http.ResponseWriter, *http.Request) error {
		return problem.New(http.StatusNotFound, "There is no such address. The documentation of examples/projects/internal/api lists all of them.")
	}))
}

// dispatch chooses by method; HEAD is GET without a body.
func (a *API) dispatch(m methods) http.Handler {
	var allowed []string
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"} {
		if m[method] != nil || method == "HEAD" && m["GET"] != nil {
			allowed = append(allowed, method)
		}
	}
	return a.handle(func(w http.ResponseWriter, r *http.Request) error {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		if h := m[method]; h != nil {
			return h(w, r)
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		return problem.New(http.StatusMethodNotAllowed, "This address does not know %q, only %s.", r.Method, strings.Join(allowed, ", "))
	})
}

// handle turns errors into problems.
func (a *API) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			web.WriteProblem(w, r, a.log, err)
		}
	})
}

func (a *API) health(w http.ResponseWriter, r *http.Request) error {
	if err := a.store.Ping(r.Context()); err != nil {
		return err
	}
	return reply(w, http.StatusOK, map[string]string{"status": "ok"})
}

// id is the number in the path. What is no number names nothing.
func id(r *http.Request) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || n <= 0 {
		return 0, problem.New(http.StatusNotFound, "The id in the address is not a positive number.")
	}
	return n, nil
}

// grace is the parameter of a delete.
func grace(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("grace")
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > 24*time.Hour {
		return 0, problem.New(http.StatusBadRequest, "grace must be a duration from 0s to 24h, such as 30s.")
	}
	return d, nil
}
