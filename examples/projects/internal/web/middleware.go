package web

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/onerow/onerow/examples/projects/internal/problem"
)

// Times of a request. An upload has its own.
const (
	requestTime = 30 * time.Second
	uploadTime  = 20 * time.Minute
)

type requestIDKey struct{}

// RequestID returns the id under which the log has the request.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// Wrap puts around a handler what every request gets: an id, a deadline, a line in
// the log, an answer even when the handler panics, safe headers; and it refuses
// what another site's page sends (CSRF) and addresses with "//" or "..".
func Wrap(next http.Handler, log *slog.Logger) http.Handler {
	guard := http.NewCrossOriginProtection()
	guard.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		WriteProblem(w, r, log, problem.New(http.StatusForbidden, "The request comes from another site's page."))
	}))
	next = ownHosts(guard.Handler(plainPaths(next, log)), log)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		id := strings.ToLower(rand.Text()[:12])
		ctx := context.WithValue(r.Context(), requestIDKey{}, id)
		limit := requestTime
		if isUpload(r) {
			limit = uploadTime
		}
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		deadlines(ctx, w, log, begin.Add(limit+5*time.Second))
		h := w.Header()
		h.Set("X-Request-Id", id)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		rec := &recorder{ResponseWriter: w}
		r = r.WithContext(ctx)
		defer func() {
			if what := recover(); what != nil {
				if err, ok := what.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(what)
				}
				log.ErrorContext(ctx, "panic", "request", id, "panic", what, "stack", string(debug.Stack()))
				if rec.status == 0 {
					WriteProblem(rec, r, log, problem.New(http.StatusInternalServerError, "Something went wrong here. The log has the details under the request id."))
				}
			}
			log.InfoContext(ctx, "request", "request", id, "method", r.Method, "path", r.URL.Path, "status", rec.status,
				"bytes", rec.bytes, "took", time.Since(begin).Round(time.Microsecond))
		}()
		next.ServeHTTP(rec, r)
	})
}

func isUpload(r *http.Request) bool {
	return strings.Contains(r.URL.Path, "/screens") && (r.Method == http.MethodPut || r.Method == http.MethodPost) ||
		strings.Contains(r.URL.Path, "/file/")
}

// deadlines holds clients that read or write slowly to the request's time.
func deadlines(ctx context.Context, w http.ResponseWriter, log *slog.Logger, at time.Time) {
	c := http.NewResponseController(w)
	if err := errors.Join(c.SetReadDeadline(at), c.SetWriteDeadline(at)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		log.DebugContext(ctx, "deadlines of a request", "error", err)
	}
}

// ownHosts refuses names of other sites on the loopback interface: a name that resolves to it makes a browser
// believe that this is the other site, whose page may then do everything here (DNS rebinding).
func ownHosts(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = strings.Trim(r.Host, "[]")
		}
		if at != nil && at.IP.IsLoopback() && host != "localhost" && net.ParseIP(host) == nil {
			WriteProblem(w, r, log, problem.New(http.StatusMisdirectedRequest, "This is not the address of that site. Ask for localhost or 127.0.0.1."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// plainPaths answers what http.ServeMux would redirect to the cleaned path: a
// request with a body must not be sent elsewhere because of a strange name in it.
func plainPaths(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		escaped := r.URL.EscapedPath()
		clean := path.Clean(escaped)
		if strings.HasSuffix(escaped, "/") && clean != "/" {
			clean += "/"
		}
		if clean != escaped {
			WriteProblem(w, r, log, problem.New(http.StatusBadRequest, "The address contains an empty part, \".\" or \"..\"; percent-encode the characters of a name."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// recorder remembers what was answered, for the log.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 || r.status < http.StatusOK {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
