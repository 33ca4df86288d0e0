package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/schema"
)

// middleware is one whose tenant is a header.
func (s *scene) middleware(ctx context.Context) (*httpkey.Middleware, error) {
	if err := s.plant(ctx, schema.Plan{}, "CREATE TABLE ticket (id BIGINT AUTO_INCREMENT PRIMARY KEY, about VARCHAR(20) NOT NULL)"); err != nil {
		return nil, err
	}
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return nil, err
	}
	return httpkey.New(s.db, keys, httpkey.Config{Tenant: func(r *http.Request) (string, error) { return r.Header.Get("X-User"), nil }})
}

// post sends a request with a key, and returns the answer.
func post(ctx context.Context, h http.Handler, method, path, user, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(`{"n":1}`))
	r.Header.Set("X-User", user)
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// answer is what a client sees of one.
func answer(w *httptest.ResponseRecorder) string {
	return fmt.Sprint(w.Code, w.Header().Get("Content-Type"), w.Header().Get("Location"), w.Header().Get("ETag"), w.Body.String())
}

const replayed = "Idempotency-Replayed"

// replays asks for the first answer as it was, and for another one where path, method or user is another.
func replays(ctx context.Context, s *scene) error {
	mw, err := s.middleware(ctx)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	create := mw.OneCommit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tx, err := httpkey.Tx(r.Context())
		if err == nil {
			_, err = tx.ExecContext(r.Context(), "INSERT INTO ticket (about) VALUES (?)", r.PathValue("id"))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/vnd.ticket+json")
		w.Header().Set("Location", "/tickets/"+r.PathValue("id"))
		w.Header().Set("ETag", `"v1"`)
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"ticket": %q}`, r.Header.Get("X-User")+r.PathValue("id")) //nolint:errcheck,gosec // it is looked at; the client is this program
	}))
	mux.Handle("PUT /tickets/{id}", create)
	mux.Handle("POST /tickets/{id}", create)
	begun := post(ctx, mux, "PUT", "/tickets/1", "ann", "k")
	again := post(ctx, mux, "PUT", "/tickets/1", "ann", "k")
	other := post(ctx, mux, "PUT", "/tickets/2", "ann", "k")
	method := post(ctx, mux, "POST", "/tickets/1", "ann", "k")
	user := post(ctx, mux, "PUT", "/tickets/1", "bob", "k")
	return first(
		unless(begun.Code == http.StatusCreated && begun.Header().Get(replayed) == "", "the first: %s", answer(begun)),
		unless(answer(again) == answer(begun) && again.Header().Get(replayed) == "true", "the replay: %s %v", answer(again), again.Header()),
		unless(other.Code == http.StatusUnprocessableEntity, "another path: %s", answer(other)),
		unless(method.Code == http.StatusCreated && method.Header().Get(replayed) == "" || method.Code == http.StatusUnprocessableEntity, "another method: %s", answer(method)),
		unless(user.Code == http.StatusCreated && strings.Contains(user.Body.String(), "bob1") && user.Header().Get(replayed) == "", "another user: %s", answer(user)),
		s.want(ctx, 0, "SELECT COUNT(*) FROM ticket WHERE about <> '1'"))
}

// failedFirst fails the first request of each key; what comes of the second depends on what was done.
func failedFirst(ctx context.Context, s *scene) error {
	mw, err := s.middleware(ctx)
	if err != nil {
		return err
	}
	var calls atomic.Int64
	var notDone atomic.Bool
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tx, err := httpkey.Tx(r.Context()); err == nil {
			if _, err := tx.ExecContext(r.Context(), "INSERT INTO ticket (about) VALUES ('x')"); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		if calls.Add(1) == 1 {
			if notDone.Load() {
				httpkey.NotDone(r.Context())
			}
			http.Error(w, "not yet due", http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
	// Within the database nothing was done: the same key does it.
	one := mw.OneCommit(handler)
	failed, second, third := post(ctx, one, "POST", "/t", "ann", "a"), post(ctx, one, "POST", "/t", "ann", "a"), post(ctx, one, "POST", "/t", "ann", "a")
	if err := first(
		unless(failed.Code == http.StatusBadGateway && second.Code == http.StatusCreated && second.Header().Get(replayed) == "" && calls.Load() == 2,
			"one commit: %s, %s, %d calls", answer(failed), answer(second), calls.Load()),
		unless(third.Code == http.StatusCreated && third.Header().Get(replayed) == "true", "its replay: %s", answer(third)),
		s.want(ctx, 1, "SELECT COUNT(*) FROM ticket")); err != nil {
		return err
	}
	// Outside of it something may have been done: the failure is repeated, and says that it is.
	two := mw.TwoStep(handler)
	calls.Store(0)
	failed, second = post(ctx, two, "POST", "/t", "ann", "b"), post(ctx, two, "POST", "/t", "ann", "b")
	if err := unless(answer(second) == answer(failed) && second.Header().Get(replayed) == "true" && failed.Header().Get(replayed) == "" && calls.Load() == 1,
		"two steps: %s, %s, %d calls", answer(failed), answer(second), calls.Load()); err != nil {
		return err
	}
	// Where the handler knows that nothing was done, the same key does it.
	calls.Store(0)
	notDone.Store(true)
	failed, second = post(ctx, two, "POST", "/t", "ann", "c"), post(ctx, two, "POST", "/t", "ann", "c")
	return unless(failed.Code == http.StatusBadGateway && second.Code == http.StatusCreated && second.Header().Get(replayed) == "" && calls.Load() == 2,
		"not done: %s, %s, %d calls", answer(failed), answer(second), calls.Load())
}
