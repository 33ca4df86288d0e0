package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/examples/projects/internal/web"
)

//go:embed templates/*.html static/*
var files embed.FS

// Options of the pages.
type Options struct {
	// Grace is how long a deletion can be undone.
	Grace time.Duration
	// MaxUpload is the largest file, in bytes.
	MaxUpload int64
}

// Pages answers the requests of people.
type Pages struct {
	store     *store.Store
	log       *slog.Logger
	opts      Options
	templates map[string]*template.Template
	thumbs    chan struct{} // one token per picture that is being made
}

// thumbsAtOnce bounds the memory that pictures take while they are made.
const thumbsAtOnce = 2

// New parses the templates.
func New(s *store.Store, log *slog.Logger, opts Options) (*Pages, error) {
	p := &Pages{store: s, log: log, opts: opts, templates: map[string]*template.Template{}, thumbs: make(chan struct{}, thumbsAtOnce)}
	version, err := staticVersion()
	if err != nil {
		return nil, err
	}
	layout, err := template.New("layout.html").Funcs(functions(version)).ParseFS(files, "templates/layout.html")
	if err != nil {
		return nil, fmt.Errorf("pages: %w", err)
	}
	for _, name := range []string{"home", "user", "project", "screen", "job", "error"} {
		page, err := layout.Clone()
		if err == nil {
			page, err = page.ParseFS(files, "templates/"+name+".html")
		}
		if err != nil {
			return nil, fmt.Errorf("pages: %w", err)
		}
		p.templates[name] = page
	}
	return p, nil
}

// staticVersion is a hash of the style sheet and the script: it is part of their
// addresses, so that they can be cached for ever.
func staticVersion() (string, error) {
	h := sha256.New()
	for _, name := range []string{"static/app.css", "static/app.js"} {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return "", fmt.Errorf("pages: %w", err)
		}
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}

// handler is one page. What it returns as an error becomes a page, too.
type handler func(w http.ResponseWriter, r *http.Request) error

// Register adds the pages to mux.
func (p *Pages) Register(mux *http.ServeMux) {
	for pattern, h := range map[string]handler{
		"GET /{$}":                         p.home,
		"POST /users":                      p.createUser,
		"GET /users/{id}":                  p.user,
		"POST /users/{id}/plan":            p.setPlan,
		"POST /users/{id}/projects":        p.createProject,
		"GET /projects/{id}":               p.project,
		"POST /projects/{id}/rename":       p.rename,
		"POST /projects/{id}/archive":      p.archive,
		"POST /projects/{id}/activate":     p.activate,
		"POST /projects/{id}/delete":       p.delete,
		"POST /projects/{id}/undo":         p.undo,
		"POST /projects/{id}/screens":      p.upload,
		"GET /screens/{id}":                p.screen,
		"POST /screens/{id}/archive":       p.moveScreen("Archived", p.store.ArchiveScreen),
		"POST /screens/{id}/activate":      p.moveScreen("Activated", p.store.ActivateScreen),
		"POST /screens/{id}/comments":      p.comment,
		"GET /screens/{id}/file/{key}/{n}": p.file,
		"GET /screens/{id}/thumb/{key}":    p.thumb,
		"GET /jobs/{id}":                   p.job,
		"GET /static/{version}/{name}":     p.static,
		"/":                                p.unknown,
	} {
		mux.Handle(pattern, p.handle(h))
	}
}

func (p *Pages) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			p.fail(w, r, err)
		}
	})
}

func (p *Pages) unknown(http.ResponseWriter, *http.Request) error {
	return problem.New(http.StatusNotFound, "There is no page under this address.")
}

// view is what every page gets.
type view struct {
	Title string
	Flash *flash
	Data  any
}

const policy = "default-src 'none'; img-src 'self' blob:; style-src 'self'; script-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// render sends a page, whole or not at all.
func (p *Pages) render(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) error {
	v := view{Title: title, Flash: takeFlash(w, r), Data: data}
	var body bytes.Buffer
	if err := p.templates[name].ExecuteTemplate(&body, "layout.html", v); err != nil {
		return fmt.Errorf("pages: %s: %w", name, err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := body.WriteTo(w); err != nil {
		p.log.DebugContext(r.Context(), "the client is gone", "error", err)
	}
	return nil
}

// fail shows an error as a page.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	view := web.Problem(r, p.log, err)
	if view.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(view.RetryAfter))
	}
	if err := p.render(w, r, view.Status, "error", view.Title, view); err != nil {
		p.log.ErrorContext(r.Context(), "the error page", "error", err)
		http.Error(w, view.Title, view.Status)
	}
}

// redirect sends the browser on after a change.
func (p *Pages) redirect(w http.ResponseWriter, r *http.Request, f *flash, format string, args ...any) error {
	if f != nil {
		putFlash(w, *f)
	}
	http.Redirect(w, r, fmt.Sprintf(format, args...), http.StatusSeeOther) //nolint:gosec // formats of ours, filled with numbers
	return nil
}

// maxForm is the longest form, in bytes.
const maxForm = 256 << 10

// posted reads the id in the path and the fields of the form.
func posted(w http.ResponseWriter, r *http.Request) (id int64, err error) {
	if id, err = pathID(r); err == nil {
		err = form(w, r)
	}
	return id, err
}

// form reads the fields of a form.
func form(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		var tooBig *http.MaxBytesError
		if errors.As(err, &tooBig) {
			return err
		}
		return problem.New(http.StatusBadRequest, "The form cannot be read.")
	}
	return nil
}

func pathID(r *http.Request) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || n <= 0 {
		return 0, problem.New(http.StatusNotFound, "There is no page under this address.")
	}
	return n, nil
}

// move runs a verb on the row in the path.
func move[T any](r *http.Request, verb func(context.Context, int64) (T, error)) (T, error) {
	id, err := pathID(r)
	if err != nil {
		var none T
		return none, err
	}
	return verb(r.Context(), id)
}
