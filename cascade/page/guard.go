package page

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/onerow/onerow/cascade/internal/output"
)

// Who may see and do what, by [Options]:
//
//	Tokens, ReadTokens, Proxies    Local    page, /metrics                   posts
//	any                                     a token, or a name by a proxy    the same, but for ReadTokens
//	none                           true     everybody on it                  everybody on it
//	none                           false    everybody                        nobody
//
// /healthz and /readyz answer everybody and say nothing of the data. A post from another
// site is refused in every case. So is one that does not say where it comes from, unless it has a
// bearer: browsers say it, and send cookies and passwords wherever they are led to, but never a bearer.

// maxBody is what a form may have, in bytes.
const maxBody = 8 << 10

// guard wraps everything: the headers, the body's limit, and who may come in.
func (p *Page) guard(next http.Handler) http.Handler {
	sameSite := http.NewCrossOriginProtection()
	sameSite.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.fail(w, r, http.StatusForbidden, "This came from another site, so nothing was done. Use the buttons of this page.")
	}))
	inner := sameSite.Handler(p.onlyFor(next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		// Not no-referrer: browsers would send "Origin: null" with the page's own posts.
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		if !p.knownHost(r) {
			p.fail(w, r, http.StatusMisdirectedRequest, "Open this page by its address, such as http://127.0.0.1, or start the worker with a token.")
			return
		}
		if !open(r.URL.Path) && !p.entitled(r) {
			p.askToken(w, r)
			return
		}
		said := r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Origin") != ""
		if r.Method == http.MethodPost && !said && !p.byBearer(r) {
			p.fail(w, r, http.StatusForbidden, "This did not say where it comes from (no Origin, no Sec-Fetch-Site), so nothing was done. Use the buttons of this page; a program sends the worker's token as a bearer, "+output.EnvToken+".")
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// byBearer says whether a known token came along as a bearer.
func (p *Page) byBearer(r *http.Request) bool {
	_, known := p.authorized(r)
	return known && given(r) == bearer
}

// open is what needs no token: probes, and what the ways to sign in are made of.
func open(path string) bool {
	return path == "/healthz" || path == "/readyz" || path == "/login" || path == "/basic" || strings.HasPrefix(path, "/static/")
}

// knownHost guards a page without a token against names of other sites that resolve to
// this machine: to the browser such a page would be of the other site.
func (p *Page) knownHost(r *http.Request) bool {
	if p.locked() || !p.local {
		return true
	}
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	return host == "localhost" || net.ParseIP(host) != nil
}

// mayAct says whether the one who has sent the request may press buttons.
func (p *Page) mayAct(r *http.Request) bool {
	c, in := p.who(r)
	return in && c.act
}

// noAct says why somebody may not.
func (p *Page) noAct(r *http.Request) string {
	if p.locked() {
		c, _ := p.who(r)
		return "The token of " + cmp.Or(c.name, "this name") + " is for looking only, so nothing was done."
	}
	return "This page only shows: without a token nobody but this machine itself may act. Start the worker with " + output.EnvToken + "."
}

// entitled says whether the one who has sent the request may look.
func (p *Page) entitled(r *http.Request) bool {
	_, in := p.who(r)
	return in
}

// onlyFor keeps those who may only look from everything that is not looking: from all routes that there are,
// and will be.
func (p *Page) onlyFor(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && !ownSession(r.URL.Path) && !p.mayAct(r) {
			p.fail(w, r, http.StatusForbidden, p.noAct(r))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ownSession is what a post changes nothing by but who the browser is.
func ownSession(path string) bool { return path == "/login" || path == "/logout" }

// askToken sends people to the form and tells programs what is missing.
func (p *Page) askToken(w http.ResponseWriter, r *http.Request) {
	sent := given(r)
	if sent != nothing {
		p.wrongTokens.wait(r.Context())
	}
	if sent == basic {
		p.askPassword(w, r)
		return
	}
	if r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/html") {
		to := p.prefix + "/login"
		if r.URL.Path != "/" {
			to += "?" + url.Values{"to": {r.URL.Path}}.Encode()
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="cascade-worker"`)
	p.fail(w, r, http.StatusUnauthorized, "This needs the worker's token: sign in, or send it as a bearer.")
}

// askPassword has a browser ask for name and token in its own way.
func (p *Page) askPassword(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("WWW-Authenticate", `Basic realm="cascade-worker", charset="UTF-8"`)
	p.fail(w, r, http.StatusUnauthorized, "That is not the name and the token of anybody here: the user is the token’s name, the password the token.")
}

// basic signs a browser in by HTTP's basic authentication.
func (p *Page) basic(w http.ResponseWriter, r *http.Request) {
	if p.entitled(r) {
		http.Redirect(w, r, p.prefix+"/", http.StatusSeeOther)
		return
	}
	if given(r) != nothing {
		p.wrongTokens.wait(r.Context())
	}
	p.askPassword(w, r)
}

func (p *Page) showLogin(w http.ResponseWriter, r *http.Request) {
	if p.entitled(r) {
		http.Redirect(w, r, p.prefix+"/", http.StatusSeeOther)
		return
	}
	p.render(w, r, http.StatusOK, "login", loginView{To: localPath(r.URL.Query().Get("to"))})
}

type loginView struct{ To, Problem string }

func (p *Page) login(w http.ResponseWriter, r *http.Request) {
	if !p.form(w, r) {
		return
	}
	to := localPath(r.PostFormValue("to"))
	if len(p.tokens) > 0 {
		c, known := p.token(strings.TrimSpace(r.PostFormValue("token")))
		if !known {
			p.wrongTokens.wait(r.Context())
			p.render(w, r, http.StatusUnauthorized, "login", loginView{To: to, Problem: "That is not the token of this worker."})
			return
		}
		p.setCookie(w, r, p.sessions.cookie, p.sessions.begin(c), int(signedIn.Seconds()))
	}
	http.Redirect(w, r, p.prefix+to, http.StatusSeeOther) //nolint:gosec // localPath keeps it on this page
}

func (p *Page) logout(w http.ResponseWriter, r *http.Request) {
	if given, err := r.Cookie(p.sessions.cookie); err == nil {
		p.sessions.end(given.Value)
	}
	p.setCookie(w, r, p.sessions.cookie, "", -1)
	http.Redirect(w, r, p.prefix+"/login", http.StatusSeeOther)
}

// setCookie sets one that no script gets and no post of another site carries, or removes it where seconds is
// below 0. (Lax, so that the link in an alert finds an operator who is signed in.)
func (p *Page) setCookie(w http.ResponseWriter, r *http.Request, name, value string, seconds int) {
	secure := r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: p.prefix + "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure}) //nolint:gosec // Secure where the request is; a loopback page has no TLS
}

// localPath keeps a redirect on this page. Browsers read \ as /, and drop tabs and ends of lines:
// /⇥/elsewhere leads away.
func localPath(to string) string {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\t\r\n") {
		return "/"
	}
	return to
}
