package api

import (
	"net/http"
	"strconv"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/examples/projects/internal/store"
	"github.com/onerow/onerow/quota"
)

// userJSON is an account; project_limit is null where there is none.
type userJSON struct {
	store.User
	ProjectLimit *int `json:"project_limit"`
}

func userOf(u store.User) userJSON {
	view := userJSON{User: u}
	if limit, ok := u.Plan.Limit(); ok && limit != quota.Unlimited {
		view.ProjectLimit = &limit
	}
	return view
}

func (a *API) createUser(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		Name *string     `json:"name"`
		Plan *store.Tier `json:"plan"`
	}
	if err := decode(w, r, &body); err != nil {
		return err
	}
	name, err := field("name", body.Name)
	if err != nil {
		return err
	}
	tier := store.Free
	if body.Plan != nil {
		tier = *body.Plan
	}
	u, err := a.store.CreateUser(r.Context(), name, tier)
	if err != nil {
		return err
	}
	return reply(w, http.StatusCreated, userOf(u))
}

// listUsers is for the load generator, which finds its account again, and for people with curl.
func (a *API) listUsers(w http.ResponseWriter, r *http.Request) error {
	limit, err := limit(r)
	if err != nil {
		return err
	}
	var after int64
	if cursor := r.URL.Query().Get("cursor"); cursor != "" {
		if after, err = strconv.ParseInt(cursor, 10, 64); err != nil {
			return problem.New(http.StatusBadRequest, "The cursor is not one that this list returned.")
		}
	}
	users, err := a.store.Users(r.Context(), after, limit+1)
	if err != nil {
		return err
	}
	next := ""
	if len(users) > limit {
		users = users[:limit]
		next = strconv.FormatInt(users[limit-1].ID, 10)
	}
	return reply(w, http.StatusOK, listOf(users, next, userOf))
}

func (a *API) setPlan(w http.ResponseWriter, r *http.Request) error {
	userID, err := id(r)
	if err != nil {
		return err
	}
	var body struct {
		Plan *string `json:"plan"`
	}
	if err := decode(w, r, &body); err != nil {
		return err
	}
	tier, err := field("plan", body.Plan)
	if err != nil {
		return err
	}
	u, err := a.store.SetTier(r.Context(), userID, store.Tier(tier))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, userOf(u))
}
