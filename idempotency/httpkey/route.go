package httpkey

import (
	"net/http"
	"reflect"
	"strings"

	"github.com/onerow/onerow/idempotency"
)

// redirects is the type of the handlers that do nothing but send a request elsewhere.
var redirects = reflect.TypeOf(http.RedirectHandler("/", http.StatusTemporaryRedirect))

// route is the pattern of a request; found is false where the mux has none, or sends the request elsewhere:
// its answer is no outcome, and what the client sends there has the same key.
func (m *Middleware) route(r *http.Request, next http.Handler) (pattern string, found bool) {
	mux, isMux := next.(interface {
		Handler(*http.Request) (http.Handler, string)
	})
	if !isMux {
		return r.Pattern, true
	}
	h, pattern := mux.Handler(r)
	return pattern, pattern != "" && reflect.TypeOf(h) != redirects
}

// operations are the request's operation, a method and a route, and the names that it had before. found is
// false where the mux has no route.
func (m *Middleware) operations(r *http.Request, next http.Handler) (name string, former []string, found bool) {
	pattern, found := m.route(r, next)
	if !found {
		return "", nil, false
	}
	route, earlier := nameless(pattern), []string{pattern} // as it was named when wildcards counted with their names
	if m.cfg.Route != nil {
		route, earlier = m.cfg.Route(r), nil
	}
	if m.cfg.Formerly != nil {
		earlier = m.cfg.Formerly(r)
	}
	name = operation(r, route)
	for _, e := range earlier {
		if e = operation(r, e); e != name && len(e) <= idempotency.MaxKey {
			former = append(former, e)
		}
	}
	return name, former, true
}

// operation is the name of a method and a route. Methods that clients invent share a name, because operations
// are labels of the metrics; the method is in the fingerprint too.
func operation(r *http.Request, route string) string {
	method := r.Method
	switch method {
	case http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete:
	default:
		method = "OTHER"
	}
	if first, rest, hasMethod := strings.Cut(route, " "); hasMethod && first == r.Method {
		route = strings.TrimLeft(rest, " \t")
		method = r.Method
	}
	return strings.TrimSpace(method + " " + route)
}

// nameless is a pattern of http.ServeMux without the names of its wildcards, which mean nothing to a client:
// {id} is {}, {path...} is {...}, and {$}, the end of a path, stays. No two patterns that a mux can tell
// apart become one.
func nameless(pattern string) string {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(pattern, "{")
		b.WriteString(before)
		name, after, closed := strings.Cut(rest, "}")
		if !open || !closed {
			return b.String()
		}
		switch {
		case name == "$":
			b.WriteString("{$}")
		case strings.HasSuffix(name, "..."):
			b.WriteString("{...}")
		default:
			b.WriteString("{}")
		}
		pattern = after
	}
}
