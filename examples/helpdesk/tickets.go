package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/examples/helpdesk/reports"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// errInput means that a client has sent what cannot be stored.
var errInput = errors.New("invalid input")

var errElsewhere = errors.New("the request comes from another site's page")

// Open makes a ticket. The client has made its id, so a repeat gets the ticket of the first call; the number
// is claimed under the id in the same transaction, so no number is lost or given twice.
func (d *Desk) Open(ctx context.Context, t Ticket) (res onerow.Result[Ticket], err error) {
	series, err := numbers(t.TenantID)
	if err != nil {
		return res, err
	}
	err = onerow.InTx(ctx, d.db, func(ctx context.Context, tx *onerow.Tx) error {
		claim, err := series.Claim(ctx, tx, t.ID.String(), 1)
		if err != nil {
			return err
		}
		t.Number = claim.Row.From
		res, err = d.tickets.Create(ctx, tx, t)
		return err
	})
	return res, err
}

// at is the repository of a place: it finds no ticket of another.
func (d *Desk) at(p Place) *repo.Of[Ticket, uuid.UUID, Place] { return d.tickets.OwnedBy(p) }

// List is a page of a workspace's tickets of one status, the latest or the most urgent first.
func (d *Desk) List(ctx context.Context, p Place, status, sort string, state schema.State, after string, most int) (repo.Page[Ticket], error) {
	columns := map[string]repo.Sort{"updated": {Column: "updated_at", Descending: true}, "priority": {Column: "priority"}}
	by, ok := columns[sort]
	if !ok {
		return repo.Page[Ticket]{}, fmt.Errorf("%w: sort is updated or priority, not %q", errInput, sort)
	}
	return d.at(p).List(ctx, d.db, p, repo.PageOptions{Where: repo.Where{"status": status}, Sort: by, State: state, After: repo.Cursor(after), Limit: most})
}

// Move puts a ticket into another workspace of its tenant, and all that is below it with it.
func (d *Desk) Move(ctx context.Context, p Place, id, workspace uuid.UUID) (onerow.Result[Ticket], error) {
	return d.tickets.Move(ctx, d.db, id, func(t *Ticket) error {
		if t.TenantID != p.Tenant || t.WorkspaceID != p.Workspace && t.WorkspaceID != workspace {
			return onerow.ErrNotFound // somebody else's; a repeat finds it where it goes
		}
		t.WorkspaceID = workspace
		return nil
	})
}

// Delete hides a ticket for the time of grace; then it goes, with its messages, files and tags.
func (d *Desk) Delete(ctx context.Context, p Place, id uuid.UUID, grace time.Duration) (repo.Deleted[Ticket], error) {
	var opts []repo.DeleteOption
	if grace > 0 {
		opts = append(opts, repo.Grace(grace))
	}
	return d.at(p).Delete(ctx, d.db, id, opts...)
}

// Reply adds a message and sets the ticket's status, both or neither. A repeat of the request does nothing.
func (d *Desk) Reply(ctx context.Context, p Place, m Message, status, request string) (res onerow.Result[Message], err error) {
	if request == "" || m.Body == "" || status != "open" && status != "waiting" && status != "closed" {
		return res, fmt.Errorf("%w: a reply has a body, a status (open, waiting, closed) and the header Idempotency-Key", errInput)
	}
	err = onerow.InTx(ctx, d.db, func(ctx context.Context, tx *onerow.Tx) error {
		if _, err := d.at(p).Get(ctx, tx, m.TicketID); err != nil {
			return err
		}
		res, err = d.messages.Create(ctx, tx, m, repo.RequestID(m.TicketID.String()+" "+request))
		if err != nil || res.Replayed {
			return err
		}
		_, err = d.at(p).Update(ctx, tx, m.TicketID, func(t *Ticket) error { t.Status = status; return nil })
		return err
	})
	return res, err
}

// uploadTime is how long room is held for bytes that are on their way.
const uploadTime = 10 * time.Minute

// Attach reserves room for the bytes before they are read, stores them, and makes the row that names them. A
// repeat gets the same row; where it fails the room comes back when its time is over. A crash may leave a
// file that no row names: OPERATIONS.md has how to find it.
func (d *Desk) Attach(ctx context.Context, p Place, a Attachment, read func() ([]byte, error)) (res onerow.Result[Attachment], err error) {
	if _, err := d.at(p).Get(ctx, d.db, a.TicketID); err != nil {
		return res, err
	}
	if old, err := d.attachments.OwnedBy(p.Tenant).Get(ctx, d.db, a.ID); err == nil {
		return onerow.Result[Attachment]{Row: old, Replayed: true}, nil
	} else if !errors.Is(err, onerow.ErrNotFound) {
		return res, err
	}
	key := a.ID.String()
	if _, err := d.bytes.Reserve(ctx, d.db, key, a.Bytes, uploadTime, p.Tenant); err != nil {
		return res, err
	}
	text, err := read()
	if err != nil {
		return res, errors.Join(err, d.bytes.Cancel(ctx, d.db, key, p.Tenant))
	}
	a.File = key + "-" + rand.Text() // never one that another row names
	if err := d.files.write(a.File, text); err != nil {
		return res, err
	}
	res, err = d.attachments.Create(ctx, d.db, a, repo.UseReservation(d.bytes, key))
	if err != nil && !errors.Is(err, onerow.ErrOutcomeUnknown) || err == nil && res.Row.File != a.File { // no row names it
		err = errors.Join(err, d.files.Delete(ctx, []string{a.File}))
	}
	return res, err
}

// Tag gives a ticket a tag of its tenant. It may be called twice.
func (d *Desk) Tag(ctx context.Context, p Place, ticket uuid.UUID, label string) error {
	return onerow.InTx(ctx, d.db, func(ctx context.Context, tx *onerow.Tx) error {
		q := reports.New(tx)
		tenant := int32(p.Tenant) //nolint:gosec // the column's type; the API takes no other
		n, err := q.AddTag(ctx, reports.AddTagParams{TenantID: tenant, WorkspaceID: p.Workspace[:], ID: ticket[:], Label: label})
		if err != nil || n > 0 {
			return err
		}
		n, err = q.HasTag(ctx, reports.HasTagParams{TicketID: ticket[:], TenantID: tenant, Label: label})
		if err == nil && n == 0 {
			err = onerow.ErrNotFound
		}
		return err
	})
}
