package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/onerowtest"
	"github.com/onerow/onerow/repo"
)

func TestMain(m *testing.M) { onerowtest.Main(m) }

type call = func(ctx context.Context, db *sql.DB) error

// sales are of one show, in a database of their own.
func sales(t *testing.T) (w crashtest.Workflow, sale func(order, seat string) call) {
	o, err := newOffice()
	if err != nil {
		t.Fatal(err)
	}
	var show Show
	w = onerowtest.Workflow(t, plan)
	w.Setup = func(ctx context.Context, db *sql.DB) error {
		res, err := o.shows.Create(ctx, db, Show{Organiser: 7, Title: "Hamlet"})
		show = res.Row
		return err
	}
	return w, func(order, seat string) call {
		return func(ctx context.Context, db *sql.DB) error {
			return onerow.InTx(ctx, db, func(ctx context.Context, tx *onerow.Tx) error {
				_, err := o.sell(ctx, tx, order, show.ID, seat)
				return err
			})
		}
	}
}

// TestSellCrash fails the sale of a seat at every statement, and calls it again.
func TestSellCrash(t *testing.T) {
	w, sale := sales(t)
	w.Call = sale("order 1", "A 1")
	crashtest.Run(t, w)
}

// TestSellRace: two sales at once, one of which may stop for good before any statement.
func TestSellRace(t *testing.T) {
	w, sale := sales(t)
	crashtest.Interleave(t, crashtest.Race{Workflow: w, Calls: []call{sale("order 1", "A 1"), sale("order 2", "A 2")}, Stops: true})
}

// TestOffice is a day at the box office, over HTTP.
func TestOffice(t *testing.T) {
	db := onerowtest.DB(t, plan)
	o, err := newOffice()
	if err != nil {
		t.Fatal(err)
	}
	handler, err := o.handler(db)
	if err != nil {
		t.Fatal(err)
	}
	call := func(method, path, key, body, want string) string {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("Idempotency-Key", key)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if got := http.StatusText(w.Code) + " " + w.Body.String(); !strings.Contains(got, want) {
			t.Errorf("%s %s with the key %q: %s, want %q", method, path, key, got, want)
		}
		return w.Body.String()
	}
	hamlet := call("POST", "/shows", "a", `{"organiser_id": 7, "title": "Hamlet"}`, "OK")
	call("POST", "/shows", "a", `{"organiser_id": 7, "title": "Hamlet"}`, hamlet) // a retry
	var show Show
	if err := json.Unmarshal([]byte(hamlet), &show); err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf("/shows/%d", show.ID)
	call("POST", "/shows", "", `{"organiser_id": 7, "title": "Lear"}`, "Bad Request")
	foreign := httptest.NewRequestWithContext(t.Context(), "POST", "/shows", strings.NewReader(`{"organiser_id": 7, "title": "Macbeth"}`))
	foreign.Header = http.Header{"Idempotency-Key": {"m"}, "Origin": {"http://elsewhere.example"}}
	refused := httptest.NewRecorder()
	if handler.ServeHTTP(refused, foreign); refused.Code != http.StatusForbidden {
		t.Errorf("another site's page is answered %d %s", refused.Code, refused.Body)
	}
	call("POST", "/shows", "b", `{"organiser_id": 7, "title": "hamlet"}`, "Conflict the name is taken")
	var macbeth Show
	if err := json.Unmarshal([]byte(call("POST", "/shows", "c", `{"organiser_id": 7, "title": "Macbeth"}`, "OK")), &macbeth); err != nil {
		t.Fatal(err)
	}
	call("POST", "/shows", "d", `{"organiser_id": 7, "title": "Othello"}`, "OK")
	call("POST", "/shows", "e", `{"organiser_id": 7, "title": "Lear"}`, "Unprocessable") // three each
	call("POST", path+"/tickets?seat=A1", "t1", "", `"number":1`)
	call("POST", path+"/tickets?seat=A1", "t1", "", `"number":1`) // a retry
	call("POST", path+"/tickets?seat=A1", "t2", "", "Conflict")
	call("POST", path+"/tickets?seat=A2", strings.Repeat("k", 255), "", `"number":2`) // the refused sale took no number
	// Keys are forgotten in time. What one client calls its first order is not another's even then.
	if _, err := db.ExecContext(t.Context(), "DELETE FROM onerow_key"); err != nil {
		t.Fatal(err)
	}
	call("POST", fmt.Sprintf("/shows/%d/tickets?seat=A1", macbeth.ID), "t1", "", `"number":3`)
	call("POST", "/shows/99/tickets?seat=A2", "t4", "", "Not Found")
	call("POST", path+"/archive", "", "", `"archived"`)
	call("POST", path+"/activate", "", "", `"active"`)
	call("DELETE", path, "", "", `"changed":true`)
	call("DELETE", path, "", "", `"changed":false`)

	onerowtest.Queued(t, db, "show", show.ID)
	worker, err := cascade.NewWorker(db, plan, cascade.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, err := o.tickets.List(t.Context(), db, show.ID, repo.PageOptions{}); len(left.Items) != 0 || err != nil {
		t.Errorf("these tickets are left: %v, %v", left.Items, err)
	}
	if _, err := o.shows.Create(t.Context(), db, Show{Organiser: 7, Title: "Lear"}); errors.Is(err, limit.ErrLimit) {
		t.Errorf("a deleted show takes a place: %v", err)
	}
}
