package pages

import (
	"context"
	"fmt"
	"net/http"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/repo"
)

const commentsPerPage = 100

type screenData struct {
	User        store.User
	Project     store.Project
	Screen      store.Screen
	Comments    repo.Page[store.Comment]
	First       bool
	Body, Error string
	MaxComment  int
}

func (p *Pages) screen(w http.ResponseWriter, r *http.Request) error {
	return p.showScreen(w, r, http.StatusOK, screenData{})
}

func (p *Pages) showScreen(w http.ResponseWriter, r *http.Request, status int, data screenData) error {
	var err error
	if data.Screen, err = move(r, p.store.Screen); err != nil {
		return err
	}
	if data.Project, err = p.store.Project(r.Context(), data.Screen.ProjectID); err != nil {
		return err
	}
	if data.User, err = p.store.User(r.Context(), data.Project.UserID); err != nil {
		return err
	}
	cursor := r.URL.Query().Get("cursor")
	data.First, data.MaxComment = cursor == "", store.MaxComment
	if data.Comments, err = p.store.Comments(r.Context(), data.Screen.ID, cursor, commentsPerPage); err != nil {
		return err
	}
	return p.render(w, r, status, "screen", data.Screen.Filename, data)
}

func (p *Pages) comment(w http.ResponseWriter, r *http.Request) error {
	id, err := posted(w, r)
	if err != nil {
		return err
	}
	body := r.PostForm.Get("body")
	if _, err := p.store.AddComment(r.Context(), id, body); err != nil {
		what := problem.From(err)
		if what.Status == http.StatusNotFound || what.Status >= http.StatusInternalServerError {
			return err
		}
		return p.showScreen(w, r, what.Status, screenData{Body: body, Error: what.Detail})
	}
	return p.redirect(w, r, nil, "/screens/%d#comments", id)
}

// moveScreen runs a verb on the screen in the path and says what became of its name.
func (p *Pages) moveScreen(said string, verb func(context.Context, int64) (store.Screen, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		before, err := move(r, p.store.Screen)
		if err != nil {
			return err
		}
		screen, err := verb(r.Context(), before.ID)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("%s “%s”.", said, isolated(screen.Filename))
		if screen.Filename != before.Filename {
			text = fmt.Sprintf("%s as “%s”, since another screen has the name now.", said, isolated(screen.Filename))
		}
		return p.redirect(w, r, good(text), "/projects/%d", screen.ProjectID)
	}
}

type jobData struct {
	Deletion *deletion
	UserID   int64 // 0 when the row is gone
	Total    int64 // rows below the project, deleted ones included
}

func (p *Pages) job(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	d, owner, err := p.readDeletion(r.Context(), id)
	if err != nil {
		return err
	}
	data := jobData{Deletion: d, UserID: owner, Total: d.Job.DeletedRows}
	if d.ProjectID == 0 {
		return problem.New(http.StatusNotFound, "There is no page under this address.")
	}
	if d.Job.State.Open() {
		screens, comments, err := p.store.Below(r.Context(), d.ProjectID)
		if err != nil {
			return err
		}
		data.Total += screens + comments
	}
	return p.render(w, r, http.StatusOK, "job", fmt.Sprintf("Deletion %d", id), data)
}
