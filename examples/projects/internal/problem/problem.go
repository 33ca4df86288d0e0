// Package problem is what an error looks like to a client: RFC 9457 problem
// details. [From] is the one place where errors of the toolkit and of the
// application become status codes and sentences.
package problem

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// ContentType of a problem.
const ContentType = "application/problem+json"

// Problem is the body of an answer to a request that failed. It is an error, so
// that handlers can return one.
type Problem struct {
	// Type is a URI that names the kind of problem; "about:blank" where the status
	// says it all.
	Type string `json:"type"`
	// Title is the same for all problems of the type.
	Title string `json:"title"`
	// Status is the HTTP status code.
	Status int `json:"status"`
	// Detail says what happened here, and what to do.
	Detail string `json:"detail,omitempty"`
	// ExistingID is the row that has the name.
	ExistingID int64 `json:"existing_id,omitempty"`
	// RequestID finds the request in the server's log.
	RequestID string `json:"request_id,omitempty"`

	// RetryAfter is the header of that name, in seconds; 0: none.
	RetryAfter int `json:"-"`
	// Cause is for the log only.
	Cause error `json:"-"`
}

// Error is for logs.
func (p *Problem) Error() string {
	if p.Cause != nil {
		return fmt.Sprintf("%d %s: %v", p.Status, p.Title, p.Cause)
	}
	return fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail)
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

// New is a problem that its status describes.
func New(status int, format string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// of is a problem with a type of its own.
func of(status int, name, title, format string, args ...any) *Problem {
	return &Problem{Type: "urn:onerow:problem:" + name, Title: title, Status: status, Detail: fmt.Sprintf(format, args...)}
}

// Write sends the problem as problem+json.
func (p *Problem) Write(w http.ResponseWriter) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	if p.RetryAfter > 0 {
		h.Set("Retry-After", fmt.Sprint(p.RetryAfter))
	}
	w.WriteHeader(p.Status)
	_, err = w.Write(append(body, '\n'))
	return err
}
