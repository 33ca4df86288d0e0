package api

import (
	"context"
	"io"
	"net/http"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/examples/projects/internal/web"
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

func (a *API) listScreens(w http.ResponseWriter, r *http.Request) error {
	projectID, err := id(r)
	if err != nil {
		return err
	}
	state, cursor, n, err := paging(r)
	if err != nil {
		return err
	}
	page, err := a.store.Screens(r.Context(), projectID, state, cursor, n)
	if err != nil {
		return err
	}
	views := make([]screenJSON, len(page.Items))
	for i, s := range page.Items {
		views[i] = screenOf(s)
	}
	return reply(w, http.StatusOK, list[screenJSON]{views, orNull(string(page.Next))})
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

func (a *API) moveScreen(w http.ResponseWriter, r *http.Request, verb func(context.Context, int64) (store.Screen, error)) error {
	screenID, err := id(r)
	if err != nil {
		return err
	}
	s, err := verb(r.Context(), screenID)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, screenOf(s))
}

func (a *API) archiveScreen(w http.ResponseWriter, r *http.Request) error {
	return a.moveScreen(w, r, a.store.ArchiveScreen)
}

func (a *API) activateScreen(w http.ResponseWriter, r *http.Request) error {
	return a.moveScreen(w, r, a.store.ActivateScreen)
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

func (a *API) listComments(w http.ResponseWriter, r *http.Request) error {
	screenID, err := id(r)
	if err != nil {
		return err
	}
	_, cursor, n, err := paging(r)
	if err != nil {
		return err
	}
	if _, err := a.store.Screen(r.Context(), screenID); err != nil {
		return err
	}
	page, err := a.store.Comments(r.Context(), screenID, cursor, n)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, list[store.Comment]{page.Items, orNull(string(page.Next))})
}
