package httpkey

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/trace"
)

// ErrInvalidConfig means that a configuration is invalid; the message says what to change.
var ErrInvalidConfig = errors.New("httpkey: invalid configuration")

// alwaysStored are the headers of an answer that are stored with it.
var alwaysStored = []string{"Content-Type", "Content-Encoding", "Content-Language", "Content-Disposition", "Location", "Content-Location", "Etag", "Last-Modified", "Link"}

// neverStored are secrets of one client, or facts of one connection.
var neverStored = []string{"Set-Cookie", "Set-Cookie2", "Authorization", "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Content-Length", "Date", HeaderReplayed, HeaderUnrecorded}

// Config is how requests are taken. Only Tenant is required.
type Config struct {
	// Tenant is whose key it is: the authenticated user or account, never what a client can choose. At most
	// idempotency.MaxKey bytes. An error is answered with 403, its text is only logged. Required: without it,
	// who guesses a key reads another's answer. See [SingleTenant].
	Tenant func(*http.Request) (string, error)
	// Optional lets requests without a key through. A malformed key is refused all the same.
	Optional bool
	// Route names the route of a request, without its method; one of few names, not the path. Default: the
	// pattern of http.ServeMux, inside of it (r.Pattern) or around it, without the names of its wildcards:
	// /orders/{id} is /orders/{}. Where there is none, all routes are one, and a key that is sent to two
	// paths is a mismatch. Where a route is renamed, let Route give the old name while its keys are alive; so
	// for keys that were stored before 2026-11-22, when the names of wildcards counted.
	Route func(*http.Request) string
	// Stored says which answers are stored and replayed, by their status. What is not stored was not done: in
	// OneCommit it is rolled back, in TwoStep the key is released, and the next request with the key runs the
	// handler. So in TwoStep it must be false for a status only if handlers answer it before their work has
	// begun. A stored answer of 400 and above undoes what was written through Tx; one of 500 and above in
	// TwoStep is marked for attention besides. Default: [StoredOneCommit] and [StoredTwoStep].
	Stored func(status int) bool
	// Fingerprint is what a request stands for: another request with the same key, and another method or
	// fingerprint, is a mismatch. body is r's, which was read. Default: the host (a name, without its
	// port), the path as it was sent and as the middleware sees it, the query, and the body; of a multipart
	// form its parts, those of one name in their order, whatever is between them. A key that was stored
	// before by the default goes on. An error is answered with 400 and only logged.
	Fingerprint func(r *http.Request, body []byte) ([]byte, error)
	// MaxRequest is the size in bytes up to which a request's body is accepted. Default 1 MiB.
	MaxRequest int64
	// MaxResponse is the size in bytes up to which an answer, its body and stored headers, is accepted.
	// Default 512 KiB. As JSON it grows by a third, which must fit into idempotency.Config.MaxResult or go to
	// its References.
	MaxResponse int
	// Headers are stored besides Content-Type, Content-Encoding, Content-Language, Content-Disposition,
	// Content-Location, Location, ETag, Last-Modified and Link. Set-Cookie and those of a connection are
	// refused.
	Headers []string
	// Wait is how long a request waits for the database and, in OneCommit, for another one with its key.
	// Default 10 seconds.
	Wait time.Duration
	// Timeout is how long a handler and its COMMIT may take; then its context ends. Default 1 minute.
	Timeout time.Duration
	// Lease lets another request take the key over, in TwoStep, when it has passed without an outcome: the
	// handler may be run twice then, or passes on the token of [Claim]. At least Timeout. Default 0: a human
	// decides.
	Lease time.Duration
	// Log gets what a client must not see. Default: slog.Default().
	Log *slog.Logger
}

// SingleTenant is a [Config].Tenant for a service whose clients may see each other's answers.
func SingleTenant(*http.Request) (string, error) { return "", nil }

// Middleware makes handlers idempotent. It may be used for many handlers, from many goroutines.
type Middleware struct {
	db     onerow.DB
	keys   *idempotency.Keys
	cfg    Config
	stored map[string]bool // headers, by their canonical names
	gates  gates
}

// New checks the configuration. It sends nothing. db is a pool.
func New(db onerow.DB, keys *idempotency.Keys, cfg Config) (*Middleware, error) {
	switch db.(type) {
	case nil, *onerow.Tx, interface{ Commit() error }:
		return nil, fmt.Errorf("%w: it needs a pool, not a %T", ErrInvalidConfig, db)
	}
	switch {
	case keys == nil:
		return nil, fmt.Errorf("%w: it needs keys", ErrInvalidConfig)
	case cfg.Tenant == nil:
		return nil, fmt.Errorf("%w: Tenant is missing; SingleTenant is for services without tenants", ErrInvalidConfig)
	case cfg.MaxRequest < 0 || cfg.MaxResponse < 0 || cfg.Wait < 0 || cfg.Timeout < 0 || cfg.Lease < 0:
		return nil, fmt.Errorf("%w: MaxRequest is %d, MaxResponse %d, Wait %s, Timeout %s, Lease %s; none may be negative",
			ErrInvalidConfig, cfg.MaxRequest, cfg.MaxResponse, cfg.Wait, cfg.Timeout, cfg.Lease)
	}
	cfg.MaxRequest, cfg.MaxResponse = cmp.Or(cfg.MaxRequest, 1<<20), cmp.Or(cfg.MaxResponse, 512<<10)
	cfg.Wait, cfg.Timeout = cmp.Or(cfg.Wait, 10*time.Second), cmp.Or(cfg.Timeout, time.Minute)
	if cfg.Lease != 0 && cfg.Lease < cfg.Timeout {
		return nil, fmt.Errorf("%w: the lease of %s ends before the handler has to, after %s", ErrInvalidConfig, cfg.Lease, cfg.Timeout)
	}
	cfg.Log = trace.Log(cmp.Or(cfg.Log, slog.Default()))
	m := &Middleware{db: db, keys: keys, cfg: cfg, stored: map[string]bool{}, gates: gates{open: map[idempotency.Key]*gate{}}}
	for _, name := range slices.Concat(alwaysStored, cfg.Headers) {
		canonical := http.CanonicalHeaderKey(strings.TrimSpace(name))
		if canonical == "" || slices.Contains(neverStored, canonical) {
			return nil, fmt.Errorf("%w: the header %q is never stored", ErrInvalidConfig, name)
		}
		m.stored[canonical] = true
	}
	return m, nil
}
