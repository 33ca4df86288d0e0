package page

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/schema"
)

//go:embed web
var webFiles embed.FS

// Page is the operator's page, an [http.Handler].
type Page struct {
	db             *sql.DB
	plan           schema.Plan
	name, database string
	prefix         string
	local          bool
	tokens         []Token
	log            *slog.Logger
	countBudget    time.Duration
	handler        http.Handler

	pages    *template.Template
	assets   map[string]asset
	version  string // of the assets
	watch    *watcher
	health   *health
	counts   *counts
	restores *restores
	sessions *sessions
	wrongs   wrongs
}

// asset is a static file. There is none from elsewhere.
type asset struct {
	kind string
	body []byte
}

var assetKinds = map[string]string{"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}

// New makes the page. Errors: [ErrInvalidOptions].
func New(o Options) (*Page, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	p := &Page{db: o.DB, plan: o.Plan, name: o.Name, database: o.Database, prefix: o.Prefix, local: o.Local, tokens: slices.Clone(o.Tokens), log: o.Log, countBudget: o.CountBudget,
		assets: map[string]asset{}, watch: newWatcher(o.DB), health: &health{db: o.DB, plan: o.Plan}, counts: newCounts(), restores: newRestores(), sessions: newSessions(o.Name)}
	if err := p.read(); err != nil {
		return nil, err
	}
	p.handler = p.routes(o.Metrics)
	return p, nil
}

// read reads the templates and the static files, which are part of the program.
func (p *Page) read() (err error) {
	functions := template.FuncMap{"root": func() string { return p.prefix }, "grouped": output.Grouped[int64], "plural": output.Plural[int64], "span": span}
	if p.pages, err = template.New("").Funcs(functions).ParseFS(webFiles, "web/*.html"); err != nil {
		return err
	}
	sum := sha256.New()
	return fs.WalkDir(webFiles, "web", func(path string, entry fs.DirEntry, err error) error {
		name := strings.TrimPrefix(path, "web/")
		_, ending, _ := strings.Cut(name, ".")
		kind, static := assetKinds[ending]
		if err != nil || entry.IsDir() || !static {
			return err
		}
		body, err := webFiles.ReadFile(path)
		p.assets[name] = asset{kind: kind, body: body}
		sum.Write(body)
		p.version = hex.EncodeToString(sum.Sum(nil))[:12]
		return err
	})
}

// ServeHTTP answers a request.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// routes has every route.
func (p *Page) routes(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", p.healthz)
	mux.HandleFunc("GET /readyz", p.readyz)
	if metrics != nil {
		mux.Handle("GET /metrics", metrics)
	}
	mux.HandleFunc("GET /static/{name}", p.static)
	mux.HandleFunc("GET /{$}", p.home)
	mux.HandleFunc("GET /live", p.live)
	mux.HandleFunc("GET /login", p.showLogin)
	mux.HandleFunc("POST /login", p.login)
	mux.HandleFunc("POST /logout", p.logout)
	mux.HandleFunc("GET /jobs/{id}", p.showJob)
	mux.HandleFunc("GET /jobs/{id}/live", p.liveJob)
	mux.HandleFunc("GET /search", p.search)
	mux.HandleFunc("GET /trash", p.trash)
	mux.HandleFunc("GET /delete", p.showDelete)
	for path, question := range map[string]question{
		"/jobs/{id}/undo": p.questionUndo, "/jobs/{id}/cancel": p.questionCancel, "/jobs/{id}/restore": p.questionRestore, "/jobs/{id}/expire": p.questionExpire,
		"/errors/{digest}/skip": p.questionSkip,
	} {
		mux.HandleFunc("GET "+path, p.ask(question))
	}
	for path, deed := range map[string]deed{
		"/pause": p.pause, "/resume": p.resume, "/pause-resource": p.pauseResource, "/resume-resource": p.resumeResource, "/settings": p.set, "/settings/default": p.setDefault, "/enqueue": p.enqueue,
		"/jobs/{id}/retry": p.retryJob, "/jobs/{id}/count": p.askCount, "/jobs/{id}/pause": p.pauseJob, "/jobs/{id}/resume": p.resumeJob, "/jobs/{id}/first": p.putFirst,
		"/jobs/{id}/undo": p.undoJob, "/jobs/{id}/cancel": p.cancelJob, "/jobs/{id}/restore": p.askRestore, "/jobs/{id}/expire": p.expireTrash,
		"/parked/{id}/retry": p.retryRow, "/parked/{id}/skip": p.skipRow, "/errors/{digest}/retry": p.retryAll, "/errors/{digest}/skip": p.skipAll,
	} {
		mux.HandleFunc("POST "+path, p.act(deed))
	}
	return p.guard(p.lost(mux))
}

// lost answers what no route takes in the page's own words.
func (p *Page) lost(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		// The mux knows what is allowed here; its answer is only used for that.
		probe := &answer{header: http.Header{}}
		mux.ServeHTTP(probe, r)
		if allow := probe.header.Get("Allow"); probe.status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", allow)
			p.fail(w, r, http.StatusMethodNotAllowed, "This address takes "+allow+" only.")
			return
		}
		p.fail(w, r, http.StatusNotFound, "There is nothing at this address.")
	})
}

// answer keeps what a handler would have said, but for the body.
type answer struct {
	header http.Header
	status int
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return len(b), nil }

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

// static files are asked for with their version, so they can be kept.
func (p *Page) static(w http.ResponseWriter, r *http.Request) {
	file, found := p.assets[r.PathValue("name")]
	if !found {
		p.fail(w, r, http.StatusNotFound, "There is nothing at this address.")
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", file.kind)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.body))
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
