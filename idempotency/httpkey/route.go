package httpkey

import (
	"net/http"
	"reflect"
	"regexp"
	"strings"
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
