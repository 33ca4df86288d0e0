package httpkey

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/errtext"
	"github.com/onerow/onerow/internal/trace"
)

type request struct {
	*http.Request
	next http.Handler
	key  idempotency.Key // the zero Key: it has none, and that is allowed
	// fingerprint is what the request stands for, as the payload of its key.
	fingerprint idempotency.Fingerprint
	body        []byte
}

// hasKey says whether the request has one; a request that is read has none only where that is allowed.
func (q *request) hasKey() bool { return q.key.ID != "" }

// trace begins the request's span: its context is the request's from then on.
func (q *request) trace(name string) (end func()) {
	ctx, span := trace.Start(q.Context(), name, slog.String("onerow.operation", q.key.Operation))
	if span.On() {
		q.Request = q.WithContext(ctx)
	}
	return func() { span.End(new(error)) }
}

// take decides about a request from its method, route and headers. It is nil where that was all: the request
// was none of the middleware's business, or was refused.
func (m *Middleware) take(w http.ResponseWriter, r *http.Request, next http.Handler) *request {
	operation, found := "", false
	if !isSafe(r.Method) {
		operation, found = m.operation(r, next)
	}
	if !found {
		next.ServeHTTP(w, r)
		return nil
	}
	id, err := ParseKey(r.Header)
	switch {
	case errors.Is(err, ErrKeyMissing) && m.cfg.Optional:
		return &request{Request: r, next: next}
	case errors.Is(err, ErrKeyMissing):
		m.problem(w, r, keyMissing, err)
		return nil
	case err != nil:
		m.problem(w, r, keyMalformed, err)
		return nil
	}
	tenant, err := m.cfg.Tenant(r)
	if err != nil {
		m.problem(w, r, noTenant, err)
		return nil
	}
	key := idempotency.Key{Tenant: tenant, Operation: operation, ID: id}
	if err := key.Check(); err != nil {
		m.problem(w, r, internal, err)
		return nil
	}
	return &request{Request: r, next: next, key: key}
}

func isSafe(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodConnect, "QUERY":
		return true
	}
	return false
}

// errConsumed: something outside of this middleware has read the body, so it is not known what the payload
// is.
var errConsumed = errors.New("httpkey: the body was read before this middleware; put what reads it (r.FormValue) inside")

// read reads the body and makes the fingerprint. It answers the refused ones.
func (m *Middleware) read(w http.ResponseWriter, q *request) bool {
	var from io.ReadCloser = http.NoBody
	if q.Body != nil { // nil: it did not come through a server
		from = q.Body
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, from, m.cfg.MaxRequest))
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		m.problem(w, q.Request, requestTooLarge, err)
		return false
	case err != nil:
		m.problem(w, q.Request, requestUnreadable, err)
		return false
	case len(body) == 0 && (q.ContentLength > 0 || len(q.PostForm) > 0 || q.MultipartForm != nil):
		m.problem(w, q.Request, internal, errConsumed)
		return false
	}
	q.body = body
	if q.fingerprint, err = m.fingerprint(q.Request, body); err != nil {
		m.problem(w, q.Request, requestUnreadable, err)
		return false
	}
	return true
}

// serve runs the handler with a request of its own, which has the whole body, so that it can be run again.
func (m *Middleware) serve(ctx context.Context, rec *recorder, q *request, s *state) {
	r := q.Clone(context.WithValue(ctx, stateKey{}, s))
	r.Body, r.ContentLength, r.TransferEncoding = http.NoBody, int64(len(q.body)), nil
	if len(q.body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(q.body))
	}
	defer func() { // the server removes the files of its own request only
		if r.MultipartForm != nil {
			if err := r.MultipartForm.RemoveAll(); err != nil {
				m.cfg.Log.WarnContext(ctx, "httpkey: files of a form stay in the temporary folder", "error", err)
			}
		}
	}()
	q.next.ServeHTTP(rec, r)
}

// gone says whether the client has gone before anything was done.
func (q *request) gone() error {
	return errtext.Wrap(q.Context().Err(), "httpkey: the client has gone, nothing was done")
}
