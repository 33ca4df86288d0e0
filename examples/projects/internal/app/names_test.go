package app

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile are names that want to be something else. What they are in JSON is
// built by hand where encoding/json would repair them.
var hostile = []string{
	"'; DROP TABLE project; --", `"; DROP TABLE project; --`, "`project`", "x' OR '1'='1", `\`, `\'`, "%", "_", "%s%d%n", "?", "??",
	"x' for key 'PRIMARY'", "x' for key 'project.one_name'", "Duplicate entry '1' for key 'PRIMARY'",
	"😀", "👩‍👩‍👧‍👦", "שלום", "مرحبا", "\u202eevil\u202c", "\u200b", "e\u0301", "ﬁ", "İ", "ß", "\ufeff", "Å",
	"", " ", "\t", "\n", "a\nb", "a\rb", "a\x00b", "\x00", "\x1b[31m", "\x7f", "a\u2028b",
	strings.Repeat("a", 200), strings.Repeat("a", 201), strings.Repeat("a", 300), strings.Repeat("😀", 200), strings.Repeat("😀", 300), strings.Repeat("ß", 200),
	"a\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf0\x9f\x98",
	".", "..", "...", "../../etc/passwd", `..\..\windows`, "/", "//", "a/b", `a\b`, "/etc/passwd", "C:", "CON", "nul.txt", ".htaccess", "a.tmp",
	"<script>alert(1)</script>", "{{.}}", "${jndi:ldap://x}", "a?b=c", "a#b", "a&b", "a;b", "a%2Fb", "%2e%2e", "%00", "a+b", "a b",
	"x (Copy 1)", "x (Copy 999999)", "x (Copy 1000000)", "null", "undefined", "0", "-1", "1e309", "true", "[]", "{}", "archive", "activate", "screens",
}

// quoted is s as JSON text, its bytes as they are.
func quoted(s string) string {
	if utf8.ValidString(s) {
		text, err := json.Marshal(s)
		if err == nil {
			return string(text)
		}
	}
	return `"` + s + `"`
}

// fine: the request did what it should, or it was refused clearly.
func fine(t *testing.T, what string, a answer) {
	t.Helper()
	switch {
	case a.status >= 200 && a.status < 300:
	case a.status >= 400 && a.status < 500:
		a.problem()
		if !utf8.Valid(a.body) {
			t.Errorf("%s: the problem is not UTF-8: %q", what, a.body)
		}
	default:
		t.Errorf("%s: %d %s", what, a.status, a.body)
	}
}

func TestHostileNames(t *testing.T) {
	f := start(t)
	id := f.user(t, "team")
	projects := fmt.Sprintf("/api/users/%d/projects", id)
	base := f.send(t, "POST", projects, object("name", "the base")).want(201).id("id")
	archived := f.send(t, "POST", projects, object("name", "to be moved")).want(201).id("id")
	screens := fmt.Sprintf("/api/projects/%d/screens/", base)
	screen := f.send(t, "PUT", screens+"first.png", "x").want(201).id("id")
	for _, name := range hostile {
		what := fmt.Sprintf("%.60q", name)
		fine(t, "user "+what, f.send(t, "POST", "/api/users", `{"name":`+quoted(name)+`}`))
		fine(t, "plan "+what, f.send(t, "PUT", fmt.Sprintf("/api/users/%d/plan", id), `{"plan":`+quoted(name)+`}`))

		// What is stored is what was sent, and comes back under it.
		created := f.send(t, "POST", projects, `{"name":`+quoted(name)+`}`)
		fine(t, "create "+what, created)
		if created.status == 201 {
			if got := created.get("name"); got != strings.TrimSpace(name) {
				t.Errorf("create %s: stored as %q", what, got)
			}
			if p := f.send(t, "POST", projects, `{"name":`+quoted(name)+`}`).want(409).problem(); p.ExistingID != created.id("id") {
				t.Errorf("create %s twice: %+v", what, p)
			}
			page := f.send(t, "GET", fmt.Sprintf("/projects/%d", created.id("id")), "")
			if page.status != 200 || strings.Contains(string(page.body), "<script>alert") {
				t.Errorf("page of %s: %d", what, page.status)
			}
			f.send(t, "DELETE", fmt.Sprintf("/api/projects/%d", created.id("id")), "").want(202)
		}
		fine(t, "rename "+what, f.send(t, "PATCH", fmt.Sprintf("/api/projects/%d", archived), `{"name":`+quoted(name)+`}`))
		fine(t, "archive "+what, f.send(t, "POST", fmt.Sprintf("/api/projects/%d/archive", archived), ""))
		fine(t, "activate "+what, f.send(t, "POST", fmt.Sprintf("/api/projects/%d/activate", archived), ""))

		path := screens + url.PathEscape(name)
		put := f.send(t, "PUT", path, "body")
		fine(t, "upload "+what, put)
		get := f.send(t, "GET", path, "")
		fine(t, "find "+what, get)
		if put.status == 201 {
			if get.status != 200 || get.id("id") != put.id("id") {
				t.Errorf("upload %s: found %d %s", what, get.status, get.body)
			}
			if got := put.get("filename"); got != strings.TrimSpace(name) {
				t.Errorf("upload %s: stored as %q", what, got)
			}
			file := f.send(t, "GET", put.get("url").(string), "")
			if file.status != 200 || string(file.body) != "body" {
				t.Errorf("file of %s: %d %q", what, file.status, file.body)
			}
			if thumb := f.send(t, "GET", put.get("thumb_url").(string), ""); thumb.status != 200 {
				t.Errorf("thumb of %s: %d %s", what, thumb.status, thumb.body)
			}
		}
		fine(t, "comment "+what, f.send(t, "POST", fmt.Sprintf("/api/screens/%d/comments", screen), `{"body":`+quoted(name)+`}`))
		for _, query := range []string{projects + "?state=", projects + "?cursor=", screens + "a.png?on_conflict=", "/api/projects/999?grace="} {
			method := "GET"
			switch {
			case strings.Contains(query, "conflict"):
				method = "PUT"
			case strings.Contains(query, "grace"):
				method = "DELETE"
			}
			fine(t, query+what, f.send(t, method, query+url.QueryEscape(name), ""))
		}
		for _, place := range []string{"/api/projects/%s", "/api/users/%s/projects", "/api/jobs/%s", "/api/screens/%s/comments"} {
			fine(t, place+what, f.send(t, "GET", fmt.Sprintf(place, url.PathEscape(name)), ""))
		}
		if utf8.ValidString(name) && !strings.ContainsAny(name, "\x00\r\n\x1b\x7f") {
			fine(t, "key "+what, f.send(t, "POST", projects, object("name", "key"), "Idempotency-Key", name))
		}
		// The same through the forms of the pages.
		for _, form := range []string{"/users", fmt.Sprintf("/users/%d/projects", id), fmt.Sprintf("/projects/%d/rename", base), fmt.Sprintf("/screens/%d/comments", screen)} {
			a := f.send(t, "POST", form, url.Values{"name": {name}, "body": {name}, "plan": {"free"}}.Encode(), "Content-Type", "application/x-www-form-urlencoded")
			if a.status != 303 && (a.status < 400 || a.status >= 500) || strings.Contains(string(a.body), "<script>alert") {
				t.Errorf("form %s with %s: %d", form, what, a.status)
			}
		}
	}
	if n := f.count(t, "SELECT COUNT(*) FROM project WHERE id = ?", base); n != 1 {
		t.Error("the base is gone")
	}
	// Addresses as nobody writes them.
	for _, path := range []string{screens, screens + "..", screens + ".", screens + "a//b", screens + "%2e%2e", screens + "%2F", screens + "%00", screens + "%ff", screens + "../../../healthz", "/api//users", "/api/../users"} {
		a := f.send(t, "PUT", path, "x")
		if a.status < 400 || a.status >= 500 {
			t.Errorf("PUT %s: %d %s", path, a.status, a.body)
			continue
		}
		a.problem()
	}
	if err := f.worker.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
}
