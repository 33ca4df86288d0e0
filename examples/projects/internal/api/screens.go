package api

import (
	"context"
	"io"
	"net/http"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/examples/projects/internal/web"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// screenJSON is a screen and where its file is.
type screenJSON struct {
	store.Screen
	Base     string `json:"base"`
	URL      string `json:"url"`
	ThumbURL string `json:"thumb_url"`
}

func screenOf(s store.Screen) screenJSON {
	return screenJSON{Screen: s, Base: string(s.Base), URL: web.FileURL(s), ThumbURL: web.ThumbURL(s)}
}

func (a *API) findScreen(w http.ResponseWriter, r *http.Request) error {
	projectID, err := id(r)
	if err != nil {
		return err
	}
	s, err := a.store.FindScreen(r.Context(), projectID, r.PathValue("filename"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, screenOf(s))
}

func (a *API) noName(http.ResponseWriter, *http.Request) error {
	return problem.New(http.StatusUnprocessableEntity, "The address ends without a file name.")
}

func (a *API) upload(w http.ResponseWriter, r *http.Request) error {
	projectID, err := id(r)
	if err != nil {
		return err
	}
	u := store.Upload{ProjectID: projectID, Filename: r.PathValue("filename")}
	switch r.URL.Query().Get("on_conflict") {
	case "", "version":
	case "fail":
		u.Fail = true
	default:
		return problem.New(http.StatusBadRequest, "on_conflict must be fail or version.")
	}
	if r.ContentLength > a.maxUpload {
		a.swallow(r)
		return &http.MaxBytesError{Limit: a.maxUpload}
	}
	u.Body = http.MaxBytesReader(w, r.Body, a.maxUpload)
	s, created, err := a.store.Upload(r.Context(), u)
	if err != nil {
		a.swallow(r)
		return err
	}
	if created {
		return reply(w, http.StatusCreated, screenOf(s))
	}
	return reply(w, http.StatusOK, screenOf(s))
}

// swallow reads the rest of an upload that is refused: a client that is still
// sending would not read an answer to a connection that is closed under it. One that
// asked first (Expect: 100-continue) waits for the answer, and one that sends far
// too much is cut off.
func (a *API) swallow(r *http.Request) {
	if r.Header.Get("Expect") != "" {
		return
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, 2*a.maxUpload)); err != nil {
		a.log.DebugContext(r.Context(), "rest of a refused upload", "error", err)
	}
}

// screen answers with what a verb makes of the screen in the path.
func screen(verb func(ctx context.Context, id int64) (store.Screen, error)) handler {
	return one(func(ctx context.Context, id int64) (screenJSON, error) {
		s, err := verb(ctx, id)
		return screenOf(s), err
	})
}

func (a *API) addComment(w http.ResponseWriter, r *http.Request) error {
	screenID, err := id(r)
	if err != nil {
		return err
	}
	var body struct {
		Body *string `json:"body"`
	}
	if err := decode(w, r, &body); err != nil {
		return err
	}
	text, err := field("body", body.Body)
	if err != nil {
		return err
	}
	c, err := a.store.AddComment(r.Context(), screenID, text)
	if err != nil {
		return err
	}
	return reply(w, http.StatusCreated, c)
}

// comments reads a page of the comments on a screen that is there.
func (a *API) comments(ctx context.Context, screenID int64, _ schema.State, cursor string, limit int) (repo.Page[store.Comment], error) {
	if _, err := a.store.Screen(ctx, screenID); err != nil {
		return repo.Page[store.Comment]{}, err
	}
	return a.store.Comments(ctx, screenID, cursor, limit)
}
