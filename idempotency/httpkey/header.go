package httpkey

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/internal/answers"
)

// The headers of this package.
const (
	// HeaderKey carries the key of a request.
	HeaderKey = "Idempotency-Key"
	// HeaderReplayed is "true" on an answer that was made by an earlier request.
	HeaderReplayed = "Idempotency-Replayed"
	// HeaderUnrecorded is "true" on an answer that could not be stored: the work was done, a request
	// with the same key will not get this answer.
	HeaderUnrecorded = "Idempotency-Unrecorded"
)

// What [ParseKey] answers.
var (
	// ErrKeyMissing: there is no Idempotency-Key.
	ErrKeyMissing = answers.New(400, "the Idempotency-Key is missing", "httpkey: the Idempotency-Key is missing")
	// ErrKeyMalformed: there is one, and it is not a key.
	ErrKeyMalformed = answers.New(400, "the Idempotency-Key is not valid", "httpkey: the Idempotency-Key is malformed")
)

// ParseKey reads the Idempotency-Key of a request's headers. It takes
//
//   - a structured-field string (RFC 9651): "…", of printable ASCII, where \" and \\ stand for " and \;
//     without parameters;
//   - a raw value: visible ASCII without quotes, commas and semicolons. A comma may come from a proxy that
//     joined two headers.
//
// "abc" and abc are the same key; nothing is cut and case counts. One that is empty, has more than
// idempotency.MaxKey bytes, or is sent in two headers is [ErrKeyMalformed].
func ParseKey(h http.Header) (string, error) {
	values := h.Values(HeaderKey)
	switch len(values) {
	case 0:
		return "", ErrKeyMissing
	case 1:
	default:
		return "", fmt.Errorf("%w: it was sent %d times", ErrKeyMalformed, len(values))
	}
	key := strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		text := quoted.FindStringSubmatch(key)
		if text == nil {
			return "", fmt.Errorf("%w: a key in quotes is printable ASCII, with a backslash before a quote or a backslash only, and nothing after it", ErrKeyMalformed)
		}
		key = unescape.Replace(text[1])
	} else if at := notRaw.FindStringIndex(key); at != nil {
		return "", fmt.Errorf("%w: byte %d is not allowed in a key without quotes", ErrKeyMalformed, at[0]+1)
	}
	switch {
	case key == "":
		return "", fmt.Errorf("%w: it is empty", ErrKeyMalformed)
	case len(key) > idempotency.MaxKey:
		return "", fmt.Errorf("%w: it has %d bytes, at most %d are allowed", ErrKeyMalformed, len(key), idempotency.MaxKey)
	}
	return key, nil
}

var (
	quoted   = regexp.MustCompile(`^"((?:[ !#-\[\]-~]|\\["\\])*)"$`) // a structured-field string
	unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`)
	notRaw   = regexp.MustCompile(`[^!#-+\--:<-~]`)
)

// redirects is the type of the handlers that do nothing but send a request elsewhere.
var redirects = reflect.TypeOf(http.RedirectHandler("/", http.StatusTemporaryRedirect))

// operation names the request's method and route. found is false where the mux has no route, or sends the
// request elsewhere: its answer is no outcome, and what the client sends there has the same key. Methods that
// clients invent share a name, because operations are labels of the metrics; the method is in the
// fingerprint too.
func (m *Middleware) operation(r *http.Request, next http.Handler) (name string, found bool) {
	route := r.Pattern
	if mux, isMux := next.(interface {
		Handler(*http.Request) (http.Handler, string)
	}); isMux {
		var h http.Handler
		if h, route = mux.Handler(r); route == "" || reflect.TypeOf(h) == redirects {
			return "", false
		}
	}
	if route = nameless(route); m.cfg.Route != nil {
		route = m.cfg.Route(r)
	}
	method := r.Method
	switch method {
	case http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete:
	default:
		method = "OTHER"
	}
	if first, rest, hasMethod := strings.Cut(route, " "); hasMethod && first == r.Method {
		route, method = strings.TrimLeft(rest, " \t"), r.Method
	}
	return strings.TrimSpace(method + " " + route), true
}

// wildcard is one in a pattern of http.ServeMux, or of a router that writes more into it.
var wildcard = regexp.MustCompile(`\{[^}]*\}`)

// nameless is a pattern without the names of its wildcards, which mean nothing to a client: {id} is {},
// {path...} is {...}, and {$}, the end of a path, stays. No two patterns that a mux can tell apart become
// one.
func nameless(pattern string) string {
	return wildcard.ReplaceAllStringFunc(pattern, func(name string) string {
		switch {
		case name == "{$}":
			return name
		case strings.HasSuffix(name, "...}"):
			return "{...}"
		}
		return "{}"
	})
}
