package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/idempotency"
	"github.com/onerow/onerow/idempotency/httpkey"
	"github.com/onerow/onerow/repo"
)

func (o *office) handler(db *sql.DB) (http.Handler, error) {
	keys, err := idempotency.New(idempotency.Config{})
	if err != nil {
		return nil, err
	}
	once, err := httpkey.New(db, keys, httpkey.Config{Tenant: httpkey.SingleTenant})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /shows", func(w http.ResponseWriter, r *http.Request) {
		var show Show
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&show); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		key, err := httpkey.ParseKey(r.Header)
		if err != nil {
			answer(w, nil, err) // without a key each repetition would make one more show
			return
		}
		res, err := o.shows.Create(r.Context(), db, show, repo.RequestID(key))
		answer(w, res.Row, err)
	})
	mux.Handle("POST /shows/{id}/tickets", once.OneCommit(http.HandlerFunc(o.buy)))
	mux.HandleFunc("POST /shows/{id}/archive", func(w http.ResponseWriter, r *http.Request) {
		res, err := o.shows.Archive(r.Context(), db, id(r))
		answer(w, res.Row, err)
	})
	mux.HandleFunc("POST /shows/{id}/activate", func(w http.ResponseWriter, r *http.Request) {
		res, err := o.shows.Activate(r.Context(), db, id(r))
		answer(w, res.Row, err)
	})
	mux.HandleFunc("DELETE /shows/{id}", func(w http.ResponseWriter, r *http.Request) {
		res, err := o.shows.Delete(r.Context(), db, id(r))
		answer(w, map[string]bool{"changed": res.Changed}, err)
	})
	return http.NewCrossOriginProtection().Handler(mux), nil // no other site's page posts with a visitor's browser
}

// buy runs in the transaction in which the key and this answer are stored.
func (o *office) buy(w http.ResponseWriter, r *http.Request) {
	tx, err := httpkey.Tx(r.Context())
	if err != nil {
		answer(w, nil, err)
		return
	}
	key := fmt.Appendf(nil, "show %d: %s", id(r), r.Header.Get(httpkey.HeaderKey))
	order := fmt.Sprintf("%x", sha256.Sum256(key)) // of which there is one in the series, ever; hashed, for no key may be above 255 bytes
	ticket, err := o.sell(r.Context(), tx, order, id(r), r.URL.Query().Get("seat"))
	answer(w, ticket, err)
}

// id is what no row has, 0, where the path has no number.
func id(r *http.Request) int64 {
	n, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func answer(w http.ResponseWriter, row any, err error) {
	if err != nil {
		status, text := onerow.Answer(err)
		slog.Error("request failed", "status", status, "error", err) // the client gets less
		http.Error(w, text, status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(row); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
