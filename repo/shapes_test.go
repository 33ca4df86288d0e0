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

// shape is one kind of keys: T and M are the rows, which the functions make and look into.
type shape[T, M any, ID repo.Key, Owner comparable] struct {
	plan    schema.Plan
	prepare []string // further statements
	id      func(n int) ID
	owner   func(n int) Owner
	ticket  func(id ID, owner Owner, name string) T
	message func(id, ticket ID) M
	idOf    func(T) ID
	see     func(T) (name, note string, over bool, state schema.State)
	setNote func(*T, string)
	values  func(Owner) []any // of the owner's columns, for the quota
	give    func(*T, Owner)
	under   func(*M, ID)
	keyOf   func(M) ID
	other   Owner // a ticket of the owner 1 may become this one's
}

func ticketShape[ID repo.Key, Owner comparable](idType, ownerType string, id func(n int) ID, owner func(n int) Owner) shape[Ticket[ID, Owner], Message[ID], ID, Owner] {
	return shape[Ticket[ID, Owner], Message[ID], ID, Owner]{
		plan: helpdesk(idType, ownerType), id: id, owner: owner,
		ticket: func(id ID, owner Owner, name string) Ticket[ID, Owner] {
			return Ticket[ID, Owner]{ID: id, UserID: owner, Name: name}
		},
		message: func(id, ticket ID) Message[ID] { return Message[ID]{ID: id, TicketID: ticket, Body: "b"} },
		idOf:    func(t Ticket[ID, Owner]) ID { return t.ID },
		see: func(t Ticket[ID, Owner]) (string, string, bool, schema.State) {
			return t.Name, t.Note, t.IsOverQuota, t.State
		},
		setNote: func(t *Ticket[ID, Owner], note string) { t.Note = note },
		values:  func(o Owner) []any { return []any{o} },
		give:    func(t *Ticket[ID, Owner], o Owner) { t.UserID = o },
		under:   func(m *Message[ID], ticket ID) { m.TicketID = ticket },
		keyOf:   func(m Message[ID]) ID { return m.ID },
		other:   owner(9),
	}
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

func scopedShape() shape[Scoped, ScopedMessage, uuid.UUID, Workspace] {
	p := helpdesk("BINARY(16)", "BINARY(16)")
	p.Tenant = schema.Column{Name: "tenant_id"}
	p.Resources[0].Owner = "workspace_id"
	p.Resources[0].Indexes[0].Columns = []string{"workspace_id", "tenant_id", "note", "id"}
	return shape[Scoped, ScopedMessage, uuid.UUID, Workspace]{
		plan: p, id: uid, owner: workspace,
		ticket: func(id uuid.UUID, w Workspace, name string) Scoped {
			return Scoped{ID: id, TenantID: w.Tenant, WorkspaceID: w.ID, Name: name}
		},
		message: func(id, ticket uuid.UUID) ScopedMessage {
			return ScopedMessage{ID: id, TenantID: 1, TicketID: ticket, Body: "b"}
		},
		idOf:    func(t Scoped) uuid.UUID { return t.ID },
		see:     func(t Scoped) (string, string, bool, schema.State) { return t.Name, t.Note, t.IsOverQuota, t.State },
		setNote: func(t *Scoped, note string) { t.Note = note },
		values:  func(w Workspace) []any { return []any{w.Tenant, w.ID} },
		give:    func(t *Scoped, w Workspace) { t.TenantID, t.WorkspaceID = w.Tenant, w.ID },
		under:   func(m *ScopedMessage, ticket uuid.UUID) { m.TicketID = ticket },
		keyOf:   func(m ScopedMessage) uuid.UUID { return m.ID },
		other:   Workspace{1, uid(1009)}, // messages store the tenant
	}
}

// tryShape is what one kind of keys must do.
type tryShape interface {
	test(t *testing.T)
	crash(t *testing.T, level sql.IsolationLevel)
	interleave(t *testing.T, level sql.IsolationLevel)
	model(t *testing.T)
}

// shapes are the kinds of keys that tables have.
func shapes() map[string]tryShape {
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
	return map[string]tryShape{
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
type opened[T, M any, ID repo.Key, Owner comparable] struct {
	shape[T, M, ID, Owner]
	dsn      string
	db       *sql.DB
	c        *crashtest.Connector
	tickets  *repo.Of[T, ID, Owner]
	messages *repo.Of[M, ID, int64]
	rule     *quota.Rule
	made     bool // the application makes the ids
}

func (s shape[T, M, ID, Owner]) makeTables(t testing.TB, db *sql.DB) {
	t.Helper()
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range append(s.plan.DDL(), s.prepare...) {
		dbtest.Exec(t, db, stmt)
	}
}

func (s shape[T, M, ID, Owner]) open(t testing.TB, opts ...dbtest.Option) opened[T, M, ID, Owner] {
	t.Helper()
	dsn := dbtest.DSN(t, opts...)
	s.makeTables(t, dbtest.OpenDSN(t, dsn))
	return s.on(t, dsn)
}

func (s shape[T, M, ID, Owner]) on(t testing.TB, dsn string) opened[T, M, ID, Owner] {
	t.Helper()
	o := opened[T, M, ID, Owner]{shape: s, dsn: dsn}
	o.db, o.c = racetest.Counted(t, dsn)
	if err := schema.Verify(t.Context(), o.db, s.plan); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.tickets, err = repo.NewOf[T, ID, Owner](s.plan, "ticket"); err != nil {
		t.Fatal(err)
	}
	if o.messages, err = newMessages[M, ID](s.plan); err != nil {
		t.Fatal(err)
	}
	limit := func(context.Context, *onerow.Tx, any) (int, error) { return 2, nil }
	if o.rule, err = quota.New(s.plan, "ticket", limit); err != nil {
		t.Fatal(err)
	}
	var zero ID
	o.made = s.id(7) != zero
	return o
}

// newMessages: messages have no owner, or the tenant.
func newMessages[M any, ID repo.Key](plan schema.Plan) (*repo.Of[M, ID, int64], error) {
	return repo.NewOf[M, ID, int64](plan, "message")
}

// create makes a ticket and returns its id.
func (o opened[T, M, ID, Owner]) create(t testing.TB, n int, owner Owner, name string) ID {
	t.Helper()
	res, err := o.tickets.Create(t.Context(), o.db, o.ticket(o.id(n), owner, name))
	if err != nil {
		t.Fatal(err)
	}
	return o.idOf(res.Row)
}

// drain lets a worker do the open jobs.
func (o opened[T, M, ID, Owner]) drain(t testing.TB) {
	t.Helper()
	w, err := cascade.NewWorker(o.db, o.plan, cascade.Config{})
	if err == nil {
		err = w.Drain(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}
