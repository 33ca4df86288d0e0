package webfuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// desk is a workspace of a tenant of the example helpdesk, with what the answers said that is there.
type desk struct {
	c           *client
	r           *rand.Rand
	mark        string
	tenant      int
	workspace   string
	tickets     map[string]*ticket
	attachments map[string]*attachment
	lost        bool
	once        *sync.Once // of the upload without an end
	others      *victims
}

type ticket struct {
	subject, requester, status, state string
	messages                          map[string]string // by key
}

type attachment struct {
	ticket, name string
	text         []byte
}

func newDesk(ctx context.Context, w *world, to *program, n int) (*desk, error) {
	r := w.Rand(uint64(200 + n)) //nolint:gosec // small
	d := &desk{c: w.client(to), r: r, mark: w.marks.add(r, "h"), tenant: 1 + n, tickets: map[string]*ticket{}, attachments: map[string]*attachment{}, once: &w.endless, others: &w.victims}
	a := d.c.send(ctx, d.mark, request{method: http.MethodGet, path: fmt.Sprintf("/tenants/%d/workspaces", d.tenant)})
	var list struct{ Items []struct{ ID string } }
	if err := json.Unmarshal(a.body, &list); err != nil || len(list.Items) == 0 {
		return nil, fmt.Errorf("soak: tenant %d has no workspace: %w: %s", d.tenant, err, a.body)
	}
	d.workspace = list.Items[0].ID
	return d, nil
}

// uuid makes an id; from the seed, so that the same run has the same ones.
func uuid(r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", uint32(a), uint16(a>>32), a>>48&0xfff, b>>48&0xfff, b&0xffffffffffff) //nolint:gosec // cut on purpose
}

// at is an address of a ticket.
func (d *desk) at(ticket string) string { return d.place(d.tenant, d.workspace) + "/" + ticket }

func (d *desk) place(tenant int, workspace string) string {
	return fmt.Sprintf("/tenants/%d/workspaces/%s/tickets", tenant, workspace)
}

func (d *desk) step(ctx context.Context) {
	steps := []func(context.Context){d.open, d.open, d.move, d.reply, d.attach, d.attach, d.remove, d.lists, d.strangers, d.strangers, d.overwrite, d.badBodies, d.strangeIDs, d.endless}
	pick(d.r, steps)(ctx)
}

// send sends, and forgets everything if the answer is lost.
func (d *desk) send(ctx context.Context, q request) answer {
	a := d.c.send(ctx, d.mark, q)
	if a.status == 0 || a.status >= http.StatusInternalServerError {
		d.lost = true
	}
	return a
}

// note takes the ticket of an answer for what is there.
func (d *desk) note(a answer) {
	var in struct{ ID, Subject, Requester, Status, State string }
	if err := json.Unmarshal(a.body, &in); err != nil || a.status != http.StatusOK || in.ID == "" {
		return
	}
	t := d.tickets[in.ID]
	if t == nil {
		t = &ticket{messages: map[string]string{}}
		d.tickets[in.ID] = t
		d.others.add(d.others.tickets, in.ID, d.tenant)
	}
	t.subject, t.requester, t.status, t.state = in.Subject, in.Requester, in.Status, in.State
}

func (d *desk) some() (string, *ticket) {
	all := make([]string, 0, len(d.tickets))
	for id := range d.tickets {
		all = append(all, id)
	}
	if len(all) == 0 {
		return "", nil
	}
	slices.Sort(all)
	id := pick(d.r, all)
	return id, d.tickets[id]
}

// jsonOf makes a request with a body of any value.
func jsonOf(method, path string, body any) request {
	text, err := json.Marshal(body)
	if err != nil {
		text = nil // maps of texts and numbers
	}
	return request{method: method, path: path, body: text, header: http.Header{"Content-Type": {"application/json"}}}
}

// open opens a ticket, several times at once and again.
func (d *desk) open(ctx context.Context) {
	subject := text(d.r, d.mark)
	if chance(d.r, 2) {
		subject = fmt.Sprintf("%s %s", d.mark, pick(d.r, scripts))
	}
	q := jsonOf(http.MethodPut, d.at(uuid(d.r)), map[string]any{"Subject": subject, "Requester": pick(d.r, []string{"anonymous", "é", "<b>", "'", "\x00"}), "Priority": d.r.IntN(256) - 128})
	answers := make([]answer, 1+d.r.IntN(3))
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = d.c.send(ctx, d.mark, q) })
	}
	all.Wait()
	for _, a := range answers {
		if a.status == 0 || a.status >= http.StatusInternalServerError {
			d.lost = true
		}
		d.note(a)
		if a.status != answers[0].status && !d.lost {
			d.c.broken(brokenAnswer, "%d and %d at once: %s", answers[0].status, a.status, d.c.curl(q))
		}
	}
}

// move archives, activates and moves within the tenant, never to another tenant's workspace.
func (d *desk) move(ctx context.Context) {
	id, t := d.some()
	if t == nil {
		return
	}
	d.note(d.send(ctx, request{method: http.MethodPost, path: d.at(id) + pick(d.r, []string{"/archive", "/activate"})}))
}

// reply writes a message under a key, which may have been used.
func (d *desk) reply(ctx context.Context) {
	id, t := d.some()
	if t == nil {
		return
	}
	key := pick(d.r, []string{"a", "b", "'", "\xff\xfe", strings.Repeat("k", 218), strings.Repeat("k", 219), strings.Repeat("k", 30_000), ""})
	body := text(d.r, d.mark)
	q := jsonOf(http.MethodPost, d.at(id)+"/messages", map[string]string{"body": body, "author": "me", "status": pick(d.r, []string{"open", "waiting", "closed"})})
	q.header["Idempotency-Key"] = []string{key}
	var said struct{ Body, Ticket string }
	a := d.send(ctx, q)
	if err := json.Unmarshal(a.body, &said); err != nil || a.status != http.StatusOK {
		return
	}
	before, known := t.messages[key]
	if known && before != said.Body || said.Ticket != id {
		d.c.broken(brokenAnswer, "the key %q has %.60q of %s, and had %.60q: %s", key, said.Body, said.Ticket, before, d.c.curl(q))
	}
	t.messages[key] = said.Body
	d.reread(ctx, id)
}

// reread asks for a ticket as it is now.
func (d *desk) reread(ctx context.Context, id string) {
	q := request{method: http.MethodGet, path: d.at(id)}
	a := d.send(ctx, q)
	d.c.must(q, a, brokenAnswer, http.StatusOK)
	d.note(a)
}

// attach stores a file, of any type that a client may say.
func (d *desk) attach(ctx context.Context) {
	id, t := d.some()
	if t == nil || t.state != "active" {
		return
	}
	of, kind := uuid(d.r), pick(d.r, []string{"image/png", "text/html", "", "application/x-www-form-urlencoded", "application/octet-stream"})
	text := append([]byte(d.mark), content(d.r)...)
	name := pick(d.r, []string{"", "x.png", "../../../" + marker, "/etc/passwd", scripts[0], "'"})
	q := request{method: http.MethodPut, path: d.at(id) + "/attachments/" + of, body: text, header: http.Header{"Content-Type": {kind}}}
	if name != "" {
		q.path += "?name=" + url.QueryEscape(name)
	} else {
		name = of
	}
	a := d.send(ctx, q)
	if d.lost && a.status == http.StatusNotFound { // a delete of the ticket was done whose answer is lost
		return
	}
	if d.c.must(q, a, brokenRefused, http.StatusOK) {
		d.attachments[of] = &attachment{ticket: id, name: name, text: text}
		d.others.add(d.others.attachments, of, d.tenant)
	}
}

// hide takes a ticket, and what it has, from those that others attack; unhide gives it back.
func (d *desk) hide(id string) {
	d.others.drop(d.others.tickets, id)
	for of, a := range d.attachments {
		if a.ticket == id {
			d.others.drop(d.others.attachments, of)
		}
	}
}

func (d *desk) unhide(id string) {
	d.others.add(d.others.tickets, id, d.tenant)
	for of, a := range d.attachments {
		if a.ticket == id {
			d.others.add(d.others.attachments, of, d.tenant)
		}
	}
}

func (d *desk) remove(ctx context.Context) {
	id, t := d.some()
	if t == nil {
		return
	}
	grace := pick(d.r, []string{"", "0s", "24h", "2562047h", "-1s", "x", "9999999999h"})
	q := request{method: http.MethodDelete, path: d.at(id) + "?grace=" + grace}
	d.hide(id)
	a := d.send(ctx, q)
	switch {
	case !a.ok():
		d.unhide(id)
	case grace == "24h" || grace == "2562047h":
		q := request{method: http.MethodPost, path: d.at(id) + "/undo"}
		back := d.send(ctx, q)
		d.c.must(q, back, brokenRefused, http.StatusOK)
		d.note(back)
		d.unhide(id)
	case grace == "" || grace == "0s":
		delete(d.tickets, id)
		for of, a := range d.attachments {
			if a.ticket == id {
				delete(d.attachments, of)
			}
		}
	default:
		d.c.broken(brokenTaken, "%d: %s", a.status, d.c.curl(q))
	}
}
