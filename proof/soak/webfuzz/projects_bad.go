package webfuzz

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// routes of the example projects that take an id.
var routes = []struct{ method, path string }{
	{"GET", "/api/projects/%s"}, {"PATCH", "/api/projects/%s"}, {"DELETE", "/api/projects/%s"}, {"POST", "/api/projects/%s/archive"}, {"POST", "/api/projects/%s/activate"}, {"POST", "/api/projects/%s/cancel-delete"},
	{"GET", "/api/projects/%s/screens"}, {"GET", "/api/projects/%s/screens/x.png"}, {"PUT", "/api/projects/%s/screens/x.png"}, {"POST", "/api/screens/%s/archive"}, {"POST", "/api/screens/%s/activate"},
	{"GET", "/api/screens/%s/comments"}, {"POST", "/api/screens/%s/comments"}, {"GET", "/api/jobs/%s"}, {"PUT", "/api/users/%s/plan"}, {"GET", "/api/users/%s/projects"}, {"POST", "/api/users/%s/projects"},
	{"GET", "/users/%s"}, {"POST", "/users/%s/plan"}, {"POST", "/users/%s/projects"}, {"GET", "/projects/%s"}, {"POST", "/projects/%s/rename"}, {"POST", "/projects/%s/archive"}, {"POST", "/projects/%s/delete"},
	{"POST", "/projects/%s/undo"}, {"POST", "/projects/%s/screens"}, {"GET", "/screens/%s"}, {"POST", "/screens/%s/archive"}, {"POST", "/screens/%s/comments"}, {"GET", "/jobs/%s"}, {"GET", "/screens/%s/file/x/y"}, {"GET", "/screens/1/file/%s/y"},
	{"GET", "/screens/%s/thumb/x"}, {"GET", "/static/x/%s"}, {"GET", "/api/%s"}, {"TRACE", "/projects/%s"}, {"OPTIONS", "/api/projects/%s"}, {"BREW", "/users/%s"},
}

// strangeIDs uses every route with what is no id, or nobody's.
func (t *tenant) strangeIDs(ctx context.Context) {
	for range 4 {
		route := pick(t.r, routes)
		q := request{method: route.method, path: fmt.Sprintf(route.path, pick(t.r, ids))}
		switch route.method {
		case http.MethodPost:
			fields := url.Values{"name": {t.mark}, "body": {t.mark}, "plan": {"pro"}}
			q = form(q.path, fields)
		case http.MethodPut, http.MethodPatch:
			q.body = []byte(`{"name":"` + t.mark + `"}`)
		}
		if a := t.c.send(ctx, t.mark, q); a.ok() && a.status != http.StatusNoContent { // what is not there is deleted already
			t.c.broken(brokenTaken, "%d: %s", a.status, t.c.curl(q))
		}
	}
}

// crossSite posts as another site's page does, to what a browser of the user may reach.
func (t *tenant) crossSite(ctx context.Context) {
	id, p := t.some()
	if p == nil {
		return
	}
	q := pick(t.r, []request{
		form(fmt.Sprintf("/projects/%d/rename", id), url.Values{"name": {"evil"}}), form(fmt.Sprintf("/projects/%d/delete", id), nil), form(t.path("/projects"), url.Values{"name": {t.mark + " evil"}}),
		{method: http.MethodDelete, path: fmt.Sprintf("/api/projects/%d", id)}, asJSON(http.MethodPost, "/api"+t.path("/projects"), "name", t.mark+" evil"), form(t.path("/plan"), url.Values{"plan": {"team"}}),
	})
	from := pick(t.r, strangers)
	if q.header == nil {
		q.header = http.Header{}
	}
	for name, value := range map[string]string{"Origin": from.origin, "Sec-Fetch-Site": from.site} {
		if value != "" {
			q.header[name] = []string{value}
		}
	}
	if chance(t.r, 3) {
		q.header["X-Http-Method-Override"] = []string{"GET"}
		q.header["X-Forwarded-Host"] = []string{"evil.example"}
		q.header["X-Forwarded-Proto"] = []string{"https"}
	}
	a := t.c.send(ctx, t.mark, q)
	t.c.must(q, a, brokenTaken, http.StatusForbidden)
}

// badBody sends what is no body of the interface.
func (t *tenant) badBody(ctx context.Context) {
	bad := []string{
		"", "{", "[]", "null", "1", `"x"`, `{"name":1}`, `{"name":null}`, `{"name":["a"]}`, `{"name":"a","name":"b"}`, `{"Name":"a"}`, `{"name":"a","id":1}`, `{"name":"a","user_id":1}`, `{"name":"a"}{"name":"b"}`, `{"name":"\ud800"}`,
		"{\"name\":\"\xff\"}", `{"name":"` + "\x00" + `"}`, "\xef\xbb\xbf{\"name\":\"a\"}", strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 20_000), `{"name":"` + strings.Repeat("a", 130<<10) + `"}`, `{"name":` + strings.Repeat("9", 5000) + `}`,
		"name=a", `<?xml version="1.0"?><name>a</name>`,
	}
	q := request{method: http.MethodPost, path: pick(t.r, []string{"/api" + t.path("/projects"), "/api/users"}), body: []byte(pick(t.r, bad)),
		header: http.Header{"Content-Type": {pick(t.r, []string{"application/json", "application/json", "application/json; charset=latin1", "text/plain", "", "application/x-www-form-urlencoded"})}}}
	if chance(t.r, 4) {
		q.header["Content-Encoding"] = []string{"gzip"}
	}
	if a := t.c.send(ctx, t.mark, q); a.ok() {
		t.c.broken(brokenTaken, "%d: %s", a.status, t.c.curl(q))
	}
	other := pick(t.r, []request{
		{method: http.MethodGet, path: "//evil.example/%2e%2e"}, {method: http.MethodGet, path: "/static/../../etc/passwd"}, {method: http.MethodGet, path: "/static/x/..%2f..%2fpages.go"}, {method: http.MethodGet, path: "/api/%00"},
		{method: http.MethodGet, path: "/" + strings.Repeat("a/", 2000)}, {method: http.MethodGet, path: "/?" + strings.Repeat("a=b&", 10_000)}, {method: http.MethodPost, path: "/users", body: []byte("%zz=%"), header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}},
		form("/users", url.Values{"name": {strings.Repeat("n", 300_000)}}), form("/users", url.Values{"plan": {"free", "team"}}), {method: http.MethodGet, path: "/", header: http.Header{"X-Forwarded-For": {strings.Repeat("1.1.1.1,", 5000)}}},
	})
	t.c.send(ctx, "", other) // the list of accounts is for everybody
	away := request{method: http.MethodGet, path: pick(t.r, []string{"/", "/api" + t.path("/projects")}), header: http.Header{"Host": {pick(t.r, otherHosts)}}}
	t.c.must(away, t.c.send(ctx, t.mark, away), brokenTaken, http.StatusMisdirectedRequest, http.StatusBadRequest)
}
