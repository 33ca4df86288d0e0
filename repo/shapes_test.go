package repo_test

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"testing"

	"github.com/google/uuid"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/crashtest"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/internal/racetest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/quota"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
)

// Ticket is a row named by an ID, of an Owner's.
type Ticket[ID repo.Key, Owner comparable] struct {
	ID          ID           `db:"id"`
	UserID      Owner        `db:"user_id"`
	Name        string       `db:"name"`
	Note        string       `db:"note"`
	IsOverQuota bool         `db:"is_over_quota"`
	State       schema.State `db:"state"`
}

// Message is a row below a ticket. Its own id is of the same type.
type Message[ID repo.Key] struct {
	ID       ID     `db:"id"`
	TicketID ID     `db:"ticket_id"`
	Body     string `db:"body"`
}

// helpdesk is the plan of tickets with messages.
func helpdesk(idType, ownerType string) schema.Plan {
	return schema.Plan{Resources: []schema.Resource{
		{
			Name: "ticket", IDType: idType, Archive: "ticket_archive", Owner: "user_id", OwnerType: ownerType,
			Label: schema.Label{Column: "name"}, Quota: schema.Quota{Flag: "is_over_quota"},
			Columns: []schema.Column{{Name: "note", Type: "VARCHAR(80) NOT NULL DEFAULT ''"}},
			Indexes: []schema.Index{{Columns: []string{"user_id", "note"}, Archived: true}},
		},
		{
			Name: "message", IDType: idType, Archive: "message_archive",
			Parent:  schema.Parent{Resource: "ticket", Column: "ticket_id"},
			Columns: []schema.Column{{Name: "body", Type: "TEXT NOT NULL"}},
		},
	}}
}

// shape is one kind of keys. Ids, owners and rows are any here, whose types the functions know; setNote, give
// and under take pointers to rows.
type shape struct {
	plan    schema.Plan
	prepare []string // further statements
	repos   func(schema.Plan) (tickets, messages anyRepo, err error)
	id      func(n int) any
	owner   func(n int) any
	ticket  func(id, owner any, name string) any
	message func(id, ticket any) any
	idOf    func(ticket any) any
	see     func(ticket any) (name, note string, over bool, state schema.State)
	setNote func(ticket any, note string)
	values  func(owner any) []any // of its columns, for the quota
	give    func(ticket, owner any)
	under   func(message, ticket any)
	keyOf   func(message any) any
	other   any // a ticket of the owner 1 may become this one's
	noID    any
	noOwner any
}

func ticketShape[ID repo.Key, Owner comparable](idType, ownerType string, id func(n int) ID, owner func(n int) Owner) shape {
	type ticket = Ticket[ID, Owner]
	type message = Message[ID]
	var noID ID
	var noOwner Owner
	return shape{
		plan: helpdesk(idType, ownerType), repos: newRepositories[ticket, message, ID, Owner],
		id: func(n int) any { return id(n) }, owner: func(n int) any { return owner(n) },
		ticket: func(id, owner any, name string) any {
			return ticket{ID: id.(ID), UserID: owner.(Owner), Name: name}
		},
		message: func(id, ticket any) any { return message{ID: id.(ID), TicketID: ticket.(ID), Body: "b"} },
		idOf:    func(t any) any { return t.(ticket).ID },
		see: func(row any) (string, string, bool, schema.State) {
			t := row.(ticket)
			return t.Name, t.Note, t.IsOverQuota, t.State
		},
		setNote: func(t any, note string) { t.(*ticket).Note = note },
		values:  func(o any) []any { return []any{o} },
		give:    func(t, o any) { t.(*ticket).UserID = o.(Owner) },
		under:   func(m, ticket any) { m.(*message).TicketID = ticket.(ID) },
		keyOf:   func(m any) any { return m.(message).ID },
		other:   owner(9), noID: noID, noOwner: noOwner,
	}
}

// newRepositories: messages have no owner, or the tenant.
func newRepositories[T, M any, ID repo.Key, Owner comparable](plan schema.Plan) (tickets, messages anyRepo, err error) {
	t, err := repo.NewOf[T, ID, Owner](plan, "ticket")
	if err != nil {
		return nil, nil, err
	}
	m, err := repo.NewOf[M, ID, int64](plan, "message")
	return &untyped[T, ID, Owner]{t}, &untyped[M, ID, int64]{m}, err
}

func numbers(n int) int64 { return int64(n) }

// uid is a UUID whose order is that of n.
func uid(n int) uuid.UUID {
	return uuid.MustParse(fmt.Sprintf("abcdef00-0000-7000-8000-%012x", n))
}

// Workspace is an owner of two columns.
type Workspace struct {
	Tenant int64     `db:"tenant_id"`
	ID     uuid.UUID `db:"workspace_id"`
}

// Scoped is a ticket of a workspace.
type Scoped struct {
	ID          uuid.UUID    `db:"id"`
	TenantID    int64        `db:"tenant_id"`
	WorkspaceID uuid.UUID    `db:"workspace_id"`
	Name        string       `db:"name"`
	Note        string       `db:"note"`
	IsOverQuota bool         `db:"is_over_quota"`
	State       schema.State `db:"state"`
}

// ScopedMessage is a row below it, of the same tenant.
type ScopedMessage struct {
	ID       uuid.UUID `db:"id"`
	TenantID int64     `db:"tenant_id"`
	TicketID uuid.UUID `db:"ticket_id"`
	Body     string    `db:"body"`
}

func workspace(n int) Workspace { return Workspace{int64(n), uid(1000 + n)} }

func scopedShape() shape {
	p := helpdesk("BINARY(16)", "BINARY(16)")
	p.Tenant = schema.Column{Name: "tenant_id"}
	p.Resources[0].Owner = "workspace_id"
	p.Resources[0].Indexes[0].Columns = []string{"workspace_id", "tenant_id", "note", "id"}
	give := func(t *Scoped, w Workspace) { t.TenantID, t.WorkspaceID = w.Tenant, w.ID }
	return shape{
		plan: p, repos: newRepositories[Scoped, ScopedMessage, uuid.UUID, Workspace],
		id: func(n int) any { return uid(n) }, owner: func(n int) any { return workspace(n) },
		ticket: func(id, w any, name string) any {
			t := Scoped{ID: id.(uuid.UUID), Name: name}
			give(&t, w.(Workspace))
			return t
		},
		message: func(id, ticket any) any {
			return ScopedMessage{ID: id.(uuid.UUID), TenantID: 1, TicketID: ticket.(uuid.UUID), Body: "b"}
		},
		idOf: func(t any) any { return t.(Scoped).ID },
		see: func(row any) (string, string, bool, schema.State) {
			t := row.(Scoped)
			return t.Name, t.Note, t.IsOverQuota, t.State
		},
		setNote: func(t any, note string) { t.(*Scoped).Note = note },
		values:  func(w any) []any { return []any{w.(Workspace).Tenant, w.(Workspace).ID} },
		give:    func(t, w any) { give(t.(*Scoped), w.(Workspace)) },
		under:   func(m, ticket any) { m.(*ScopedMessage).TicketID = ticket.(uuid.UUID) },
		keyOf:   func(m any) any { return m.(ScopedMessage).ID },
		other:   Workspace{1, uid(1009)}, // messages store the tenant
		noID:    uuid.UUID{}, noOwner: Workspace{},
	}
}

// shapes are the kinds of keys that tables have.
func shapes() map[string]shape {
	unsigned := ticketShape("BIGINT UNSIGNED NOT NULL AUTO_INCREMENT", "BIGINT UNSIGNED", func(int) uint64 { return 0 },
		func(n int) uint64 { return math.MaxUint64 - uint64(n) })
	for _, table := range []string{"ticket", "message"} {
		unsigned.prepare = append(unsigned.prepare, "ALTER TABLE "+table+" AUTO_INCREMENT = 18446744073709550000")
	}
	text := func(prefix string) func(n int) string {
		return func(n int) string { return fmt.Sprintf("%s'%%,\\ %06d é🙂", prefix, n) }
	}
	cluster := ticketShape("", "", func(int) int64 { return 0 }, numbers)
	cluster.plan.Cluster = true
	return map[string]shape{
		"for a cluster":   cluster,
		"BIGINT":          ticketShape("", "", func(int) int64 { return 0 }, numbers),
		"BIGINT UNSIGNED": unsigned,
		"BIGINT, made":    ticketShape("BIGINT", "", func(n int) int64 { return int64(n) - 3 + math.MinInt32 }, numbers),
		"BINARY(16)":      ticketShape("BINARY(16)", "BINARY(16)", uid, uid),
		"CHAR(36)": ticketShape("CHAR(36) CHARACTER SET ascii COLLATE ascii_general_ci", "CHAR(36) COLLATE utf8mb4_general_ci",
			uid, uid),
		"VARCHAR":         ticketShape("VARCHAR(60)", "VARCHAR(60) COLLATE utf8mb4_bin", text("T"), text("o")),
		"composite owner": scopedShape(),
	}
}

// opened is a shape with its tables and repositories.
type opened struct {
	shape
	dsn      string
	db       *sql.DB
	c        *crashtest.Connector
	tickets  anyRepo
	messages anyRepo
	rule     *quota.Rule
	made     bool // the application makes the ids
}

func (s shape) makeTables(t testing.TB, db *sql.DB) {
	t.Helper()
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range append(s.plan.DDL(), s.prepare...) {
		dbtest.Exec(t, db, stmt)
	}
}

func (s shape) open(t testing.TB, opts ...dbtest.Option) opened {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	s.makeTables(t, dbtest.OpenDSN(t, dsn))
	return s.on(t, dsn)
}

func (s shape) on(t testing.TB, dsn string) opened {
	t.Helper()
	o := opened{shape: s, dsn: dsn}
	o.db, o.c = racetest.Counted(t, dsn)
	if err := live.Verify(t.Context(), o.db, s.plan); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.tickets, o.messages, err = s.repos(s.plan); err != nil {
		t.Fatal(err)
	}
	limit := func(context.Context, *onerow.Tx, any) (int, error) { return 2, nil }
	if o.rule, err = quota.New(s.plan, "ticket", limit); err != nil {
		t.Fatal(err)
	}
	o.made = s.id(7) != s.noID
	return o
}

// create makes a ticket and returns its id.
func (o opened) create(t testing.TB, n int, owner any, name string) any {
	t.Helper()
	res, err := o.tickets.Create(t.Context(), o.db, o.ticket(o.id(n), owner, name))
	if err != nil {
		t.Fatal(err)
	}
	return o.idOf(res.Row)
}

// drain lets a worker do the open jobs.
func (o opened) drain(t testing.TB) {
	t.Helper()
	w, err := cascade.NewWorker(o.db, o.plan, cascade.Config{})
	if err == nil {
		err = w.Drain(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
