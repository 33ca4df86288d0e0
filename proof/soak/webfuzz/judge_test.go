package webfuzz

import (
	"bytes"
	"image/jpeg"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/onerow/onerow/proof/soak/fuzz"
)

// planted is a client that judges answers without a program.
func planted(t *testing.T) (*client, *fuzz.Findings) {
	t.Helper()
	c := &client{to: &program{name: "p", url: "http://127.0.0.1:1"}, found: fuzz.NewFindings(1), marks: &marks{all: []string{"mine", "theirs"}}, well: new(atomic.Bool), served: new(atomic.Int64)}
	c.well.Store(true)
	return c, c.found
}

// TestAnswers plants what each kind of finding about answers is about; nothing is found in a good one.
func TestAnswers(t *testing.T) {
	policy := "default-src 'none'"
	for name, tt := range map[string]struct {
		status     int
		kind, body string
		policy     string
		want       string
	}{
		"nothing":             {200, "text/html; charset=utf-8", `<p title="&#34; ` + marker + `=&#34;1">mine &lt;` + marker + `&gt;</p>`, policy, ""},
		"a handler in a text": {200, "text/html", `<img src="/1" alt="a&lt;img src=x onerror=` + marker + `&gt;">`, policy, ""},
		"not HTML":            {200, "application/json", `"<` + marker + `>"`, "", ""},
		"500":                 {500, "text/plain", "", "", brokenStatus},
		"502":                 {502, "text/plain", "", "", brokenStatus},
		"503":                 {503, "text/plain", "", "", brokenStatus},
		"a tag":               {200, "text/html", `<p><` + marker + `></p>`, policy, brokenMarkup},
		"an attribute":        {200, "text/html", `<input value="x" ` + marker + `="1">`, policy, brokenMarkup},
		"a handler":           {404, "text/html", `<img src=x onerror=` + marker + `>`, policy, brokenMarkup},
		"an address":          {200, "text/html", `<a href="javascript:` + marker + `">`, policy, brokenMarkup},
		"no policy":           {200, "text/html", ``, "", brokenPolicy},
		"a stack":             {404, "text/plain", "goroutine 7 [running]", "", brokenInside},
		"a statement":         {400, "text/plain", "SELECT id, name FROM project WHERE id = ?", "", brokenInside},
		"an error":            {400, "text/plain", "Error 1064 (42000)", "", brokenInside},
		"somebody else":       {200, "application/json", `{"name":"theirs"}`, "", brokenStranger},
	} {
		c, found := planted(t)
		a := answer{tt.status, http.Header{"Content-Type": {tt.kind}, "Content-Security-Policy": {tt.policy}}, []byte(tt.body)}
		c.judge("mine", request{method: http.MethodGet, path: "/"}, a)
		if tt.want == "" && found.Any() || tt.want != "" && found.Count("p: "+tt.want) != 1 {
			t.Errorf("%s: want %q, found %s", name, tt.want, found.Report())
		}
	}
}

// TestKills: while sessions are killed 503 is right, and 500 where the log has as many killed statements.
func TestKills(t *testing.T) {
	c, found := planted(t)
	c.well.Store(false)
	q := request{method: http.MethodGet, path: "/"}
	c.judge("", q, answer{status: 503})
	c.judge("", q, answer{status: 500})
	if found.Any() || c.to.failed.Load() != 1 {
		t.Errorf("%s, %d", found.Report(), c.to.failed.Load())
	}
	c.judge("", q, answer{status: 502})
	judgeLog("p", "level=ERROR error=\"Error 1317 (70100): Query execution was interrupted\"\n", 1, found)
	if found.Count("p: "+brokenStatus+", under kills") != 1 || found.Count(brokenStatus+", under kills") != 0 {
		t.Error(found.Report())
	}
	judgeLog("p", "", 1, found)
	if found.Count(brokenStatus+", under kills") != 1 {
		t.Error(found.Report())
	}
}

// TestLog plants panics and connections.
func TestLog(t *testing.T) {
	for text, want := range map[string]string{
		"level=INFO msg=request path=/panic\nSIGQUIT: quit\ngoroutine 1 [running]:\nmain.main()\n": "",
		"level=ERROR msg=panic request=1\n":                                     brokenPanic,
		"http: panic serving 127.0.0.1:1: x\n":                                  brokenPanic,
		"panic: x\n\ngoroutine 1 [running]:\n":                                  brokenPanic,
		"SIGQUIT: quit\ngoroutine 9 [IO wait]:\nnet/http.(*conn).serve(0xc0)\n": brokenConns,
	} {
		found := fuzz.NewFindings(1)
		judgeLog("p", text, 0, found)
		if want == "" && found.Any() || want != "" && found.Count(want) == 0 {
			t.Errorf("%q: want %q, found %s", text, want, found.Report())
		}
	}
}

// TestRaw plants a second answer, and one of 500.
func TestRaw(t *testing.T) {
	c, found := planted(t)
	judgeRaw(c, "x", []byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
	judgeRaw(c, "x", []byte("HTTP/1.1 501 Not Implemented\r\n\r\n"))
	judgeRaw(c, "x", nil)
	if found.Any() {
		t.Error(found.Report())
	}
	judgeRaw(c, "x", []byte("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"))
	judgeRaw(c, "x", []byte("HTTP/1.1 500 Internal Server Error\r\n\r\n"))
	if found.Count("p: "+brokenSmuggled) != 1 || found.Count("p: "+brokenStatus) != 1 {
		t.Error(found.Report())
	}
}

// TestCompare plants a row that is lost, one that has changed and one that nobody was told of.
func TestCompare(t *testing.T) {
	want := map[string]string{"1": "a", "2": "b"}
	for name, tt := range map[string]struct {
		got  map[string]string
		want string
	}{
		"nothing": {map[string]string{"1": "a", "2": "b"}, ""},
		"lost":    {map[string]string{"1": "a"}, brokenLost},
		"changed": {map[string]string{"1": "a", "2": "c"}, brokenOther},
		"extra":   {map[string]string{"1": "a", "2": "b", "3": "c"}, brokenExtra},
	} {
		found := fuzz.NewFindings(1)
		compare(found, "t", want, tt.got)
		if tt.want == "" && found.Any() || tt.want != "" && found.Count(tt.want) != 1 {
			t.Errorf("%s: want %q, found %s", name, tt.want, found.Report())
		}
	}
}

// TestRedirects: one that leads away is found.
func TestRedirects(t *testing.T) {
	for to, stays := range map[string]bool{"": true, "/": true, "/jobs/1?a=b#c": true, "//evil.example": false, "https://evil.example/": false, `/\evil.example`: false, "javascript:x": false, "/\t/evil.example": false} {
		c, found := planted(t)
		o := &operator{token: c}
		o.staysHere(request{method: http.MethodGet, path: "/"}, answer{status: 303, header: http.Header{"Location": {to}}})
		if found.Any() == stays {
			t.Errorf("%q: %s", to, found.Report())
		}
	}
}

// TestCurl: the line can be pasted into bash.
func TestCurl(t *testing.T) {
	c, _ := planted(t)
	q := form("/a'b", nil)
	q.body = []byte("a'\x00\xff")
	if got, want := c.curl(q), `curl -i -X POST --path-as-is $'http://127.0.0.1:1/a\x27b' -H 'Content-Type: application/x-www-form-urlencoded' --data-binary $'a\x27\x00\xff'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := shell(strings.Repeat("a", most+1)); !strings.HasSuffix(got, "bytes") {
		t.Error(got)
	}
}

// TestBomb: the picture is one that Go's decoder takes to its end.
func TestBomb(t *testing.T) {
	const side = 101
	picture, err := jpeg.Decode(bytes.NewReader(bomb(side)))
	if err != nil || picture.Bounds().Dx() != side || picture.Bounds().Dy() != side {
		t.Errorf("%v", err)
	}
}
