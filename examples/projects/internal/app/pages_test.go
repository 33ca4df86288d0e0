package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// browser is a person without JavaScript: it follows redirects, keeps cookies, and
// sends what browsers send with a form.
type browser struct {
	t      *testing.T
	f      *fixture
	client *http.Client
	at     string // the address after redirects
	status int
	text   string
}

func newBrowser(t *testing.T, f *fixture) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, f: f, client: &http.Client{Jar: jar}}
}

func (b *browser) do(method, path, contentType string, body io.Reader) *browser {
	b.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, b.f.url+path, body)
	if err != nil {
		b.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Origin", b.f.url)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		b.t.Fatal(err)
	}
	b.status, b.text, b.at = res.StatusCode, string(text), res.Request.URL.RequestURI()
	if policy := res.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") {
		b.t.Errorf("%s %s: policy %q", method, path, policy)
	}
	return b
}

func (b *browser) open(path string) *browser {
	b.t.Helper()
	return b.do("GET", path, "", nil)
}

func (b *browser) post(path string, fields ...string) *browser {
	b.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.do("POST", path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

// sees fails the test unless the page has the status and the texts.
func (b *browser) sees(status int, texts ...string) *browser {
	b.t.Helper()
	if b.status != status {
		b.t.Fatalf("%s: status %d, want %d: %s", b.at, b.status, status, b.text)
	}
	for _, text := range texts {
		if !strings.Contains(isolation.Replace(b.text), text) {
			b.t.Fatalf("%s: no %q in %s", b.at, text, b.text)
		}
	}
	return b
}

// isolation is what keeps texts of users apart; nobody sees it.
var isolation = strings.NewReplacer("<bdi>", "", "</bdi>", "", "\u2068", "", "\u2069", "")

func (b *browser) seesNot(text string) {
	b.t.Helper()
	if strings.Contains(b.text, text) {
		b.t.Fatalf("%s: there is %q", b.at, text)
	}
}

// TestDeletedInAnotherTab: the second tab shows the deletion of the first, which can be undone, and later what
// became of it; nothing is deleted twice, and what has never been is not there.
func TestDeletedInAnotherTab(t *testing.T) {
	f := start(t)
	first, second := newBrowser(t, f), newBrowser(t, f)
	user := first.post("/users", "name", "Ada", "plan", "free").sees(200).at
	first.post(user+"/projects", "name", "Mail").sees(200)
	second.open(user).sees(200, "Mail")
	first.post("/projects/1/delete").sees(200, "“Mail” is deleted", "Undo")
	second.post("/projects/1/delete").sees(200, "“Mail” is deleted", "Undo", "It can be brought back until")
	if second.at != first.at {
		t.Errorf("the second tab is at %s, the first at %s", second.at, first.at)
	}
	second.post("/projects/1/undo").sees(200, "Brought back “Mail”")
	first.post("/projects/1/delete").sees(200, "“Mail” is deleted")
	if _, err := f.db.ExecContext(t.Context(), "UPDATE onerow_job SET due_at = UTC_TIMESTAMP(6)"); err != nil {
		t.Fatal(err)
	}
	if err := f.worker.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	second.post("/projects/1/delete").sees(200, "Deletion of project 1", "Gone, with 0 rows")
	second.post("/projects/4711/delete").sees(404)
}

// TestTypedTextIsIsolated: what a user has typed reorders nothing but itself, on each page and in each message:
// it stands in <bdi>, between isolates, or in an attribute.
func TestTypedTextIsIsolated(t *testing.T) {
	f := start(t)
	b := newBrowser(t, f)
	const mark = "\u202egnp"
	inIsolation := regexp.MustCompile(`(?s)<bdi>[^<]*</bdi>|\x{2068}[^\x{2068}\x{2069}]*\x{2069}|<textarea[^>]*>[^<]*</textarea>|<[^>]*>`)
	look := func(b *browser) {
		t.Helper()
		b.sees(200, mark)
		if rest := inIsolation.ReplaceAllString(b.text, ""); strings.Contains(rest, mark) {
			t.Errorf("%s: %q is not isolated", b.at, mark)
		}
	}
	// \u2069 would end an isolation between controls.
	user := b.post("/users", "name", "Ada\u2069"+mark, "plan", "free").at
	look(b)
	look(b.open("/"))
	look(b.post(user+"/projects", "name", "Mail"+mark))
	look(b.post("/projects/1/rename", "name", "Post\u2069"+mark))
	look(b.open(user))
	look(b.open("/projects/1"))
	look(b.upload("/projects/1/screens", "home"+mark+".png", "x"))
	look(b.open("/screens/1"))
	look(b.post("/screens/1/comments", "body", "Nice\u2069"+mark))
	look(b.post("/screens/1/archive"))
	look(b.post("/screens/1/activate"))
	look(b.post("/projects/1/archive"))
	look(b.post("/projects/1/activate"))
	look(b.post("/projects/1/delete"))
	_, job, _ := strings.Cut(b.at, "job=")
	look(b.open("/jobs/" + job))
	look(b.post("/projects/1/undo"))
	b.post(user+"/projects", "name", "Post"+mark)
	if rest := inIsolation.ReplaceAllString(b.text, ""); strings.Contains(rest, mark) {
		t.Errorf("a name that is refused is not isolated: %s", rest)
	}
}

func TestPagesWithoutScript(t *testing.T) {
	f := start(t)
	b := newBrowser(t, f)
	b.open("/").sees(200, "Nobody here yet")
	b.post("/users", "name", "", "plan", "free").sees(422, "Nothing can be seen of the name")
	b.post("/users", "name", `Ada <b>"&`, "plan", "free").sees(200, "Welcome, Ada &lt;b&gt;", "No active projects", "0 of 3 used")
	user := b.at
	b.open(user).seesNot("Welcome") // said once

	for i := range 3 {
		b.post(user+"/projects", "name", fmt.Sprint("Project ", i)).sees(200, "Created", fmt.Sprint(i+1, " of 3 used"))
	}
	b.seesNot("over quota")
	b.post(user+"/projects", "name", "One too many").sees(200, "4 of 3 used", "over quota", "It is over the quota")
	b.post(user+"/projects", "name", "project 1").sees(409, "There is an active project", `value="project 1"`, `/projects/2">Open it`)
	b.post(user+"/projects", "name", "twice", "request_id", "r1").sees(200, "Created")
	b.post(user+"/projects", "name", "twice", "request_id", "r1").sees(200, "Created") // a double click
	if n := f.count(t, "SELECT COUNT(*) FROM project WHERE name = 'twice'"); n != 1 {
		t.Errorf("%d projects", n)
	}
	b.post(user+"/plan", "plan", "team").sees(200, "The plan is now team", "5 active, no limit")
	b.seesNot("over quota")
	b.post(user+"/plan", "plan", "gold").sees(422)

	b.post("/projects/1/rename", "name", "project 1").sees(200, "Not renamed")
	b.post("/projects/1/rename", "name", "Email Campaign").sees(200, "Renamed to “Email Campaign”")
	b.post("/projects/1/archive").sees(200, "Archived “Email Campaign”")
	b.open(user+"?state=archived").sees(200, "Email Campaign", "Activate")
	b.post(user+"/projects", "name", "Email Campaign").sees(200)
	b.post("/projects/1/activate").sees(200, "Activated as “Email Campaign (Copy 1)”, since another project is called “Email Campaign” now")

	// Screens.
	b.open("/projects/1").sees(200, "No screens yet")
	b.upload("/projects/1/screens", "home.png", picturePNG(t), "notes.txt", "some text").sees(200, "Stored: 2 new screens, 0 new versions", "home.png", "notes.txt")
	b.upload("/projects/1/screens", "HOME@2x.png", picturePNG(t)).sees(200, "0 new screens, 1 new version", "HOME@2x.png", ">v2<")
	b.upload("/projects/1/screens?on_conflict=fail", "home.gif", "x").sees(200, "was not stored")
	b.upload("/projects/1/screens", "big.bin", strings.Repeat("x", maxUpload+1)).sees(200, "“big.bin” was not stored")
	b.upload("/projects/1/screens", "on_conflict", "fail", "home.gif", "x", "more.txt", "text", "home.jpg", strings.Repeat("x", maxUpload)).
		sees(200, "“home.gif” was not stored", "1 other file was not stored either", "Stored: 1 new screen, 0 new versions", "more.txt", ">v2<")
	b.upload("/projects/1/screens").sees(200, "Choose a file first")
	home := f.send(t, "GET", "/api/projects/1/screens/home", "").want(200)
	page := fmt.Sprintf("/screens/%d", home.id("id"))
	b.open(page).sees(200, "version 2", "No comments yet", home.get("url").(string))
	b.post(page+"/comments", "body", "<i>nice</i>\r\nline").sees(200, "&lt;i&gt;nice&lt;/i&gt;\nline")
	b.post(page+"/comments", "body", " ").sees(422, "The text must be")
	thumb := f.send(t, "GET", home.get("thumb_url").(string), "")
	if config, _, err := image.DecodeConfig(bytes.NewReader(thumb.body)); err != nil || config.Width != 560 || thumb.header.Get("Content-Type") != "image/jpeg" {
		t.Errorf("thumb: %+v %v %v", config, thumb.header, err)
	}
	file := f.send(t, "GET", home.get("url").(string), "")
	if file.header.Get("Content-Type") != "image/png" || !strings.HasPrefix(file.header.Get("Content-Disposition"), "inline") {
		t.Errorf("file: %v", file.header)
	}
	if old := f.send(t, "GET", fmt.Sprintf("/screens/%d/file/1-old/home.png", home.id("id")), ""); old.status != 404 {
		t.Errorf("an old version: %d", old.status)
	}
	b.post(page+"/archive").sees(200, "Archived “HOME@2x.png”")
	b.open("/projects/1?state=archived").sees(200, "HOME@2x.png")
	b.upload("/projects/1/screens", "home.png", "other").sees(200)
	b.post(page+"/activate").sees(200, "Activated as “HOME (Copy 1)@2x.png”")

	// Deletion, and undo.
	b.post("/projects/1/delete").sees(200, "“Email Campaign (Copy 1)” is deleted", "Undo", "It can be brought back until")
	if !strings.HasPrefix(b.at, user+"?job=") {
		t.Errorf("at %s", b.at)
	}
	_, job, _ := strings.Cut(b.at, "job=")
	b.open("/jobs/"+job).sees(200, "scheduled", "Deletion of “Email Campaign (Copy 1)”", "of <span data-role=\"total\">5</span> rows")
	b.open("/projects/1").sees(404)
	b.open(page).sees(404)
	b.post("/projects/1/undo").sees(200, "Brought back “Email Campaign (Copy 1)”")
	b.open("/jobs/"+job).sees(200, "cancelled")
	b.open(page).sees(200)
	f.send(t, "DELETE", "/api/projects/1", "").want(202)
	if err := f.worker.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	job = fmt.Sprint(f.send(t, "DELETE", "/api/projects/1", "").want(202).id("job_id"))
	b.open("/jobs/"+job).sees(200, "Gone, with 5 rows below it", "comment", "screen")
	b.open(user+"?job="+job).sees(200, "Gone, with 5 rows")
	b.post("/projects/1/undo").sees(409, "Too late")
	for _, path := range []string{"/nothing", "/users/999", "/users/x", "/projects/999", "/screens/999", "/jobs/999", "/jobs/0"} {
		b.open(path).sees(404, "To the accounts")
	}
	b.open(user + "?job=x").sees(200)
}

// upload sends a form with files, given as name and bytes.
func (b *browser) upload(path string, files ...string) *browser {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i+1 < len(files); i += 2 {
		if files[i] == "on_conflict" { // the form's check box, before the files
			if err := w.WriteField(files[i], files[i+1]); err != nil {
				b.t.Fatal(err)
			}
			continue
		}
		part, err := w.CreateFormFile("files", files[i])
		if err == nil {
			_, err = io.WriteString(part, files[i+1])
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.t.Fatal(err)
	}
	return b.do("POST", path, w.FormDataContentType(), &body)
}

func picturePNG(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	m := image.NewRGBA(image.Rect(0, 0, 700, 500))
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	if err := png.Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
