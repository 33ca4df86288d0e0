package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/helpdesk/reports"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

const (
	maxFile = 10 << 20
	maxJSON = 64 << 10
)

// call is a request: whose ticket, and which.
type call struct {
	*http.Request
	w      http.ResponseWriter
	place  Place
	ticket uuid.UUID
}

// API serves the helpdesk. There is no login: who may see a tenant is for what stands before it.
func API(d *Desk, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	const tickets = "/tenants/{tenant}/workspaces/{workspace}/tickets"
	for pattern, serve := range map[string]func(*Desk, call) (any, error){
		"GET /tenants/{tenant}/workspaces": (*Desk).getWorkspaces,
		"GET /tenants/{tenant}/report":     (*Desk).getReport,
		"GET " + tickets:                   (*Desk).getTickets,
		"GET " + tickets + "/{id}":         func(d *Desk, c call) (any, error) { return d.at(c.place).Get(c.Context(), d.db, c.ticket) },
		"PUT " + tickets + "/{id}":         (*Desk).putTicket,
		"DELETE " + tickets + "/{id}":      (*Desk).deleteTicket,
		"POST " + tickets + "/{id}/archive": row(func(d *Desk, c call) (onerow.Result[Ticket], error) {
			return d.at(c.place).Archive(c.Context(), d.db, c.ticket)
		}),
		"POST " + tickets + "/{id}/activate": row(func(d *Desk, c call) (onerow.Result[Ticket], error) {
			return d.at(c.place).Activate(c.Context(), d.db, c.ticket)
		}),
		"POST " + tickets + "/{id}/undo": row(func(d *Desk, c call) (onerow.Result[Ticket], error) {
			return d.at(c.place).CancelDelete(c.Context(), d.db, c.ticket)
		}),
		"POST " + tickets + "/{id}/move":            (*Desk).moveTicket,
		"POST " + tickets + "/{id}/messages":        (*Desk).postMessage,
		"PUT " + tickets + "/{id}/attachments/{of}": (*Desk).putAttachment,
		"PUT " + tickets + "/{id}/tags/{label}": func(d *Desk, c call) (any, error) {
			return nil, d.Tag(c.Context(), c.place, c.ticket, c.PathValue("label"))
		},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c, err := read(w, r)
			var body any
			if err == nil {
				body, err = serve(d, c)
			}
			answer(w, body, err, log)
		})
	}
	own := http.NewCrossOriginProtection() // no other site's page posts with a visitor's browser
	own.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w, nil, errElsewhere, log) }))
	return own.Handler(mux)
}

// row answers with the row alone.
func row[T any](verb func(*Desk, call) (onerow.Result[T], error)) func(*Desk, call) (any, error) {
	return func(d *Desk, c call) (any, error) {
		res, err := verb(d, c)
		return res.Row, err
	}
}

// read takes the path apart.
func read(w http.ResponseWriter, r *http.Request) (call, error) {
	tenant, err := strconv.ParseInt(r.PathValue("tenant"), 10, 32)
	c := call{Request: r, w: w, place: Place{Tenant: tenant}}
	for name, to := range map[string]*uuid.UUID{"workspace": &c.place.Workspace, "id": &c.ticket} {
		if text := r.PathValue(name); text != "" && err == nil {
			*to, err = uuid.Parse(text)
		}
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errInput, err)
	}
	return c, err
}

// body reads JSON; a field that nobody knows is an error.
func (c call) body(into any) error {
	d := json.NewDecoder(http.MaxBytesReader(c.w, c.Body, maxJSON))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", errInput, err)
	}
	return nil
}

func (d *Desk) getWorkspaces(c call) (any, error) {
	return d.workspaces.ListByName(c.Context(), d.db, c.place.Tenant, c.FormValue("prefix"), repo.PageOptions{After: repo.Cursor(c.FormValue("after"))})
}

func (d *Desk) getReport(c call) (any, error) {
	tenant := int32(c.place.Tenant) //nolint:gosec // read takes no more
	q := reports.New(d.db)
	desks, err := q.ByWorkspace(c.Context(), tenant)
	if err != nil {
		return nil, err
	}
	tags, err := q.ByTag(c.Context(), tenant)
	if err != nil {
		return nil, err
	}
	room, err := d.bytes.Look(c.Context(), d.db, c.place.Tenant)
	return map[string]any{"tickets": desks, "open_by_tag": tags, "bytes": room}, err
}

func (d *Desk) getTickets(c call) (any, error) {
	most, err := strconv.Atoi(cmp.Or(c.FormValue("limit"), "50"))
	if err != nil {
		return nil, fmt.Errorf("%w: limit is %q", errInput, c.FormValue("limit"))
	}
	state := schema.State(cmp.Or(c.FormValue("state"), string(schema.Active)))
	return d.List(c.Context(), c.place, cmp.Or(c.FormValue("status"), "open"), cmp.Or(c.FormValue("sort"), "updated"), state, c.FormValue("after"), most)
}

func (d *Desk) putTicket(c call) (any, error) {
	in := struct {
		Subject, Requester string
		Priority           int8
	}{Priority: 3, Requester: "anonymous"}
	if err := c.body(&in); err != nil {
		return nil, err
	}
	if in.Subject == "" {
		return nil, fmt.Errorf("%w: a ticket has a subject", errInput)
	}
	res, err := d.Open(c.Context(), Ticket{ID: c.ticket, TenantID: c.place.Tenant, WorkspaceID: c.place.Workspace, Subject: in.Subject, Requester: in.Requester, Status: "open", Priority: int(in.Priority)})
	return res.Row, err
}

func (d *Desk) deleteTicket(c call) (any, error) {
	grace, err := time.ParseDuration(cmp.Or(c.FormValue("grace"), "0s"))
	if err != nil || grace < 0 {
		return nil, fmt.Errorf("%w: grace is %q", errInput, c.FormValue("grace"))
	}
	gone, err := d.Delete(c.Context(), c.place, c.ticket, grace)
	return map[string]any{"job": gone.JobID, "deletion": gone.DeletionID}, err
}

func (d *Desk) moveTicket(c call) (any, error) {
	var in struct{ Workspace uuid.UUID }
	if err := c.body(&in); err != nil {
		return nil, err
	}
	res, err := d.Move(c.Context(), c.place, c.ticket, in.Workspace)
	return res.Row, err
}

func (d *Desk) postMessage(c call) (any, error) {
	in := struct{ Author, Body, Status string }{Author: "agent", Status: "waiting"}
	if err := c.body(&in); err != nil {
		return nil, err
	}
	res, err := d.Reply(c.Context(), c.place, Message{TicketID: c.ticket, Author: in.Author, Body: in.Body}, in.Status, c.Header.Get("Idempotency-Key"))
	return res.Row, err
}

func (d *Desk) putAttachment(c call) (any, error) {
	id, err := uuid.Parse(c.PathValue("of"))
	name := cmp.Or(c.URL.Query().Get("name"), c.PathValue("of")) // not FormValue, which reads a body that is a form
	if err != nil || c.ContentLength < 0 || c.ContentLength > maxFile {
		return nil, fmt.Errorf("%w: an attachment has a UUID, and a Content-Length of at most %d", errInput, maxFile)
	}
	res, err := d.Attach(c.Context(), c.place, Attachment{ID: id, TenantID: c.place.Tenant, TicketID: c.ticket, Name: name, Bytes: c.ContentLength}, func() ([]byte, error) {
		text := make([]byte, c.ContentLength)
		if _, err := io.ReadFull(c.Body, text); err != nil {
			return nil, fmt.Errorf("%w: the body: %w", errInput, err)
		}
		return text, nil
	})
	return res.Row, err
}

// answer writes JSON; what went wrong here is for the log.
func answer(w http.ResponseWriter, body any, err error, log *slog.Logger) {
	status, text := answerOf(err)
	if err != nil {
		problem := map[string]any{"error": text}
		switch status {
		case http.StatusInternalServerError:
			log.Error("request", "error", err)
		case http.StatusInsufficientStorage:
			var full *limit.Error
			if errors.As(err, &full) {
				problem["wanted"], problem["used"], problem["max"], problem["reserved"] = full.Wanted, full.Used, full.Max, full.Reserved
			}
		}
		body = problem
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		log.Debug("the client is gone", "error", err)
	}
}

// answerOf is what a client is told of an error: what the toolkit says, but for what means something else
// here.
func answerOf(err error) (status int, text string) {
	switch status, text = onerow.Answer(err); {
	case errors.Is(err, limit.ErrLimit):
		return http.StatusInsufficientStorage, text
	case errors.Is(err, errElsewhere):
		return http.StatusForbidden, err.Error()
	case errors.Is(err, errInput):
		return http.StatusBadRequest, err.Error()
	case errors.Is(err, repo.ErrUnsupported):
		return http.StatusBadRequest, "this is not possible here"
	case errors.Is(err, quota.ErrNoOwner):
		return http.StatusNotFound, "no such tenant"
	}
	return status, text
}
