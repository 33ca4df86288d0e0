package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/schema"
)

//go:embed web/*.html
var templates embed.FS

// static are the files that pages are made of. There is none from elsewhere.
//
//go:embed web/*.css web/*.js web/*.svg
var static embed.FS

// Page is the operator's page.
type Page struct {
	http.Handler

	db             *sql.DB
	plan           schema.Plan
	name, database string
	prefix         string
	local          bool
	tokens         map[string]string // names by secret
	log            *slog.Logger
	countBudget    time.Duration

	pages       *template.Template
	version     string // of the assets
	watch       watcher
	health      health
	sessions    *sessions
	wrongTokens wrongTokens

	counts        byJob[remaining]
	restores      byJob[restoring]
	askedRestores chan restoreAsked
}

// New makes the page, or refuses the options.
func New(o Options) (*Page, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &Page{db: o.DB, plan: o.Plan, name: o.Name, database: o.Database, prefix: o.Prefix, local: o.Local, tokens: maps.Clone(o.Tokens), log: o.Log, countBudget: o.CountBudget,
		watch: watcher{db: o.DB}, health: health{db: o.DB, plan: o.Plan}, sessions: newSessions(o.Name),
		askedRestores: make(chan restoreAsked, 16)}
	if err := p.read(); err != nil {
		return nil, err
	}
	p.Handler = p.routes(o.Metrics)
	return p, nil
}

// read reads the templates, and what the version of the static files is.
func (p *Page) read() (err error) {
	functions := template.FuncMap{"root": func() string { return p.prefix }, "grouped": output.Grouped[int64], "plural": output.Plural[int64], "moment": moment,
		"line": func(text string, most int) string { return output.Shorten(output.OneLine(text), most) }}
	if p.pages, err = template.New("").Funcs(functions).ParseFS(templates, "web/*.html"); err != nil {
		return err
	}
	sum := sha256.New()
	err = fs.WalkDir(static, "web", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := static.ReadFile(path)
		sum.Write(body)
		return err
	})
	p.version = hex.EncodeToString(sum.Sum(nil))[:12]
	return err
}

// Run does what goes on beside the requests: it counts what is left of the jobs that somebody looks at, and
// brings back what was asked for. It returns when ctx has ended and all that is left as it may be left: a
// restore ends after its batch.
func (p *Page) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { p.count(ctx, false) })
	all.Go(func() { p.count(ctx, true) })
	all.Go(func() { p.restore(ctx) })
	all.Wait()
}

func (p *Page) routes(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", p.healthz)
	mux.HandleFunc("GET /readyz", p.readyz)
	if metrics != nil {
		mux.Handle("GET /metrics", metrics)
	}
	mux.HandleFunc("GET /static/{name}", p.staticFile)
	mux.HandleFunc("GET /{$}", p.show("home", p.home))
	mux.HandleFunc("GET /live", p.show("board", p.home))
	mux.HandleFunc("GET /login", p.showLogin)
	mux.HandleFunc("POST /login", p.login)
	mux.HandleFunc("POST /logout", p.logout)
	mux.HandleFunc("GET /jobs/{id}", p.show("jobreport", p.oneJob))
	mux.HandleFunc("GET /jobs/{id}/live", p.show("jobboard", p.oneJob))
	mux.HandleFunc("GET /search", p.search)
	mux.HandleFunc("GET /trash", p.show("trash", p.trash))
	mux.HandleFunc("GET /delete", p.show("delete", p.whatGoes))
	for path, question := range map[string]question{
		"/jobs/{id}/undo": p.questionUndo, "/jobs/{id}/cancel": p.questionCancel, "/jobs/{id}/restore": p.questionRestore, "/jobs/{id}/expire": p.questionExpire,
		"/errors/{digest}/skip": p.questionSkip,
	} {
		mux.HandleFunc("GET "+path, p.ask(question))
	}
	for path, action := range map[string]action{
		"/pause": p.pause, "/resume": p.resume, "/pause-resource": p.pauseResource, "/resume-resource": p.resumeResource, "/settings": p.set, "/settings/default": p.setDefault, "/enqueue": p.enqueue,
		"/jobs/{id}/retry":  p.onJob("Job %[1]d (%[2]s) is tried again.", "job %[1]d is %[3]s, so there is nothing to retry: somebody was faster", queue.Retry),
		"/jobs/{id}/pause":  p.pauseJob,
		"/jobs/{id}/resume": p.onJob("Job %[1]d (%[2]s) is %[3]s.", "job %[1]d is %[3]s: no worker takes it", queue.ResumeJob),
		"/jobs/{id}/first":  p.onJob("Job %[1]d (%[2]s) is the next one.", "job %[1]d does not wait for a worker any more: it is %[3]s", queue.PutFirst),
		"/jobs/{id}/undo":   p.undoJob, "/jobs/{id}/cancel": p.cancelJob, "/jobs/{id}/restore": p.askRestore, "/jobs/{id}/expire": p.expireTrash,
		"/parked/{id}/retry":     p.onJob("The row is tried again with job %[1]d (%[2]s).", "job %[1]d is %[3]s", queue.RetryParked),
		"/parked/{id}/skip":      p.onJob("The row is skipped: it stays, and so does what is above it. Job %[1]d is %[3]s.", "job %[1]d is %[3]s", queue.SkipParked),
		"/errors/{digest}/retry": p.retryAll, "/errors/{digest}/skip": p.skipAll,
	} {
		mux.HandleFunc("POST "+path, p.act(action))
	}
	return p.guard(p.lost(mux))
}

const nothingHere = "There is nothing at this address."

// lost answers what no route takes in the page's own words.
func (p *Page) lost(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			other := *r
			other.Method = method
			if _, pattern := mux.Handler(&other); pattern != "" {
				allowed = append(allowed, method)
			}
		}
		if allow := strings.Join(allowed, ", "); allow != "" {
			w.Header().Set("Allow", allow)
			p.fail(w, r, http.StatusMethodNotAllowed, "This address takes "+allow+" only.")
			return
		}
		p.fail(w, r, http.StatusNotFound, nothingHere)
	})
}

// layout is what each page has around its content.
type layout struct {
	Title    string
	Version  string // of the static files
	Database string
	Worker   string
	Token    bool   // one can sign out
	In       bool   // signed in, or nobody has to
	Act      bool   // there are buttons
	Live     string // where what is kept up to date comes from; "" for a page that is not
	Query    string // what is searched for
	Path     string // of the page, for the way back
	Flash    *flash
	Content  any
}

// render sends a page in one piece, so that neither an error in a template nor a slow
// client meets a half one.
func (p *Page) render(w http.ResponseWriter, r *http.Request, status int, name string, content any) {
	if strings.HasSuffix(name, "board") { // a part of a page
		p.send(w, r, status, name, content)
		return
	}
	l := layout{Version: p.version, Token: len(p.tokens) > 0, In: p.entitled(r), Act: p.mayAct(), Path: r.URL.Path, Content: content}
	if l.In {
		l.Database, l.Worker = p.database, output.Printable(p.name)
	}
	switch c := content.(type) {
	case boardView:
		l.Live = "/live"
	case reportView:
		l.Live, l.Title = jobPath(c.ID)+"/live", c.Row
	case searchView:
		l.Query, l.Title = c.Query, c.Query
	case trashView:
		l.Title = "Trash"
	}
	if status == http.StatusOK && r.Method == http.MethodGet {
		l.Flash = p.takeFlash(w, r)
	}
	p.send(w, r, status, name, l)
}

func (p *Page) send(w http.ResponseWriter, r *http.Request, status int, name string, content any) {
	var text bytes.Buffer
	if err := p.pages.ExecuteTemplate(&text, name, content); err != nil {
		p.log.ErrorContext(r.Context(), "page: template", "name", name, "error", err)
		http.Error(w, "The page cannot be shown: see the worker's log.", http.StatusInternalServerError)
		return
	}
	if strings.HasSuffix(name, "board") {
		sum := sha256.Sum256(text.Bytes())
		tag := `"` + hex.EncodeToString(sum[:12]) + `"`
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	if _, err := w.Write(text.Bytes()); err != nil {
		p.log.DebugContext(r.Context(), "page: the client is gone", "error", err)
	}
}

type errorView struct {
	Status  int
	Message string
}

// fail answers with an error: a page for people, a line for programs.
func (p *Page) fail(w http.ResponseWriter, r *http.Request, status int, message string) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, message, status)
		return
	}
	p.render(w, r, status, "error", errorView{Status: status, Message: message})
}

// staticTypes are those of the files that pages refer to.
var staticTypes = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// staticFile is asked for with the version, so it can be kept.
func (p *Page) staticFile(w http.ResponseWriter, r *http.Request) {
	name := "web/" + r.PathValue("name")
	if _, err := fs.Stat(static, name); err != nil {
		p.fail(w, r, http.StatusNotFound, nothingHere)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", staticTypes[path.Ext(name)]) // not what the machine's own table says
	http.ServeFileFS(w, r, static, name)
}

// form parses a post's body, within its limit.
func (p *Page) form(w http.ResponseWriter, r *http.Request) bool {
	err := r.ParseForm()
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		p.fail(w, r, http.StatusRequestEntityTooLarge, fmt.Sprintf("That was more than %d bytes.", maxBody))
	case err != nil:
		p.fail(w, r, http.StatusBadRequest, "That form cannot be read.")
	}
	return err == nil
}
