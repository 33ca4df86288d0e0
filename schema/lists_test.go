package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/schema"
)

// TestListIndex: which index serves which list, and that the one which is named where there is none does.
func TestListIndex(t *testing.T) {
	ticket, err := livetest.Tickets().Resource("ticket")
	if err != nil {
		t.Fatal(err)
	}
	const long, due = "user_id_tenant_id_status_due_at_id", "tenant_id_user_id_due_at"
	ddl := strings.Join(livetest.Tickets().DDL(), "\n")
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
		name, missing := ticket.ListIndex(c.state, c.equal, c.sort)
		if name != c.active || (len(missing.Columns) == 0) != (c.active != "") {
			t.Errorf("%+v: %q, %v", c, name, missing)
		}
		if name != "" {
			continue
		}
		more := ticket
		more.Indexes = append(slices.Clone(more.Indexes), missing)
		if name, _ := more.ListIndex(c.state, c.equal, c.sort); name == "" {
			t.Errorf("%+v: the index %+v does not serve it", c, missing)
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
		p := livetest.Tickets()
		change(&p.Resources[0])
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}
