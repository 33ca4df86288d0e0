package repo_test

import (
	"errors"
	"fmt"
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
	o.create(t, 1, 1, "A")
	must(o.messages.Create(ctx, db, o.message("m", "ABC")))
	must(o.tickets.Archive(ctx, db, "ABC"))
	must(o.tickets.Activate(ctx, db, "abc"))
	del := must(o.tickets.Delete(ctx, db, "ABC", repo.Grace(time.Hour)))
	if key := dbtest.Scan[string](t, db, "SELECT CONCAT(j.resource_id, d.resource_id) FROM onerow_job j JOIN onerow_deletion d ON d.id = j.deletion_id"); key != "'aBc'aBc" {
		t.Errorf("the job and the audit name %s", key)
	}
	if row := must(o.tickets.CancelDelete(ctx, db, "abC")); row.Row.ID != "aBc" || !row.Changed {
		t.Errorf("cancelled: %+v", row)
	}
	del = must(o.tickets.Delete(ctx, db, "abc", repo.Grace(time.Hour)))
	must(repo.Restore(ctx, db, o.plan, del.DeletionID))
	if res := must(o.tickets.Create(ctx, db, o.ticket("abc", 1, "A"))); !res.Replayed || res.Row.ID != "aBc" {
		t.Errorf("created again: %+v", res)
	}
	must(o.tickets.Delete(ctx, db, "abC"))
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
		tickets *repo.Of[Ticket[string, int64], string, int64]
		o       opened[Ticket[string, int64], Message[string], string, int64]
		id      string
	}{
		{ascii.tickets, ascii, strings.Repeat("a", 37)}, {ascii.tickets, ascii, "é"}, {ascii.tickets, ascii, "\xff"},
		{wide.tickets, wide, strings.Repeat("🙂", 11)}, {wide.tickets, wide, "\xc3"},
	} {
		if _, err := tt.tickets.Get(t.Context(), tt.o.db, tt.id); !errors.Is(err, onerow.ErrNotFound) || !errors.Is(err, onerow.ErrInvalidKey) {
			t.Errorf("get %q: %v", tt.id, err)
		}
		if _, err := tt.tickets.Create(t.Context(), tt.o.db, tt.o.ticket(tt.id, 1, "A")); !errors.Is(err, onerow.ErrInvalidKey) {
			t.Errorf("create %q: %v", tt.id, err)
		}
	}
	for n, id := range []string{"a'b", "a\\", "\x00", "a,b%'", strings.Repeat("a", 36), "a b"} {
		must(ascii.tickets.Create(t.Context(), ascii.db, ascii.ticket(id+"  ", 1, fmt.Sprint(n)))) // CHAR stores no spaces at the end
		if row := must(ascii.tickets.OwnedBy(1).Get(t.Context(), ascii.db, id)); row.ID != id {
			t.Errorf("%q is %q", id, row.ID)
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
	id := o.create(t, 1, workspace(1), "A")
	for _, tenant := range []int64{2, 0} {
		if _, err := o.messages.Create(ctx, db, ScopedMessage{ID: uid(9), TenantID: tenant, TicketID: id}); !errors.Is(err, repo.ErrParentNotFound) {
			t.Errorf("below another tenant's: %v", err)
		}
		if _, err := o.messages.OwnedBy(tenant).Create(ctx, db, ScopedMessage{ID: uid(9), TicketID: id}); !errors.Is(err, repo.ErrParentNotFound) {
			t.Errorf("below another tenant's, by its repository: %v", err)
		}
	}
	made := must(o.messages.OwnedBy(1).Create(ctx, db, ScopedMessage{ID: uid(9), TicketID: id}))
	if made.Row.TenantID != 1 {
		t.Errorf("made for tenant %d", made.Row.TenantID)
	}
	for owner, want := range map[Workspace]bool{workspace(1): true, {1, uid(7)}: false, {2, uid(1001)}: false} {
		if _, err := o.tickets.OwnedBy(owner).Get(ctx, db, id); (err == nil) != want {
			t.Errorf("%v: %v", owner, err)
		}
		if page := must(o.tickets.List(ctx, db, owner, repo.PageOptions{})); len(page.Items) == 1 != want {
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
