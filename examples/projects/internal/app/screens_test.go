package app

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// sendsAllFirst uploads a file that is too large as a client does that reads nothing
// before it has sent everything: it gets the answer, not a broken connection.
func sendsAllFirst(t *testing.T, f *fixture, path string, size int) {
	t.Helper()
	host := strings.TrimPrefix(f.url, "http://")
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	_, werr := fmt.Fprintf(c, "PUT %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", path, host, size, strings.Repeat("x", size))
	if err := errors.Join(werr, c.SetReadDeadline(time.Now().Add(time.Minute))); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != 413 {
		t.Errorf("%s: %d", path, answer.StatusCode)
	}
	if err := errors.Join(answer.Body.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

func TestScreens(t *testing.T) {
	f := start(t)
	projects := fmt.Sprintf("/api/users/%d/projects", f.user(t, "team"))
	id := f.send(t, "POST", projects, object("name", "Email Campaign")).want(201).id("id")
	path := fmt.Sprintf("/api/projects/%d/screens", id)
	a := f.send(t, "PUT", path+"/home%402x.png", "\x89PNG\r\n\x1a\n").want(201)
	if a.get("filename") != "home@2x.png" || a.get("base") != "home" || a.get("version") != 1.0 || a.get("size") != 8.0 || a.get("state") != "active" || a.id("project_id") != id {
		t.Errorf("%s", a.body)
	}
	screen := a.id("id")
	if p := f.send(t, "PUT", path+"/HOME.jpg?on_conflict=fail", "x").want(409).problem(); p.ExistingID != screen {
		t.Errorf("%+v", p)
	}
	if a := f.send(t, "PUT", path+"/HOME.jpg", "xyz").want(200); a.id("id") != screen || a.get("version") != 2.0 || a.get("filename") != "HOME.jpg" {
		t.Errorf("%s", a.body)
	}
	f.send(t, "PUT", path+"/home.png?on_conflict=x", "x").want(400)
	for _, name := range []string{"home", "home.gif", "HOME%401.5x.webp"} {
		if a := f.send(t, "GET", path+"/"+name, "").want(200); a.id("id") != screen {
			t.Errorf("%s: %s", name, a.body)
		}
	}
	f.send(t, "GET", path+"/other.png", "").want(404)
	f.send(t, "GET", "/api/projects/999/screens/home", "").want(404)
	f.send(t, "PUT", "/api/projects/999/screens/home", "x").want(404)
	f.send(t, "PUT", path+"/empty.txt", "").want(201)
	if list := f.send(t, "GET", path, "").want(200); len(list.get("items").([]any)) != 2 || list.get("next") != nil {
		t.Errorf("%s", list.body)
	}
	f.send(t, "PUT", path+"/big.bin", strings.Repeat("x", maxUpload+1)).want(413)
	sendsAllFirst(t, f, path+"/big.bin", maxUpload+maxUpload/2)
	if n := f.count(t, "SELECT COUNT(*) FROM screen"); n != 2 {
		t.Errorf("%d screens", n)
	}
	// The file, with headers that let it do nothing.
	now := f.send(t, "GET", path+"/home", "").want(200)
	file := f.send(t, "GET", now.get("url").(string), "")
	if file.status != 200 || string(file.body) != "xyz" || file.header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.Contains(file.header.Get("Content-Security-Policy"), "sandbox") || !strings.Contains(file.header.Get("Cache-Control"), "immutable") ||
		!strings.HasPrefix(file.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%d %v %q", file.status, file.header, file.body)
	}
	if a := f.send(t, "GET", now.get("url").(string), "", "If-None-Match", file.header.Get("Etag")); a.status != 304 {
		t.Errorf("conditional: %d", a.status)
	}
	if a := f.send(t, "GET", now.get("thumb_url").(string), ""); a.status != 200 || a.header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("thumb: %d %v", a.status, a.header)
	}

	move := fmt.Sprintf("/api/screens/%d/", screen)
	if a := f.send(t, "POST", move+"archive", "").want(200); a.get("state") != "archived" {
		t.Errorf("%s", a.body)
	}
	f.send(t, "POST", move+"comments", object("body", "late")).want(409)
	f.send(t, "GET", path+"/home", "").want(404)
	f.send(t, "PUT", path+"/home.gif", "x").want(201)
	if a := f.send(t, "POST", move+"activate", "").want(200); a.get("filename") != "HOME (Copy 1).jpg" || a.get("base") != "home (copy 1)" {
		t.Errorf("%s", a.body)
	}
	f.send(t, "POST", "/api/screens/999/archive", "").want(404)
	f.send(t, "POST", "/api/screens/999/activate", "").want(404)

	c := f.send(t, "POST", move+"comments", object("body", "Nice 😀\nsecond line")).want(201)
	if c.get("body") != "Nice 😀\nsecond line" || c.id("screen_id") != screen || c.id("id") == 0 || c.get("created_at") == nil {
		t.Errorf("%s", c.body)
	}
	if list := f.send(t, "GET", move+"comments", "").want(200); len(list.get("items").([]any)) != 1 {
		t.Errorf("%s", list.body)
	}
	f.send(t, "POST", "/api/screens/999/comments", object("body", "x")).want(404)
	for _, body := range []string{"", "  \n", "a\x00b", strings.Repeat("x", 10_001)} {
		f.send(t, "POST", move+"comments", object("body", body)).want(422)
	}
	f.send(t, "POST", move+"comments", object("body", strings.Repeat("😀", 10_000))).want(201)

	f.send(t, "POST", fmt.Sprintf("/api/projects/%d/archive", id), "").want(200)
	f.send(t, "PUT", path+"/late.png", "x").want(409)
	f.send(t, "GET", path, "").want(200)
}
