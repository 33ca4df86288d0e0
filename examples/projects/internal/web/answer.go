// Package web is what the pages and the JSON interface share: request ids, the log
// line of a request, deadlines, the guard against requests that other sites make,
// and the addresses of files.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
)

// WriteProblem answers a request with what its error is to a client.
func WriteProblem(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	p := Problem(r, log, err)
	if err := p.Write(w); err != nil {
		log.DebugContext(r.Context(), "the client is gone", "error", err)
	}
}

// Problem is what an error is to a client. It logs what is not the client's doing.
func Problem(r *http.Request, log *slog.Logger, err error) *problem.Problem {
	p := *problem.From(err)
	p.RequestID = RequestID(r.Context())
	if p.Status >= http.StatusInternalServerError && !errors.Is(r.Context().Err(), context.Canceled) {
		log.ErrorContext(r.Context(), "request failed", "request", p.RequestID, "status", p.Status, "error", err)
	}
	return &p
}

// FileURL is where the file of a screen is. The key of the blob is part of it and
// never used for another file, so the file may be cached for ever.
func FileURL(s store.Screen) string {
	return fmt.Sprintf("/screens/%d/file/%s/%s", s.ID, s.BlobKey, url.PathEscape(s.Filename))
}

// ThumbURL is where the picture of a screen for lists is.
func ThumbURL(s store.Screen) string {
	return fmt.Sprintf("/screens/%d/thumb/%s", s.ID, s.BlobKey)
}
