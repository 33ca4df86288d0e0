package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/onerow/onerow/examples/helpdesk/reports"
	"github.com/onerow/onerow/limit"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
	"github.com/onerow/onerow/serial"
)

// Place is whose a ticket is: a workspace of a tenant.
type Place struct {
	Tenant    int64     `db:"tenant_id"`
	Workspace uuid.UUID `db:"workspace_id"`
}

// Workspace is a desk of a tenant's.
type Workspace struct {
	ID       uuid.UUID `db:"id" json:"id"`
	TenantID int64     `db:"tenant_id" json:"-"`
	Name     string    `db:"name" json:"name"`
	Color    string    `db:"color" json:"color"`
}

// Ticket is one of a workspace's.
type Ticket struct {
	ID          uuid.UUID    `db:"id" json:"id"`
	TenantID    int64        `db:"tenant_id" json:"-"`
	WorkspaceID uuid.UUID    `db:"workspace_id" json:"workspace"`
	Number      int64        `db:"number" json:"number"`
	Subject     string       `db:"subject" json:"subject"`
	Requester   string       `db:"requester" json:"requester"`
	Status      string       `db:"status" json:"status"`
	Priority    int          `db:"priority" json:"priority"`
	UpdatedAt   time.Time    `db:"updated_at" json:"updated_at"`
	State       schema.State `db:"state" json:"state"`
}

// Message is one on a ticket.
type Message struct {
	ID       int64     `db:"id" json:"id"`
	TicketID uuid.UUID `db:"ticket_id" json:"ticket"`
	Author   string    `db:"author" json:"author"`
	Body     string    `db:"body" json:"body"`
}

// Attachment is a file on a ticket.
type Attachment struct {
	ID       uuid.UUID `db:"id" json:"id"`
	TenantID int64     `db:"tenant_id" json:"-"`
	TicketID uuid.UUID `db:"ticket_id" json:"ticket"`
	Name     string    `db:"name" json:"name"`
	Bytes    int64     `db:"bytes" json:"bytes"`
	File     string    `db:"file" json:"-"`
}

// Desk is the helpdesk's data. It is safe for concurrent use.
type Desk struct {
	db          *sql.DB
	files       Folder
	bytes       *limit.Rule
	workspaces  *repo.Of[Workspace, uuid.UUID, int64]
	tickets     *repo.Of[Ticket, uuid.UUID, Place]
	messages    *repo.Of[Message, int64, int64]
	attachments *repo.Of[Attachment, uuid.UUID, int64]
}

// NewDesk returns the helpdesk on an adopted database; it refuses another one. Numbers of tickets go on
// behind those of the old application, which must not number any more.
func NewDesk(ctx context.Context, db *sql.DB, files Folder) (*Desk, error) {
	plan, err := Plan()
	if err != nil {
		return nil, err
	}
	if err := live.Verify(ctx, db, plan); err != nil {
		return nil, err
	}
	d := &Desk{db: db, files: files}
	var errs [5]error
	d.bytes, errs[0] = limit.New(plan, "attachment.bytes", quota.LimitQuery(`SELECT max_bytes FROM tenants WHERE id = ?`))
	d.workspaces, errs[1] = repo.NewOf[Workspace, uuid.UUID, int64](plan, "workspace")
	d.tickets, errs[2] = repo.NewOf[Ticket, uuid.UUID, Place](plan, "ticket")
	d.messages, errs[3] = repo.NewOf[Message, int64, int64](plan, "message")
	if errs[0] == nil {
		d.attachments, errs[4] = repo.NewOf[Attachment, uuid.UUID, int64](plan, "attachment", d.bytes)
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return d, d.number(ctx)
}

// number claims the numbers that the old application has given, once for each tenant.
func (d *Desk) number(ctx context.Context) error {
	last, err := reports.New(d.db).LastNumbers(ctx)
	if err != nil {
		return err
	}
	for _, l := range last {
		series, err := numbers(int64(l.TenantID))
		if err != nil {
			return err
		}
		_, err = series.Claim(ctx, d.db, "the old application's", l.Last)
		if err != nil && !errors.Is(err, serial.ErrMismatch) { // they were claimed at an earlier start
			return err
		}
	}
	return nil
}

// numbers is the series of a tenant's tickets.
func numbers(tenant int64) (*serial.Series, error) {
	return serial.New(fmt.Sprintf("tickets of tenant %d", tenant))
}

// Folder holds the files of attachments, and is the worker's assets.
type Folder string

// Delete removes files; one that is missing is no error.
func (f Folder) Delete(_ context.Context, names []string) error {
	var errs []error
	for _, name := range names {
		if err := os.Remove(filepath.Join(string(f), filepath.Base(name))); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// write makes a file whole, or not at all.
func (f Folder) write(name string, text []byte) error {
	part, err := os.CreateTemp(string(f), "part-*")
	if err != nil {
		return err
	}
	_, err = part.Write(text)
	if err := errors.Join(err, part.Close()); err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return os.Rename(part.Name(), filepath.Join(string(f), filepath.Base(name)))
}
