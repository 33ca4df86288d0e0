package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/onerow/onerow/examples/projects/internal/problem"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// one answers with what a verb makes of the row in the path.
func one[T any](verb func(ctx context.Context, id int64) (T, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		n, err := id(r)
		if err != nil {
			return err
		}
		row, err := verb(r.Context(), n)
		if err != nil {
			return err
		}
		return reply(w, http.StatusOK, row)
	}
}

// list is a page of a list; next is null on the last one.
type list[T any] struct {
	Items []T     `json:"items"`
	Next  *string `json:"next"`
}

// listOf makes a page of rows as view shows them.
func listOf[T, V any](rows []T, next string, view func(T) V) list[V] {
	page := list[V]{Items: make([]V, len(rows))}
	for i, row := range rows {
		page.Items[i] = view(row)
	}
	if next != "" {
		page.Next = &next
	}
	return page
}

// many answers with a page of what is below the row in the path.
func many[T, V any](read func(ctx context.Context, id int64, state schema.State, cursor string, limit int) (repo.Page[T], error), view func(T) V) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		parent, err := id(r)
		if err != nil {
			return err
		}
		state := schema.State(r.URL.Query().Get("state"))
		switch state {
		case "":
			state = schema.Active
		case schema.Active, schema.Archived:
		default:
			return problem.New(http.StatusBadRequest, "state must be %q or %q.", schema.Active, schema.Archived)
		}
		n, err := limit(r)
		if err != nil {
			return err
		}
		page, err := read(r.Context(), parent, state, r.URL.Query().Get("cursor"), n)
		if err != nil {
			return err
		}
		return reply(w, http.StatusOK, listOf(page.Items, string(page.Next), view))
	}
}

const (
	defaultLimit = 50
	maxLimit     = 500
)

func limit(r *http.Request) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxLimit {
		return 0, problem.New(http.StatusBadRequest, "limit must be a number from 1 to %d.", maxLimit)
	}
	return n, nil
}

// as shows a row as it is.
func as[T any](row T) T { return row }

// reply sends a JSON answer.
func reply(w http.ResponseWriter, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("api: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := w.Write(append(text, '\n')); err != nil {
		return nil //nolint:nilerr // the client is gone; the status was sent
	}
	return nil
}
