package webfuzz

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/onerow/onerow/proof/soak/fuzz"
)

// Kinds of findings about answers.
const (
	brokenStatus   = "an answer of 500 and above"
	brokenNone     = "a request got no answer"
	brokenMarkup   = "a text is shown as markup"
	brokenPolicy   = "a page without a policy"
	brokenInside   = "an answer tells of the inside"
	brokenStranger = "an answer shows a row of somebody else"
	brokenTaken    = "what must be refused is done"
	brokenRefused  = "what is well formed is refused"
	brokenAnswer   = "an answer is not what was asked for"
)

// request is one, as it is sent.
type request struct {
	method, path string
	header       http.Header
	body         []byte
	stream       io.Reader // instead of body: without a length
}

// answer is what came back; status 0: nothing did.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ok says whether something was done; a redirect to a cleaned path does nothing.
func (a answer) ok() bool {
	return a.status >= 200 && a.status <= 304 && a.status != http.StatusMovedPermanently
}

func (a answer) refused() bool { return a.status >= 400 && a.status < 500 }

// client sends requests to one program and judges every answer.
type client struct {
	to     *program
	found  *fuzz.Findings
	marks  *marks
	http   *http.Client
	well   *atomic.Bool // whether the database is; else 503 and no answer are no findings
	served *atomic.Int64
}

// clientTime is how long an answer is waited for, more than any of the programs takes.
const clientTime = 40 * time.Second

func (w *world) client(to *program) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: 5 * time.Second, DisableCompression: true}
	w.transports = append(w.transports, transport)
	return &client{to: to, found: w.found, marks: &w.marks, well: &w.well, served: &w.served, http: &http.Client{Transport: transport, Timeout: clientTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// answeredEarly says whether a program may have refused a large body, and closed, while it was still sent: a
// client loses that answer.
func answeredEarly(q request, err error) bool {
	return len(q.body) > 1<<20 && (errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET))
}

// send sends a request of who has the mark: "" is somebody to whom any row may be shown.
func (c *client) send(ctx context.Context, mark string, q request) answer {
	a, err := c.do(ctx, q)
	if ctx.Err() != nil {
		return answer{}
	}
	c.served.Add(1)
	if err != nil {
		if c.well.Load() && !errors.Is(err, errUnsendable) && !answeredEarly(q, err) {
			c.broken(brokenNone, "%v: %s", err, c.curl(q))
		}
		return answer{}
	}
	c.judge(mark, q, a)
	return a
}

// errUnsendable is of requests that no client of Go's would send.
var errUnsendable = errors.New("cannot be sent")

func (c *client) do(ctx context.Context, q request) (answer, error) {
	body := q.stream
	if body == nil {
		body = bytes.NewReader(q.body)
	}
	req, err := http.NewRequestWithContext(ctx, q.method, c.to.url+q.path, body)
	if err != nil {
		return answer{}, fmt.Errorf("%w: %w", errUnsendable, err)
	}
	for name, values := range q.header {
		req.Header[name] = values
	}
	if host := q.header.Get("Host"); host != "" {
		req.Host = host
	}
	res, err := c.http.Do(req)
	if err != nil {
		if strings.Contains(err.Error(), "invalid header") || strings.Contains(err.Error(), "invalid URL") {
			err = errUnsendable
		}
		return answer{}, err //nolint:wrapcheck // it says all
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, 8<<20))
	return answer{res.StatusCode, res.Header, text}, errors.Join(err, res.Body.Close())
}

// inside is what nobody outside may learn: statements, stacks, errors of the server, files of the machine.
var inside = regexp.MustCompile(`Error \d{4} \(|goroutine \d+ \[|runtime error|INSERT INTO \w|SELECT [\w., ()]+ FROM \w+ WHERE|\.go:\d+|root:x:0:0`)

// markup is a text that broke out of where it was shown: the marker behind a bracket, or as an attribute.
var markup = regexp.MustCompile(`(?i)<` + marker + `|<(img|svg)([^>"]|"[^"]*")*[ /]on\w+=` + marker + `|<[a-z][^<>]*["'] *` + marker + `=|(href|src|action)="? *javascript:`)

// broken lists a finding about the program.
func (c *client) broken(kind, format string, args ...any) {
	if !c.well.Load() {
		kind += ", under kills"
	}
	c.found.Add(c.to.name+": "+kind, format, args...)
}

// judge holds an answer against what holds for all of them.
func (c *client) judge(mark string, q request, a answer) {
	well := c.well.Load()
	switch {
	case a.status == http.StatusInternalServerError && !well:
		c.to.failed.Add(1) // if its statement was killed, which the log says
		return
	case a.status >= 500 && (well || a.status != http.StatusServiceUnavailable):
		c.broken(brokenStatus, "%d: %s: %.300s", a.status, c.curl(q), a.body)
	case a.status >= 500:
		return
	}
	operators := c.to.name == "worker" || c.to.name == "local" // whose page shows errors of the database
	if text := inside.Find(a.body); text != nil && (well || !operators) && !strings.Contains(q.path, "/file/") && !bytes.Contains(q.body, text) {
		c.broken(brokenInside, "%q: %s", text, c.curl(q))
	}
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		if text := markup.Find(a.body); text != nil {
			c.broken(brokenMarkup, "%q: %s", text, c.curl(q))
		}
		if !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
			c.broken(brokenPolicy, "%s", c.curl(q))
		}
	}
	if len(a.header.Values("Set-Cookie")) > 0 && strings.Contains(strings.Join(a.header.Values("Set-Cookie"), " "), marker+"=") {
		c.broken(brokenMarkup, "a cookie was set: %s", c.curl(q))
	}
	if other := c.marks.foreign(mark, a.body); other != "" {
		c.broken(brokenStranger, "%s got text of %s: %s", mark, other, c.curl(q))
	}
}

// must finds an answer that is not one of these statuses, and says whether it is.
func (c *client) must(q request, a answer, kind string, statuses ...int) bool {
	good := slices.Contains(statuses, a.status)
	if !good && a.status != 0 && a.status < 500 { // those are found already
		c.broken(kind, "%d, not one of %d: %s: %.300s", a.status, statuses, c.curl(q), a.body)
	}
	return good
}

// curl is the command line that sends the request.
func (c *client) curl(q request) string {
	var line strings.Builder
	fmt.Fprintf(&line, "curl -i -X %s --path-as-is %s", q.method, shell(c.to.url+q.path))
	for name, values := range q.header {
		for _, value := range values {
			fmt.Fprintf(&line, " -H %s", shell(name+": "+value))
		}
	}
	switch {
	case q.stream != nil:
		line.WriteString(" -T - # a body without a length")
	case len(q.body) > 0:
		fmt.Fprintf(&line, " --data-binary %s", shell(string(q.body)))
	}
	return line.String()
}

// most is how much of a text is printed; a longer one tells its length.
const most = 300

// shell quotes a word for bash.
func shell(word string) string {
	more := ""
	if len(word) > most {
		word, more = word[:most], fmt.Sprintf(" #…%d bytes", len(word))
	}
	if !strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r > '~' || r == '\'' || r == '\\' }) {
		return "'" + word + "'" + more
	}
	var text strings.Builder
	for _, b := range []byte(word) {
		if b < ' ' || b > '~' || b == '\'' || b == '\\' {
			fmt.Fprintf(&text, `\x%02x`, b)
		} else {
			text.WriteByte(b)
		}
	}
	return "$'" + text.String() + "'" + more
}

// form makes a request of a page's form, as a browser sends it.
func form(path string, fields url.Values) request {
	return request{method: http.MethodPost, path: path, body: []byte(fields.Encode()), header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}
}
