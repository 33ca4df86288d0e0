package webfuzz

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// below are the routes of a ticket, with a body that would be taken.
func (d *desk) below(at string) []request {
	reply := jsonOf(http.MethodPost, at+"/messages", map[string]string{"body": d.mark + " evil"})
	reply.header["Idempotency-Key"] = []string{"evil"}
	return []request{
		{method: http.MethodGet, path: at}, {method: http.MethodDelete, path: at}, {method: http.MethodPost, path: at + "/archive"}, {method: http.MethodPost, path: at + "/activate"}, {method: http.MethodPost, path: at + "/undo"},
		jsonOf(http.MethodPost, at+"/move", map[string]string{"workspace": d.workspace}), reply, {method: http.MethodPut, path: at + "/tags/tag%200"},
		{method: http.MethodPut, path: at + "/attachments/" + uuid(d.r), body: []byte("evil"), header: http.Header{"Content-Type": {"text/plain"}}},
		jsonOf(http.MethodPut, at, map[string]string{"Subject": d.mark + " evil"}),
	}
}

// strangers uses every route with a ticket of another tenant's, at a place of one's own and at one that mixes
// both.
func (d *desk) strangers(ctx context.Context) {
	victim := d.others.foreign(d.r, d.others.tickets, d.tenant)
	if victim == "" {
		return
	}
	d.others.mu.Lock()
	whose := d.others.tickets[victim]
	d.others.mu.Unlock()
	places := []string{d.at(victim), d.place(whose, d.workspace) + "/" + victim, d.place(0, d.workspace) + "/" + victim, d.place(-1, d.workspace) + "/" + victim}
	for range 3 {
		q := pick(d.r, d.below(pick(d.r, places)))
		if a := d.c.send(ctx, d.mark, q); a.ok() {
			d.c.broken(brokenTaken, "%d: %s: %.300s", a.status, d.c.curl(q), a.body)
		}
	}
	if id, t := d.some(); t != nil {
		q := jsonOf(http.MethodPost, d.at(id)+"/move", map[string]string{"workspace": pick(d.r, []string{victim, "00000000-0000-0000-0000-000000000000"})})
		if a := d.c.send(ctx, d.mark, q); a.ok() {
			d.c.broken(brokenTaken, "%d: %s: %.300s", a.status, d.c.curl(q), a.body)
		}
	}
}

// overwrite stores a file under the id of another tenant's attachment.
func (d *desk) overwrite(ctx context.Context) {
	victim := d.others.foreign(d.r, d.others.attachments, d.tenant)
	id, t := d.some()
	if victim == "" || t == nil || t.state != "active" {
		return
	}
	q := request{method: http.MethodPut, path: d.at(id) + "/attachments/" + victim, body: []byte(d.mark + " evil"), header: http.Header{"Content-Type": {"text/plain"}}}
	switch a := d.send(ctx, q); {
	case a.ok() && !d.others.has(d.others.attachments, victim): // it was deleted meanwhile: the id is free
		d.attachments[victim] = &attachment{ticket: id, name: victim, text: q.body}
	case a.ok():
		d.c.broken(brokenTaken, "%d: %s: %.300s", a.status, d.c.curl(q), a.body)
	}
}

func (d *desk) badBodies(ctx context.Context) {
	at := d.at(uuid(d.r))
	long := strings.Repeat("s", 201)
	bad := []request{
		jsonOf(http.MethodPut, at, map[string]string{"Subject": long}), jsonOf(http.MethodPut, at, map[string]string{"Subject": d.mark, "Requester": long}), jsonOf(http.MethodPut, at, map[string]string{"Subject": d.mark, "Requester": "\U0001f600"}),
		jsonOf(http.MethodPut, at, map[string]any{"Subject": d.mark, "Priority": 128}), jsonOf(http.MethodPut, at, map[string]any{"Subject": d.mark, "TenantID": 1}), jsonOf(http.MethodPut, at, map[string]any{"Subject": d.mark, "Number": 1}),
		jsonOf(http.MethodPut, at, map[string]any{"Subject": d.mark, "State": "archived"}), jsonOf(http.MethodPut, at, nil), jsonOf(http.MethodPut, at, strings.Repeat("x", 100_000)), {method: http.MethodPut, path: at, body: bytes.Repeat([]byte("["), 60_000)},
		{method: http.MethodPut, path: at, body: []byte("{")}, {method: http.MethodPut, path: at + "/attachments/x", body: []byte("x")},
		{method: http.MethodPut, path: at + "/attachments/" + uuid(d.r), body: []byte("x"), header: http.Header{"Content-Type": {"text/plain"}}},
	}
	if id, t := d.some(); t != nil && t.state == "active" {
		to := d.at(id) + "/attachments/" + uuid(d.r)
		reply := jsonOf(http.MethodPost, d.at(id)+"/messages", map[string]string{"body": d.mark, "author": long})
		reply.header["Idempotency-Key"] = []string{"long"}
		bad = append(bad, request{method: http.MethodPut, path: to + "?name=" + long, body: []byte("x")}, request{method: http.MethodPut, path: to + "?name=%ff", body: []byte("x")}, reply,
			request{method: http.MethodPut, path: to, stream: struct{ *bytes.Reader }{bytes.NewReader([]byte("no length"))}, header: http.Header{"Content-Type": {"text/plain"}}},
			request{method: http.MethodPut, path: to, body: make([]byte, 10<<20+1), header: http.Header{"Content-Type": {"text/plain"}}},
			request{method: http.MethodPut, path: d.at(id) + "/tags/" + pick(d.r, ids)}, jsonOf(http.MethodPost, d.at(id)+"/messages", map[string]string{"body": d.mark}))
	}
	q := pick(d.r, bad)
	if a := d.c.send(ctx, d.mark, q); a.ok() {
		d.c.broken(brokenTaken, "%d: %s: %.300s", a.status, d.c.curl(q), a.body)
	}
}

// lists asks for pages and searches, of its own place and of others'.
func (d *desk) lists(ctx context.Context) {
	d.c.send(ctx, d.mark, request{method: http.MethodGet, path: d.place(d.tenant, d.workspace) + query(d.r, "limit", "after", "state", "status", "sort")})
	d.c.send(ctx, d.mark, request{method: http.MethodGet, path: fmt.Sprintf("/tenants/%d/workspaces%s", d.tenant, query(d.r, "prefix", "after"))})
	d.c.send(ctx, d.mark, request{method: http.MethodGet, path: fmt.Sprintf("/tenants/%d/report", d.tenant)})
	d.c.send(ctx, d.mark, request{method: http.MethodGet, path: d.place(d.tenant%20+1, d.workspace) + "?sort=" + url.QueryEscape(pick(d.r, injections))})
}

func (d *desk) strangeIDs(ctx context.Context) {
	for range 3 {
		id := pick(d.r, ids)
		at := pick(d.r, []string{d.at(id), fmt.Sprintf("/tenants/%s/workspaces/%s/tickets/%s", id, d.workspace, uuid(d.r)), fmt.Sprintf("/tenants/%d/workspaces/%s/tickets/%s", d.tenant, id, uuid(d.r))})
		if strings.HasSuffix(at, "/00000000-0000-0000-0000-000000000000") { // a UUID like others
			continue
		}
		q := pick(d.r, d.below(at))
		if a := d.c.send(ctx, d.mark, q); a.ok() {
			d.c.broken(brokenTaken, "%d: %s: %.300s", a.status, d.c.curl(q), a.body)
		}
	}
}
