package pages

import (
	"net/http"
	"strconv"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
)

const usersPerPage = 50

type homeData struct {
	Users []store.User
	Next  int64
	Name  string
	Error string
}

func (p *Pages) home(w http.ResponseWriter, r *http.Request) error {
	return p.showHome(w, r, http.StatusOK, homeData{})
}

func (p *Pages) showHome(w http.ResponseWriter, r *http.Request, status int, data homeData) error {
	var after int64
	if text := r.URL.Query().Get("after"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return problem.New(http.StatusBadRequest, "The address is not one of this list.")
		}
		after = n
	}
	users, err := p.store.Users(r.Context(), after, usersPerPage+1)
	if err != nil {
		return err
	}
	if len(users) > usersPerPage {
		users = users[:usersPerPage]
		data.Next = users[usersPerPage-1].ID
	}
	data.Users = users
	return p.render(w, r, status, "home", "Accounts", data)
}

func (p *Pages) createUser(w http.ResponseWriter, r *http.Request) error {
	if err := form(w, r); err != nil {
		return err
	}
	name := r.PostForm.Get("name")
	u, err := p.store.CreateUser(r.Context(), name, store.Tier(r.PostForm.Get("plan")))
	if err != nil {
		what := problem.From(err)
		if what.Status >= http.StatusInternalServerError {
			return err
		}
		return p.showHome(w, r, what.Status, homeData{Name: name, Error: what.Detail})
	}
	return p.redirect(w, r, good("Welcome, "+isolated(u.Name)+". Create your first project."), "/users/%d", u.ID)
}
