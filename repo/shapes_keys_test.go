package repo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/repo"
	"github.com/onerow/onerow/schema"
)

// TestSpellings: where a collation takes two spellings for one id, the job and the audit have the row's.
func TestSpellings(t *testing.T) {
	s := ticketShape("VARCHAR(20) COLLATE utf8mb4_general_ci", "", func(n int) string { return strings.Repeat("aBc", n) }, numbers)
	o := s.open(t)
	ctx, db := t.Context(), o.db
	tickets := typed[Ticket[string, int64], string, int64](o.tickets)
	o.create(t, 1, int64(1), "A")
	must(o.messages.Create(ctx, db, o.message("m", "ABC")))
	must(tickets.Archive(ctx, db, "ABC"))
	must(tickets.Activate(ctx, db, "abc"))
	del := must(tickets.Delete(ctx, db, "ABC", repo.Grace(time.Hour)))
	if key := dbtest.Scan[string](t, db, "SELECT CONCAT(j.resource_id, d.resource_id) FROM onerow_job j JOIN onerow_deletion d ON d.id = j.deletion_id"); key != "'aBc'aBc" {
		t.Errorf("the job and the audit name %s", key)
	}
	if row := must(tickets.CancelDelete(ctx, db, "abC")); row.Row.ID != "aBc" || !row.Changed {
		t.Errorf("cancelled: %+v", row)
	}
	del = must(tickets.Delete(ctx, db, "abc", repo.Grace(time.Hour)))
	must(repo.Restore(ctx, db, o.plan, del.DeletionID))
	if res := must(tickets.Create(ctx, db, Ticket[string, int64]{ID: "abc", UserID: 1, Name: "A"})); !res.Replayed || res.Row.ID != "aBc" {
		t.Errorf("created again: %+v", res)
	}
	must(tickets.Delete(ctx, db, "abC"))
	o.drain(t)
	if n := count(t, db, "SELECT COUNT(*) FROM message"); n != 0 {
		t.Errorf("%d messages are left", n)
	}
}

// TestHostileKeys: what no row can have is not found, and is not made; no server cuts it or looks at each row.
func TestHostileKeys(t *testing.T) {
	ascii := ticketShape("CHAR(36) CHARACTER SET ascii", "", func(int) string { return "" }, numbers).open(t)
	wide := ticketShape("VARCHAR(10)", "", func(int) string { return "" }, numbers).open(t)
	for _, tt := range []struct {
		o  opened
		id string
	}{
		{ascii, strings.Repeat("a", 37)}, {ascii, "é"}, {ascii, "\xff"}, {wide, strings.Repeat("🙂", 11)}, {wide, "\xc3"},
	} {
		if _, err := tt.o.tickets.Get(t.Context(), tt.o.db, tt.id); !errors.Is(err, onerow.ErrNotFound) || !errors.Is(err, onerow.ErrInvalidKey) {
			t.Errorf("get %q: %v", tt.id, err)
		}
		if _, err := tt.o.tickets.Create(t.Context(), tt.o.db, tt.o.ticket(tt.id, int64(1), "A")); !errors.Is(err, onerow.ErrInvalidKey) {
			t.Errorf("create %q: %v", tt.id, err)
		}
	}
	for n, id := range []string{"a'b", "a\\", "\x00", "a,b%'", strings.Repeat("a", 36), "a b"} {
		must(ascii.tickets.Create(t.Context(), ascii.db, ascii.ticket(id+"  ", int64(1), fmt.Sprint(n)))) // CHAR stores no spaces at the end
		if got := ascii.idOf(must(ascii.tickets.OwnedBy(int64(1)).Get(t.Context(), ascii.db, id))); got != id {
			t.Errorf("%q is %q", id, got)
		}
		del := must(ascii.tickets.Delete(t.Context(), ascii.db, id, repo.Grace(time.Hour)))
		if back := must(repo.Restore(t.Context(), ascii.db, ascii.plan, del.DeletionID)); !back.Changed {
			t.Errorf("%q: %+v", id, back)
		}
		must(ascii.tickets.Delete(t.Context(), ascii.db, id))
	}
}

// TestTenants: no row comes below a row of another tenant, whoever asks.
func TestTenants(t *testing.T) {
	o := scopedShape().open(t)
	ctx, db := t.Context(), o.db
	tickets, messages := typed[Scoped, uuid.UUID, Workspace](o.tickets), typed[ScopedMessage, uuid.UUID, int64](o.messages)
	id := o.create(t, 1, workspace(1), "A").(uuid.UUID)
	for _, tenant := range []int64{2, 0} {
		if _, err := messages.Create(ctx, db, ScopedMessage{ID: uid(9), TenantID: tenant, TicketID: id}); !errors.Is(err, repo.ErrParentNotFound) {
			t.Errorf("below another tenant's: %v", err)
		}
		if _, err := messages.OwnedBy(tenant).Create(ctx, db, ScopedMessage{ID: uid(9), TicketID: id}); !errors.Is(err, repo.ErrParentNotFound) {
			t.Errorf("below another tenant's, by its repository: %v", err)
		}
	}
	made := must(messages.OwnedBy(1).Create(ctx, db, ScopedMessage{ID: uid(9), TicketID: id}))
	if made.Row.TenantID != 1 {
		t.Errorf("made for tenant %d", made.Row.TenantID)
	}
	for owner, want := range map[Workspace]bool{workspace(1): true, {1, uid(7)}: false, {2, uid(1001)}: false} {
		if _, err := tickets.OwnedBy(owner).Get(ctx, db, id); (err == nil) != want {
			t.Errorf("%v: %v", owner, err)
		}
		if page := must(tickets.List(ctx, db, owner, repo.PageOptions{})); len(page.Items) == 1 != want {
			t.Errorf("%v has %d rows", owner, len(page.Items))
		}
	}
}

// TestNewOf: types that do not fit the columns are refused, and the message says which.
func TestNewOf(t *testing.T) {
	type bare [16]byte // no text form
	type oneColumn struct {
		Tenant int64 `db:"tenant_id"`
	}
	uuids, texts, scoped := helpdesk("BINARY(16)", "CHAR(36)"), helpdesk("VARCHAR(5)", ""), scopedShape().plan
	for want, err := range map[string]error{
		"a int64 does not fit a column of text or bytes; NewOf": second(repo.New[Ticket[uuid.UUID, uuid.UUID]](uuids, "ticket")),
		`"user_id" of "ticket" is CHAR(36) NOT NULL`:            second(repo.NewOf[Ticket[uuid.UUID, uuid.UUID], uuid.UUID, int64](uuids, "ticket")),
		"no MarshalText":                                          second(repo.NewOf[Ticket[uuid.UUID, bare], uuid.UUID, bare](uuids, "ticket")),
		"has 12 bytes, the column 16":                             second(repo.NewOf[Ticket[[12]byte, uuid.UUID], [12]byte, uuid.UUID](uuids, "ticket")),
		"does not fit an integer column":                          second(repo.NewOf[Ticket[string, string], string, string](texts, "ticket")),
		"tenant_id, workspace_id: name a struct":                  second(repo.NewOf[Scoped, uuid.UUID, uuid.UUID](scoped, "ticket")),
		"the owner of \"ticket\" has the columns tenant_id, work": second(repo.NewOf[Scoped, uuid.UUID, oneColumn](scoped, "ticket")),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	for idType, want := range map[string]string{"TEXT": "is no type of a key", "BINARY(16) AUTO_INCREMENT": "is no type of a key", "DOUBLE": "is no type of a key"} {
		if err := helpdesk(idType, "").Check(); !errors.Is(err, schema.ErrInvalidPlan) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", idType, err)
		}
	}
	if err := helpdesk("", "BIGINT AUTO_INCREMENT").Check(); err == nil || !strings.Contains(err.Error(), "another row's") {
		t.Error(err)
	}
}

// TestRepeatBelow: a repeat finds its row whatever has become of the row above it, or whatever it says of that.
func TestRepeatBelow(t *testing.T) {
	o := scopedShape().open(t)
	ctx, db := t.Context(), o.db
	messages := typed[ScopedMessage, uuid.UUID, int64](o.messages)
	above := o.create(t, 1, workspace(1), "A").(uuid.UUID)
	message := ScopedMessage{ID: uid(9), TenantID: 1, TicketID: above, Body: "b"}
	must(messages.Create(ctx, db, message))
	must(o.tickets.Archive(ctx, db, above))
	for _, ticket := range []uuid.UUID{above, uid(404)} {
		message.TicketID = ticket
		if res, err := messages.Create(ctx, db, message); err != nil || !res.Replayed || res.Row.TicketID != above {
			t.Errorf("below %v: %+v, %v", ticket, res, err)
		}
	}
	message.ID = uid(10)
	if _, err := messages.Create(ctx, db, message); !errors.Is(err, repo.ErrParentNotFound) {
		t.Errorf("a new one: %v", err)
	}
}

// TestKeysThatServersCut: sql_modes that cut and fill change no key.
func TestKeysThatServersCut(t *testing.T) {
	ints := ticketShape("INT", "INT UNSIGNED", func(n int) int64 { return int64(n) }, func(n int) int64 { return int64(n) })
	dsn := dbtest.DSN(t)
	ints.makeTables(t, dbtest.OpenDSN(t, dsn))
	o := ints.on(t, dsn+"&sql_mode=%27%27")
	tickets := typed[Ticket[int64, int64], int64, int64](o.tickets)
	for _, row := range []Ticket[int64, int64]{{ID: 3e9, UserID: 1}, {ID: 1, UserID: 5e9}, {ID: -3e9, UserID: 1}, {ID: 1, UserID: -1}} {
		row.Name = "A"
		if _, err := tickets.Create(t.Context(), o.db, row); !errors.Is(err, onerow.ErrInvalidKey) {
			t.Errorf("%+v: %v", row, err)
		}
	}
	if _, err := tickets.Get(t.Context(), o.db, 3e9); !errors.Is(err, onerow.ErrNotFound) {
		t.Error(err)
	}
	chars := ticketShape("char(36) collate 'utf8mb4_bin'", "char(36) character set utf8mb4", func(n int) string { return strings.Repeat("x", n) }, func(n int) string { return strings.Repeat("o", n) })
	dsn = dbtest.DSN(t)
	chars.makeTables(t, dbtest.OpenDSN(t, dsn))
	c := chars.on(t, dsn)
	ctx, db := t.Context(), c.db
	c.create(t, 1, "o", "A")
	if row := must(c.tickets.Get(ctx, db, "x")).(Ticket[string, string]); row.ID != "x" || row.UserID != "o" {
		t.Errorf("%+v", row)
	}
	must(c.tickets.Delete(ctx, db, "x"))
	if _, err := c.tickets.Create(ctx, db, c.ticket("x", "o", "A")); !errors.Is(err, repo.ErrGone) {
		t.Errorf("created again: %v", err)
	}
	if key := dbtest.Scan[string](t, db, "SELECT CONCAT(resource_id, owner) FROM onerow_deletion"); key != "'x'o" {
		t.Errorf("the audit has %q", key)
	}
}

// TestLongOwners: a row that could never be deleted is not made. It is refused before anything is sent, which
// a context that has ended shows.
func TestLongOwners(t *testing.T) {
	o := ticketShape("", "VARCHAR(200)", func(int) int64 { return 0 }, func(int) string { return strings.Repeat("語", 200) }).open(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{t.Context(), ended} {
		if _, err := o.tickets.Create(ctx, o.db, o.ticket(int64(0), o.owner(1), "A")); !errors.Is(err, onerow.ErrInvalidKey) {
			t.Error(err)
		}
	}
}

// TestOwnUUIDs: a column of the application's own that is BINARY(16) takes a UUID, whatever its Value method says.
func TestOwnUUIDs(t *testing.T) {
	type row struct {
		ID    int64     `db:"id"`
		Token uuid.UUID `db:"token"`
		Other uuid.UUID `db:"other"`
	}
	plan := schema.Plan{Resources: []schema.Resource{{Name: "letter", Columns: []schema.Column{{Name: "token", Type: "BINARY(16) NOT NULL"}, {Name: "other", Type: "BINARY(16) NULL"}}}}}
	db := dbtest.Open(t)
	dbtest.Exec(t, db, plan.DDL()[0])
	letters := must(repo.New[row](plan, "letter"))
	id := must(letters.Create(t.Context(), db, row{Token: uid(7)})).Row.ID
	dbtest.Exec(t, db, "UPDATE letter SET other = NULL")
	if got := must(letters.Get(t.Context(), db, id)); got.Token != uid(7) || got.Other != uuid.Nil {
		t.Errorf("%+v", got)
	}
}

// TestTenantAbove: a tenant's column that is the parent's has the type of the parent's id.
func TestTenantAbove(t *testing.T) {
	plan := schema.Plan{Tenant: schema.Column{Name: "tenant_id"}, Resources: []schema.Resource{
		{Name: "tenant", IDType: "BINARY(16)", Tenant: schema.NoTenant},
		{Name: "workspace", IDType: "BINARY(16)", Parent: schema.Parent{Resource: "tenant", Column: "tenant_id"}},
	}}
	if ddl := strings.Join(plan.DDL(), ""); !strings.Contains(ddl, "`tenant_id` BINARY(16) NOT NULL") {
		t.Error(ddl)
	}
	var again schema.Plan
	for _, name := range plan.Names() {
		again.Resources = append(again.Resources, must(plan.Resource(name)))
	}
	again.Tenant = plan.Tenant
	if !slices.Equal(again.DDL(), plan.DDL()) || len(again.Resources[0].Owners()) != 0 {
		t.Errorf("a plan of its own resources is another one: %v", again.DDL())
	}
	plan.Tenant.Type = "BIGINT"
	if err := plan.Check(); !errors.Is(err, schema.ErrInvalidPlan) {
		t.Error(err)
	}
}
