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
	"net/http"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/onerow/onerow/cascade/internal/output"
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
	tokens         map[string]caller // by secret
	proxies        []netip.Prefix
	proxyUser      string // their header
	log            *slog.Logger
	countBudget    time.Duration

	pages       *template.Template
	version     string // of the assets
	watch       watcher
	health      health
	history     history
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
	p := &Page{db: o.DB, plan: o.Plan, name: o.Name, database: o.Database, prefix: o.Prefix, local: o.Local, tokens: o.callers(), proxyUser: o.ProxyUser, log: o.Log, countBudget: o.CountBudget,
		watch: watcher{db: o.DB}, health: health{db: o.DB, plan: o.Plan}, sessions: newSessions(o.Name),
		askedRestores: make(chan restoreAsked, 16)}
	for _, prefix := range o.Proxies {
		p.proxies = append(p.proxies, unmapped(prefix))
	}
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

// Run does what goes on beside the requests: it counts what is left of the jobs that somebody looks at,
// brings back what was asked for, and remembers once a minute what the queue is like. It returns when ctx has
// ended and all that is left as it may be left: a restore ends after its batch.
func (p *Page) Run(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { p.count(ctx, false) })
	all.Go(func() { p.count(ctx, true) })
	all.Go(func() { p.restore(ctx) })
	all.Go(func() { p.remember(ctx) })
	all.Wait()
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
	Who      string // by the token's name, or the proxy's word
	Live     string // where what is kept up to date comes from; "" for a page that is not
	Query    string // what is searched for
	Path     string // of the page, for the way back
	Section  string // the path of the page that it belongs to, if that is another
	Pages    []pageLink
	Flash    *flash
	Content  any
}

// pageLink leads to a page from everywhere.
type pageLink struct{ Path, Name string }

func pageLinks(act bool) []pageLink {
	links := []pageLink{{"/", "Jobs"}, {"/trash", "Trash"}, {"/retention", "Retention"}, {"/keys", "Keys"}, {"/serials", "Serials"}, {"/limits", "Limits"}, {"/letters", "Dead letters"}}
	if act {
		links = append(links, pageLink{"/delete", "Delete…"})
	}
	return links
}

// render sends a page in one piece, so that neither an error in a template nor a slow
// client meets a half one.
func (p *Page) render(w http.ResponseWriter, r *http.Request, status int, name string, content any) {
	if strings.HasSuffix(name, "board") { // a part of a page
		p.send(w, r, status, name, content)
		return
	}
	c, in := p.who(r)
	l := layout{Version: p.version, Token: c.out, In: in, Act: in && c.act, Who: c.name, Path: r.URL.Path, Content: content}
	if l.In {
		l.Database, l.Worker, l.Pages = p.database, output.Printable(p.name), pageLinks(l.Act)
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
	case retentionView:
		l.Title = "Retention"
	case keysView, keyView:
		l.Title, l.Section = "Keys", "/keys"
	case serialsView, seriesView:
		l.Title, l.Section = "Serials", "/serials"
	case limitsView:
		l.Title = "Limits"
	case lettersView:
		l.Title = "Dead letters"
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
	http.ServeFileFS(w, r, static, name)                        //nolint:gosec // static is what is embedded; there is no way out of it
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
