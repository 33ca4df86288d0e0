package app

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
)

func TestRequestsThatAreWrong(t *testing.T) {
	f := start(t)
	id := f.user(t, "team")
	projects := fmt.Sprintf("/api/users/%d/projects", id)
	for _, tt := range []struct {
		body   string
		status int
		says   string
	}{
		{"", 400, "empty"},
		{"  ", 400, "empty"},
		{"{", 400, "line 1, column 2"},
		{"{\n  \"name\": }", 400, "line 2, column 11"},
		{`{"name":"a"} x`, 400, "line 1, column 14"},
		{`{"name":"a"}{}`, 400, "line 1, column 13"},
		{`{"name":1}`, 400, `"name"`},
		{`{"name":null}`, 400, "missing"},
		{`{}`, 400, "missing"},
		{`[]`, 400, "object"},
		{`"x"`, 400, "object"},
		{`{"name":"a","colour":"red"}`, 400, "colour"},
		{`{"name":"a","name":"b"}`, 400, "duplicate"},
		{`{"Name":"a"}`, 400, "Name"},
		{"{\"name\":\"a\xff\"}", 400, "line 1, column 11"},
		{`{"name":"a\ud800"}`, 400, "line 1, column 11"},
		{`{"name":"a\ud800\ud800"}`, 400, "surrogate"},
		{`{"name":"` + strings.Repeat("x", 200_000) + `"}`, 413, "bytes"},
	} {
		if p := f.send(t, "POST", projects, tt.body).want(tt.status).problem(); !strings.Contains(p.Detail, tt.says) {
			t.Errorf("%.40q: %s", tt.body, p.Detail)
		}
	}
	f.send(t, "POST", projects, `{"name":"a\ud83d\ude00 \\ud800"}`).want(201)
	body := object("name", "typed")
	for _, kind := range []string{"text/plain", "multipart/form-data; boundary=x", "application/json; charset=latin1", "x;;"} {
		f.send(t, "POST", projects, body, "Content-Type", kind).want(415)
	}
	f.send(t, "POST", projects, "name=a", "Content-Type", "application/x-www-form-urlencoded").want(415)
	f.send(t, "POST", projects, object("name", "typed 1"), "Content-Type", "application/x-www-form-urlencoded").want(201)
	f.send(t, "POST", projects, object("name", "typed 2"), "Content-Type", "application/json; charset=UTF-8").want(201)

	f.send(t, "GET", "/api/", "").want(404)
	f.send(t, "GET", "/api/nothing", "").want(404)
	f.send(t, "POST", "/api/projects/1/screens/a/b", "").want(404)
	if a := f.send(t, "DELETE", projects, "").want(405); a.header.Get("Allow") != "GET, HEAD, POST" {
		t.Error(a.header)
	}
	if a := f.send(t, "POST", "/api/projects/1", "").want(405); a.header.Get("Allow") != "GET, HEAD, PATCH, DELETE" {
		t.Error(a.header)
	}
	if a := f.send(t, "HEAD", projects, ""); a.status != 200 || len(a.body) != 0 {
		t.Error(a.status)
	}
	if a := f.send(t, "GET", "/healthz", "").want(200); a.header.Get("X-Request-Id") == "" {
		t.Error(a.header)
	}
	// What a page of another site makes a browser send.
	for _, headers := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Origin", "https://evil.example"}} {
		f.send(t, "POST", projects, object("name", "stolen"), headers...).want(403)
		f.send(t, "POST", fmt.Sprintf("/projects/%d/delete", 1), "", headers...).want(403)
	}
	f.send(t, "GET", projects, "", "Sec-Fetch-Site", "cross-site").want(200)
	// A name that resolves to this machine is not this site's.
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example:8080", "127.1", "[::1].evil.example"} {
		for _, path := range []string{projects, "/", "/healthz"} {
			f.send(t, "GET", path, "", "Host", host).want(421)
		}
		f.send(t, "POST", projects, object("name", "stolen"), "Host", host, "Origin", "http://"+host).want(421)
	}
	for _, host := range []string{"localhost", "localhost:1", "127.0.0.1", "[::1]:8080", "[::1]"} {
		f.send(t, "GET", projects, "", "Host", host).want(200)
	}
}

// A database that does not answer is 503 with Retry-After, and health says so.
func TestDatabaseAway(t *testing.T) {
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dsn := "root:geheim@tcp(" + listener.Addr().String() + ")/projects"
	if err := listener.Close(); err != nil { // nobody listens there now
		t.Fatal(err)
	}
	f := serveOn(t, dbtest.OpenDSN(t, dsn))
	for _, path := range []string{"/healthz", "/api/users/1/projects", "/api/projects/1", "/api/projects/1/screens", "/api/jobs/1"} {
		if a := f.send(t, "GET", path, "").want(503); a.header.Get("Retry-After") == "" || strings.Contains(string(a.body), "geheim") {
			t.Errorf("%s: %v %s", path, a.header, a.body)
		}
	}
	f.send(t, "POST", "/api/users/1/projects", object("name", "x")).want(503)
	f.send(t, "PUT", "/api/projects/1/screens/a.png", "x").want(503)
	if a := f.send(t, "GET", "/", ""); a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(string(a.body), "<h1>") {
		t.Errorf("page: %d %s", a.status, a.body)
	}
}
