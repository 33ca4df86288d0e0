package httpkey

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// What the handler's http.ResponseWriter answers.
var (
	// ErrBuffered: Flush and Hijack are not possible, the answer is sent when it has been stored. It is
	// http.ErrNotSupported.
	ErrBuffered = fmt.Errorf("httpkey: the answer is sent when it has been stored, it can be neither flushed nor hijacked: %w", http.ErrNotSupported)
	// ErrResponseTooLarge: the answer is larger than Config.MaxResponse.
	ErrResponseTooLarge = errors.New("httpkey: the answer is too large to be stored")
	// ErrStatus: the handler's status is not that of an answer: 101, or no three digits.
	ErrStatus = errors.New("httpkey: not the status of an answer")
	// ErrFinished: the handler has returned.
	ErrFinished = errors.New("httpkey: the handler has returned, its answer is closed")
)

// recorder is the handler's http.ResponseWriter. It keeps the answer. Like that of net/http it
// takes the headers as they are at the first WriteHeader or Write. A goroutine that the handler
// left behind may still write, to no effect.
type recorder struct {
	outer  http.ResponseWriter
	max    int
	header http.Header // the handler's

	mu     sync.Mutex
	status int         // 0: none yet
	sent   http.Header // as they were when the status was set
	body   []byte
	err    error // the first misuse: there is no answer to store
	closed bool
}

func newRecorder(w http.ResponseWriter, limit int) *recorder {
	header := http.Header{} // that of w may be nil
	maps.Copy(header, w.Header().Clone())
	return &recorder{outer: w, max: limit, header: header}
}

// Header is the handler's headers, those that were set outside of the middleware included.
func (c *recorder) Header() http.Header { return c.header }

// WriteHeader takes the status and the headers. 1xx answers are dropped.
func (c *recorder) WriteHeader(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start(status)
}

func (c *recorder) start(status int) {
	switch {
	case c.closed || c.status != 0 || status >= 100 && status < 200 && status != http.StatusSwitchingProtocols:
		return
	case status < 200 || status > 999:
		c.err = cmp.Or(c.err, fmt.Errorf("%w: %d", ErrStatus, status))
		return
	}
	c.status, c.sent = status, c.Header().Clone()
}

// Write keeps p, up to Config.MaxResponse.
func (c *recorder) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, ErrFinished
	}
	if c.status == 0 {
		c.start(http.StatusOK)
	}
	if !hasBody(c.status) {
		return 0, http.ErrBodyNotAllowed
	}
	if len(p) > c.max-len(c.body) {
		c.err = cmp.Or(c.err, fmt.Errorf("%w: it has more than %d bytes", ErrResponseTooLarge, c.max))
	}
	if c.err != nil {
		return 0, c.err
	}
	c.body = append(c.body, p...)
	return len(p), nil
}

// FlushError says that it cannot. There is no Flush, so that a type assertion says so too.
func (c *recorder) FlushError() error { return ErrBuffered }

// Hijack says that it cannot.
func (c *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, ErrBuffered }

// SetReadDeadline is for http.ResponseController.
func (c *recorder) SetReadDeadline(t time.Time) error {
	return http.NewResponseController(c.outer).SetReadDeadline(t)
}

// SetWriteDeadline is for http.ResponseController.
func (c *recorder) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(c.outer).SetWriteDeadline(t)
}

// close ends the answer and returns it, or says why there is none.
func (c *recorder) close() (answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.start(http.StatusOK)
	c.closed = true
	if c.err != nil {
		return answer{}, c.err
	}
	a := answer{status: c.status, header: http.Header{}, body: c.body}
	for name, values := range c.sent {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case strings.HasPrefix(name, http.TrailerPrefix), canonical == "Trailer", canonical == "Content-Length",
			canonical == "Transfer-Encoding", canonical == HeaderReplayed, canonical == HeaderUnrecorded:
		default:
			a.header[canonical] = append(a.header[canonical], values...)
		}
	}
	// What net/http would add while it sends, so that it is stored too.
	if _, set := a.header["Content-Type"]; !set && len(a.body) > 0 && a.header.Get("Content-Encoding") == "" {
		a.header.Set("Content-Type", http.DetectContentType(a.body))
	}
	return a, nil
}

func hasBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}
