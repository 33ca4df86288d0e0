package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/schema"
)

// tickets are listed by their status and when they are due, archived ones too.
func tickets() schema.Plan {
	return schema.Plan{Tenant: schema.Column{Name: "tenant_id"}, Resources: []schema.Resource{{
		Name: "ticket", Archive: "ticket_archive", Owner: "user_id",
		Columns: []schema.Column{{Name: "status", Type: "VARCHAR(20) NOT NULL"}, {Name: "due_at", Type: "DATETIME(6) NULL"}},
		Indexes: []schema.Index{
			{Columns: []string{"user_id", "tenant_id", "status", "due_at", "id"}, Archived: true},
			{Columns: []string{"tenant_id", "user_id", "due_at"}},
			{Columns: []string{"tenant_id", "user_id", "due_at", "status"}, Unique: true},
		},
	}}}
}

// TestListIndex: which index serves which list, and that the one which is named where there is none does.
func TestListIndex(t *testing.T) {
	ticket, err := tickets().Resource("ticket")
	if err != nil {
		t.Fatal(err)
	}
	const long, due = "user_id_tenant_id_status_due_at_id", "tenant_id_user_id_due_at"
	ddl := strings.Join(ticket.DDL(), "\n")
	for _, line := range []string{"KEY `" + long + "` (`user_id`, `tenant_id`, `status`, `due_at`, `id`)", "KEY `" + long + "` (`user_id`, `tenant_id`, `deletion_id`, `status`, `due_at`, `id`)"} {
		if strings.Count(ddl, line) != 1 {
			t.Errorf("%s is not there once:\n%s", line, ddl)
		}
	}
	for _, c := range []struct {
		state  schema.State
		equal  []string
		sort   string
		active string // its index
	}{
		{schema.Active, nil, "id", "owner_id"}, {schema.Archived, nil, "id", "shown"},
		{schema.Active, []string{"status"}, "due_at", long}, {schema.Archived, []string{"status"}, "due_at", long},
		{schema.Active, []string{"due_at", "status"}, "id", long}, {schema.Archived, []string{"due_at", "status"}, "id", long},
		{schema.Active, nil, "due_at", due}, {schema.Archived, nil, "due_at", ""},
		{schema.Active, []string{"due_at"}, "id", due}, {schema.Active, []string{"due_at"}, "status", ""},
		{schema.Active, []string{"status"}, "id", ""}, {schema.Active, nil, "status", ""}, {schema.Active, nil, "created_at", ""},
	} {
		name, ok := ticket.ListIndex(c.state, c.equal, c.sort)
		if name != c.active || ok != (c.active != "") {
			t.Errorf("%+v: %q, %v", c, name, ok)
		}
		more := ticket
		more.Indexes = append(slices.Clone(more.Indexes), ticket.IndexFor(c.state, c.equal, c.sort))
		if _, ok := more.ListIndex(c.state, c.equal, c.sort); !ok {
			t.Errorf("%+v: the index %+v does not serve it", c, ticket.IndexFor(c.state, c.equal, c.sort))
		}
	}
	if got := ticket.ColumnType("user_id") + "|" + ticket.ColumnType("due_at") + "|" + ticket.ColumnType("created_at") + "|" + ticket.ColumnType("x"); got != "BIGINT NOT NULL|DATETIME(6) NULL|DATETIME(6) NOT NULL|" {
		t.Error(got)
	}
	for says, change := range map[string]func(*schema.Resource){
		"there is no archive":             func(r *schema.Resource) { r.Archive = "" },
		"archived rows may have the same": func(r *schema.Resource) { r.Indexes[0].Unique = true },
		"begins with the owner's columns": func(r *schema.Resource) { r.Indexes[0].Columns = []string{"user_id", "status", "tenant_id"} },
		"an index has no columns":         func(r *schema.Resource) { r.Indexes[0].Columns = nil },
	} {
		p := tickets()
		change(&p.Resources[0])
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// TestVerifyListIndex: a list's index is one that servers read in its order, in both tables; the statement of
// the difference makes it.
func TestVerifyListIndex(t *testing.T) {
	const long, due = "user_id_tenant_id_status_due_at_id", "tenant_id_user_id_due_at"
	db := open(t, tickets())
	for _, c := range []struct {
		name, broken, table, index string
	}{
		{"it is missing in the archive", "ALTER TABLE ticket_archive DROP INDEX " + long, "ticket_archive", long},
		{"it reads what deletions hide", "ALTER TABLE ticket_archive DROP INDEX " + long + ", ADD INDEX other (user_id, tenant_id, status, due_at, id)", "ticket_archive", long},
		{"it is switched in order", "ALTER TABLE ticket DROP INDEX " + long + ", ADD INDEX other_1 (user_id, tenant_id, due_at, status, id)", "ticket", long},
		{"it descends in part", "ALTER TABLE ticket DROP INDEX " + long + ", ADD INDEX other_2 (user_id, tenant_id, status, due_at DESC, id)", "ticket", long},
		{"it descends in part, the key does not", "ALTER TABLE ticket DROP INDEX " + due + ", ADD INDEX other_3 (tenant_id, user_id, due_at DESC)", "ticket", due},
		{"it has another column before the id", "ALTER TABLE ticket DROP INDEX " + due + ", ADD INDEX other_4 (tenant_id, user_id, due_at, version)", "ticket", due},
		{"", "ALTER TABLE ticket DROP INDEX " + long + ", ADD INDEX other_5 (user_id, tenant_id, status, due_at DESC, id DESC)", "", ""},
		{"", "ALTER TABLE ticket DROP INDEX " + due + ", ADD INDEX other_6 (tenant_id, user_id, due_at, id, version)", "", ""},
	} {
		dbtest.Exec(t, db, c.broken)
		found := differences(t, db, tickets())
		if c.name == "" {
			if found != nil {
				t.Errorf("%s: %v", c.broken, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Table != c.table || found[0].Index != c.index || found[0].SQL == "" {
			t.Fatalf("%s: %v", c.name, found)
		}
		dbtest.Exec(t, db, found[0].SQL)
		if found := differences(t, db, tickets()); found != nil {
			t.Fatalf("%s: then %v", c.name, found)
		}
	}
	dbtest.Exec(t, db, "ALTER TABLE ticket_archive MODIFY status VARCHAR(20) COLLATE utf8mb4_bin NOT NULL")
	found := differences(t, db, tickets())
	if len(found) != 1 || found[0].Column != "status" || !strings.Contains(found[0].Problem, "no one order") || found[0].SQL == "" {
		t.Fatalf("another collation: %v", found)
	}
	dbtest.Exec(t, db, found[0].SQL)
	if found := differences(t, db, tickets()); found != nil {
		t.Errorf("then %v", found)
	}
}
