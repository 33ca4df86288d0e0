package webfuzz

import (
	"context"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const secret = "the-token-of-the-operator"

// operator attacks the pages of two workers: one that asks for a token, one that knows this machine only.
type operator struct {
	token, local *client
	r            *rand.Rand
	evil         string // is in all that must not be done
	good         string // is in what an operator does
	cookie       string // of who has signed in
	old          string // of who has signed out
	did          int    // posts of the operator that were taken
	steps        []func(context.Context)
}

// newOperators are three: one whose answers are slow, for it has wrong tokens; one that comes from elsewhere;
// and one that may do what it does.
func newOperators(w *world, token, local *program) []*operator {
	all := make([]*operator, 3)
	for i := range all {
		r := w.Rand(uint64(400 + i)) //nolint:gosec // small
		o := &operator{token: w.client(token), local: w.client(local), r: r, evil: w.marks.add(r, "evil"), good: w.marks.add(r, "good")}
		o.steps = [][]func(context.Context){{o.signIn, o.noToken, o.signOut}, {o.known, o.crossSite, o.crossSite, o.anyHost}, {o.act, o.act, o.look}}[i]
		all[i] = o
	}
	return all
}

func (o *operator) step(ctx context.Context) { pick(o.r, o.steps)(ctx) }

// known signs in with the right token.
func (o *operator) known(ctx context.Context) {
	if o.cookie == "" {
		o.signInWith(ctx, secret)
	}
}

// posts are all that the page does, each with that text where it takes one.
func (o *operator) posts(said string) request {
	fields := url.Values{"reason": {said}, "to": {pick(o.r, []string{"/", "//evil.example", `/\evil.example`, "https://evil.example", "javascript:" + marker, "/\r\nX: y", "/\t/evil.example", "/jobs/1"})}}
	id := pick(o.r, slices.Concat(ids, []string{"1", "2", "3"}))
	path := pick(o.r, []string{"/pause-resource", "/resume-resource", "/settings", "/settings/default", "/enqueue", "/enqueue", "/enqueue", "/jobs/" + id + "/retry", "/jobs/" + id + "/pause", "/jobs/" + id + "/resume",
		"/jobs/" + id + "/first", "/jobs/" + id + "/undo", "/jobs/" + id + "/cancel", "/jobs/" + id + "/restore", "/jobs/" + id + "/expire", "/parked/" + id + "/retry", "/parked/" + id + "/skip", "/errors/" + id + "/retry", "/errors/" + id + "/skip"})
	switch path {
	case "/settings", "/settings/default":
		fields["worker"] = []string{said[:min(len(said), 1+o.r.IntN(300))]}
		fields["load"] = []string{pick(o.r, []string{"1", "100", "0", "-1", "1e2", "99999999999999999999", "\xff"})}
	case "/pause-resource", "/resume-resource":
		fields["resource"] = []string{pick(o.r, []string{"shelf", "book", said, "", "\x00"})}
	case "/enqueue":
		fields["resource"], fields["key"] = []string{pick(o.r, []string{"shelf", "shelf", "book", said})}, []string{said}
		fields["grace"] = []string{pick(o.r, []string{"60", "", "-1", "525601", "x"})}
	}
	return form(path, fields)
}

// harmless draws a text that an operator may type.
func (o *operator) text(mark string) string {
	said := text(o.r, mark)
	return said[:min(len(said), 400)]
}

// signIn signs in with the token, or with what is none; half of the time as one who comes from elsewhere.
func (o *operator) signIn(ctx context.Context) {
	o.signInWith(ctx, pick(o.r, []string{secret, secret, "", "x", secret + "x", secret[1:], strings.ToUpper(secret), "' OR '1'='1", "\x00", strings.Repeat("t", 7000), strings.Repeat("t", 9000), "ann:" + secret + ":", strings.Repeat(" ", 400) + "x"}))
}

func (o *operator) signInWith(ctx context.Context, given string) {
	q := form("/login", url.Values{"token": {given}, "to": {"//evil.example"}})
	q.header["Origin"] = []string{o.token.to.url}
	a := o.token.send(ctx, "", q)
	cookie := ""
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if strings.HasPrefix(c.Name, "onerow_worker_") && c.Value != "" {
			cookie = c.Name + "=" + c.Value
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
				o.token.broken(brokenPolicy, "the cookie is %s: %s", c, o.token.curl(q))
			}
		}
	}
	switch right := given == secret; {
	case right != (cookie != "") && a.status != 0 && a.status < 500:
		o.token.broken(brokenTaken, "%d, signed in: %v with %.40q: %s", a.status, cookie != "", given, o.token.curl(q))
	case right:
		o.cookie = cookie
	}
	o.staysHere(q, a)
}

// staysHere finds a redirect that leads away.
func (o *operator) staysHere(q request, a answer) {
	to := a.header.Get("Location")
	if at, err := url.Parse(to); to != "" && (err != nil || at.Host != "" || at.Scheme != "" || strings.HasPrefix(strings.TrimLeft(to, " \t"), "//") || strings.ContainsAny(to, "\\\t")) {
		o.token.broken(brokenTaken, "a redirect to %q: %s", to, o.token.curl(q))
	}
}

// signOut signs out, and keeps the cookie.
func (o *operator) signOut(ctx context.Context) {
	if o.cookie == "" || !chance(o.r, 4) {
		return
	}
	q := form("/logout", nil)
	q.header["Cookie"], q.header["Origin"] = []string{o.cookie}, []string{o.token.to.url}
	if a := o.token.send(ctx, "", q); a.status == http.StatusSeeOther {
		o.old, o.cookie = o.cookie, ""
	}
}

// noToken posts and looks with cookies and tokens that are none.
func (o *operator) noToken(ctx context.Context) {
	name, _, _ := strings.Cut(o.cookie+o.old, "=")
	q := o.posts(o.text(o.evil))
	if chance(o.r, 3) {
		q = request{method: http.MethodGet, path: pick(o.r, []string{"/", "/live", "/jobs/1", "/jobs/1/live", "/search?q=1", "/trash", "/delete", "/metrics", "/jobs/1/cancel", "//", "/./", "/static/../", "/login/../", "/healthz/../"}), header: http.Header{}}
	}
	q.header["Origin"] = []string{o.token.to.url}
	switch o.r.IntN(4) {
	case 0:
		q.header["Authorization"] = []string{pick(o.r, []string{"Bearer ", "Bearer x", "bearer " + secret, "Basic " + secret, "Bearer " + secret[1:], "Bearer " + secret + "\xff", "Bearer :" + secret + "x", "Bearer\t" + secret})}
	case 1:
		q.header["Cookie"] = []string{name + "=" + pick(o.r, []string{"", "x", strings.Repeat("A", 26), secret, strings.Repeat("c", 10_000), "ann", "\"\"", "1; " + name + "=2"})}
	case 2:
		q.header["Cookie"] = []string{o.old}
	}
	q.header["X-Forwarded-For"], q.header["X-Real-Ip"] = []string{"127.0.0.1"}, []string{"127.0.0.1"}
	a := o.token.send(ctx, "", q)
	if a.ok() && a.header.Get("Location") == "" || strings.Contains(a.header.Get("Location"), "/jobs") {
		o.token.broken(brokenTaken, "%d: %s: %.200s", a.status, o.token.curl(q), a.body)
	}
	o.staysHere(q, a)
}

// crossSite posts as another site's page does in the browser of who is signed in, and to the local page.
func (o *operator) crossSite(ctx context.Context) {
	from, q := pick(o.r, append(slices.Clone(strangers), origin{})), o.posts(o.text(o.evil)) // the last one does not say
	for name, value := range map[string]string{"Origin": from.origin, "Sec-Fetch-Site": from.site} {
		if value != "" {
			q.header[name] = []string{value}
		}
	}
	to := o.local
	if chance(o.r, 2) {
		to = o.token
		q.header["Cookie"] = []string{o.cookie}
	}
	to.must(q, to.send(ctx, "", q), brokenTaken, http.StatusForbidden, http.StatusUnauthorized)
}

// anyHost asks the local page under names of others, as a name that resolves to this machine would.
func (o *operator) anyHost(ctx context.Context) {
	host := pick(o.r, otherHosts)
	q := o.posts(o.text(o.evil))
	q.header["Host"], q.header["Origin"] = []string{host}, []string{"http://" + host}
	a := o.local.send(ctx, "", q)
	o.local.must(q, a, brokenTaken, http.StatusMisdirectedRequest, http.StatusBadRequest, http.StatusForbidden)
}

// act does what an operator does, with texts that nobody should type.
func (o *operator) act(ctx context.Context) {
	q := o.posts(o.text(o.good))
	to := pick(o.r, []*client{o.token, o.local})
	q.header["Origin"] = []string{to.to.url}
	if to == o.token {
		q.header["Authorization"] = []string{"Bearer " + secret}
	}
	if a := to.send(ctx, "", q); a.status == http.StatusSeeOther {
		o.did++
		o.staysHere(q, a)
		look := request{method: http.MethodGet, path: "/", header: http.Header{"Cookie": {strings.Join(a.header.Values("Set-Cookie"), "; ")}}}
		if to == o.token {
			look.header["Authorization"] = q.header["Authorization"]
		}
		to.must(look, to.send(ctx, "", look), brokenRefused, http.StatusOK)
	}
}

// look asks for every page, with searches and keys that nobody would type.
func (o *operator) look(ctx context.Context) {
	id := pick(o.r, slices.Concat(ids, []string{"1", "2", "3", "4", "5"}))
	path := pick(o.r, []string{"/", "/live", "/trash", "/metrics", "/jobs/" + id, "/jobs/" + id + "/live", "/jobs/" + id + "/undo", "/jobs/" + id + "/cancel", "/jobs/" + id + "/restore", "/jobs/" + id + "/expire", "/errors/" + id + "/skip",
		"/search" + query(o.r, "q"), "/search?q=" + url.QueryEscape(o.text(o.good)), "/delete?resource=shelf&key=" + url.QueryEscape(o.text(o.good)), "/delete" + query(o.r, "resource", "key"), "/login?to=" + url.QueryEscape(`"><`+marker+`>`), "/static/" + id, "/" + id})
	q := request{method: pick(o.r, []string{http.MethodGet, http.MethodGet, http.MethodGet, http.MethodHead, http.MethodOptions, "BREW"}), path: path,
		header: http.Header{"Authorization": {"Bearer " + secret}, "Accept": {"text/html"}, "Cookie": {"onerow_message=" + pick(o.r, []string{"", "x", "KzxvbmVyb3d4c3M-", strings.Repeat("K", 9000)})}, "If-None-Match": {pick(o.r, []string{"*", `""`, strings.Repeat("e", 3000)})}}}
	o.staysHere(q, o.token.send(ctx, "", q))
}
