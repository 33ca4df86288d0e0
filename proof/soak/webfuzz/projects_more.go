package webfuzz

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxUpload is what the program is started with, in MiB.
const maxUpload = 1

// createForm makes a project as a browser without a script does: the answer does not tell the id.
func (t *tenant) createForm(ctx context.Context) {
	fields := url.Values{"name": {text(t.r, t.mark)}, "request_id": {pick(t.r, []string{"", t.mark, "\xff", strings.Repeat("r", 256), strings.Repeat("r", 300_000)})}}
	if chance(t.r, 3) {
		fields.Add("name", t.mark+" doubled")
		fields.Add("user_id", "1")
	}
	q := form(t.path("/projects"), fields)
	if a := t.send(ctx, q); a.ok() {
		t.learn(ctx)
	}
}

// learn reads what the user has, page by page, and takes what is new for what the form before has made.
func (t *tenant) learn(ctx context.Context) {
	fresh := 0
	for next := ""; ; {
		q := request{method: http.MethodGet, path: "/api" + t.path("/projects?limit=500&cursor=%s", url.QueryEscape(next))}
		a := t.send(ctx, q)
		var list struct {
			Items []rowJSON
			Next  string
		}
		if err := json.Unmarshal(a.body, &list); err != nil || a.status != http.StatusOK {
			t.lost = t.lost || a.status == 0
			return
		}
		for _, row := range list.Items {
			if row.UserID != t.id {
				t.c.broken(brokenStranger, "a project of user %d: %s", row.UserID, t.c.curl(q))
			}
			if t.projects[row.ID] == nil {
				fresh++
				t.projects[row.ID] = &project{name: row.Name, screens: map[string]*screen{}}
			}
		}
		if next = list.Next; next == "" {
			if fresh > 1 && !t.lost {
				t.c.broken(brokenTaken, "%d projects are there that nobody has made: %s", fresh, t.c.curl(q))
			}
			return
		}
	}
}

// upload puts a file under a name that wants to be elsewhere, of more than is allowed, or without a length.
func (t *tenant) upload(ctx context.Context) {
	id, p := t.some()
	if p == nil {
		return
	}
	q := request{method: http.MethodPut, path: fmt.Sprintf("/api/projects/%d/screens/%s", id, filename(t.r, t.mark)), body: content(t.r),
		header: http.Header{"Content-Type": {pick(t.r, []string{"image/png", "text/html", "application/x-www-form-urlencoded", "multipart/form-data", "a/b; c", "\xff"})}}}
	large := chance(t.r, 8)
	if large {
		q.body = bytes.Repeat([]byte("L"), maxUpload<<20+1+t.r.IntN(1<<18))
	}
	if chance(t.r, 3) {
		q.stream = bytes.NewReader(q.body)
		q.stream = struct{ *bytes.Reader }{bytes.NewReader(q.body)} // of a type of which no length is known
	}
	a := t.send(ctx, q)
	if large && a.ok() {
		t.c.broken(brokenTaken, "%d bytes were taken: %s", len(q.body), t.c.curl(q))
	}
	row := a.row()
	if a.status != http.StatusCreated && a.status != http.StatusOK {
		return
	}
	s := p.screens[fmt.Sprint(row.ID)]
	if s == nil {
		s = &screen{}
		p.screens[fmt.Sprint(row.ID)] = s
	}
	s.filename, s.size, s.content = row.Filename, row.Size, q.body
	t.fetch(ctx, row, q.body)
}

// fetch reads a file back: its bytes are those that were sent, and no browser runs what is in it.
func (t *tenant) fetch(ctx context.Context, row rowJSON, want []byte) {
	q := request{method: http.MethodGet, path: row.URL}
	a, err := t.c.do(ctx, q)
	if err != nil || a.status != http.StatusOK {
		t.c.must(q, a, brokenAnswer, http.StatusOK, http.StatusServiceUnavailable)
		return
	}
	policy, how := a.header.Get("Content-Security-Policy"), a.header.Get("Content-Disposition")
	switch kind := a.header.Get("Content-Type"); {
	case !bytes.Equal(a.body, want):
		t.c.broken(brokenAnswer, "%d bytes, not the %d that were sent: %s", len(a.body), len(want), t.c.curl(q))
	case !strings.Contains(policy, "sandbox") || a.header.Get("X-Content-Type-Options") != "nosniff", !strings.HasPrefix(kind, "image/") && !strings.HasPrefix(how, "attachment"):
		t.c.broken(brokenPolicy, "%s, %s, %s: %s", kind, how, policy, t.c.curl(q))
	}
	t.c.send(ctx, "", request{method: http.MethodGet, path: row.Thumb})
}

// uploadForm sends files in a form, with paths in their names, too many parts, or one that does not end.
func (t *tenant) uploadForm(ctx context.Context) {
	id, p := t.some()
	if p == nil {
		return
	}
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for range t.r.IntN(4) {
		name := strings.NewReplacer("\r", "", "\n", "", "\"", "").Replace(pick(t.r, slices.Concat(scripts, []string{"../../" + t.mark, t.mark + ".png", "", "a\x00b"})))
		if part, err := parts.CreateFormFile(pick(t.r, []string{"other", "on_conflict"}), name); err == nil {
			_, _ = part.Write(content(t.r)) //nolint:errcheck // into memory
		}
	}
	if chance(t.r, 2) {
		_ = parts.Close() //nolint:errcheck // as above
	}
	boundary := pick(t.r, []string{parts.Boundary(), parts.Boundary(), "", strings.Repeat("b", 100), "x\" y"})
	q := request{method: http.MethodPost, path: fmt.Sprintf("/projects/%d/screens", id), body: body.Bytes(), header: http.Header{"Content-Type": {"multipart/form-data; boundary=" + boundary}}}
	t.send(ctx, q) // none of the parts is a file that is stored
}

func (t *tenant) comment(ctx context.Context) {
	_, p := t.some()
	if p == nil || len(p.screens) == 0 || p.archived {
		return
	}
	id, s := t.someScreen(p)
	body := text(t.r, t.mark)
	if chance(t.r, 2) {
		if a := t.send(ctx, asJSON(http.MethodPost, "/api/screens/"+id+"/comments", "body", body)); a.status == http.StatusCreated {
			s.comments = append(s.comments, a.row().Body)
		}
		return
	}
	q := form("/screens/"+id+"/comments", url.Values{"body": {body, "second"}, "screen_id": {"1"}})
	if a := t.send(ctx, q); a.status == http.StatusSeeOther {
		s.comments = append(s.comments, strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n")))
	}
	t.c.send(ctx, t.mark, request{method: http.MethodGet, path: "/screens/" + id})
}

func (t *tenant) someScreen(p *project) (string, *screen) {
	all := make([]string, 0, len(p.screens))
	for id := range p.screens {
		all = append(all, id)
	}
	slices.Sort(all)
	id := pick(t.r, all)
	return id, p.screens[id]
}

func (t *tenant) moveScreen(ctx context.Context) {
	_, p := t.some()
	if p == nil || len(p.screens) == 0 {
		return
	}
	id, s := t.someScreen(p)
	verb := pick(t.r, []string{"archive", "activate"})
	q := request{method: http.MethodPost, path: "/api/screens/" + id + "/" + verb}
	if a := t.send(ctx, q); a.status == http.StatusOK {
		s.filename, s.archived = a.row().Filename, a.row().State == "archived"
	}
}

// lists asks for pages with sizes, cursors and searches that no list has returned, or the list of another
// user.
func (t *tenant) lists(ctx context.Context) {
	cursor := ""
	t.cursors.Range(func(c, _ any) bool { cursor = c.(string); return t.r.IntN(4) > 0 }) //nolint:errcheck,forcetypeassert // texts only
	var page struct{ Next string }
	for _, path := range []string{"/api" + t.path("/projects?limit=1&cursor=%s", url.QueryEscape(cursor)), "/api" + t.path("/projects?limit=%d", 1+t.r.IntN(3))} {
		a := t.c.send(ctx, t.mark, request{method: http.MethodGet, path: path})
		if err := json.Unmarshal(a.body, &page); err == nil && page.Next != "" {
			t.cursors.Store(page.Next, true)
		}
	}
	for _, path := range []string{"/api" + t.path("/projects"), t.path("")} {
		t.c.send(ctx, t.mark, request{method: http.MethodGet, path: path + query(t.r, "limit", "cursor", "state", "job")})
	}
	t.c.send(ctx, "", request{method: http.MethodGet, path: pick(t.r, []string{"/", "/api/users"}) + query(t.r, "after", "cursor", "limit")})
}

// otherJobs asks for the user's page with the job of anybody.
func (t *tenant) otherJobs(ctx context.Context) {
	t.c.send(ctx, t.mark, request{method: http.MethodGet, path: t.path("?job=%d", 1+t.r.IntN(200))})
	t.c.send(ctx, "", request{method: http.MethodGet, path: fmt.Sprintf("%s/jobs/%d", pick(t.r, []string{"", "/api"}), 1+t.r.IntN(200))})
}

// show looks at what the user has, as a page, with a message that was forged.
func (t *tenant) show(ctx context.Context) {
	cookie := http.Header{"Cookie": {"flash=" + pick(t.r, []string{"x", "eyJrIjoiZ29vZCIsInQiOiI8b25lcm93eHNzPiJ9", strings.Repeat("e", 5000), "eyJrIjoiPG9uZXJvd3hzcz4iLCJ0IjoiIn0"})}}
	t.c.send(ctx, t.mark, request{method: http.MethodGet, path: t.path("%s", pick(t.r, []string{"", "?state=archived"})), header: cookie})
	if id, p := t.some(); p != nil {
		t.c.send(ctx, t.mark, request{method: http.MethodGet, path: fmt.Sprintf("/projects/%d", id), header: cookie})
	}
}
