package planfile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/planfile"
)

// TestPlanOfTables: each field of a table and of an edge has its spelling.
func TestPlanOfTables(t *testing.T) {
	const text = `
tenant: {name: tenant_id, type: BINARY(16)}
cluster: true
resources:
  - {name: tenant, id_type: BINARY(16), tenant: {name: "-"}, guard: below}
  - name: ticket
    id_type: CHAR(36)
    archive: ticket_archive
    edit_archived: true
    indexes: [{columns: [tenant_id, user_id, version], archived: true}]
    owner: user_id
    owner_type: VARCHAR(20)
    parent: {resource: tenant, column: tenant_id, type: BINARY(16), archived: true}
  - name: folder
    columns: [{name: in_id, type: BIGINT NULL}]
    parents: [{table: folder, columns: [in_id]}]
tables:
  - name: team
    key: [id]
    stays: false
  - name: member
    key: [team_id, no]
    archive: old_member
    asset: photo
    triggers: [del_member]
    parents:
      - {table: team, columns: [team_id]}
      - {table: member, columns: [boss], references: [badge], on_delete: detach}
  - name: note
    key: [id]
    parents:
      - {table: team, columns: [about_id], when: {about: team, lang: "yes"}}
      - {table: folder, columns: [about_id], when: {about: folder}, on_delete: keep}
      - {table: team, columns: [team], on_delete: {set: {team_gone_at: now}}}
      - table: team
        columns: [was]
        on_delete:
          set:
            "its time: gone": now
`
	want := schema.Plan{
		Tenant: schema.Column{Name: "tenant_id", Type: "BINARY(16)"}, Cluster: true,
		Resources: []schema.Resource{{Name: "tenant", IDType: "BINARY(16)", Tenant: schema.NoTenant, Guard: "below"},
			{Name: "ticket", IDType: "CHAR(36)", Archive: "ticket_archive", EditArchived: true, Owner: "user_id", OwnerType: "VARCHAR(20)",
				Indexes: []schema.Index{{Columns: []string{"tenant_id", "user_id", "version"}, Archived: true}},
				Parent:  schema.Parent{Resource: "tenant", Column: "tenant_id", Type: "BINARY(16)", Archived: true}},
			{Name: "folder", Columns: []schema.Column{{Name: "in_id", Type: "BIGINT NULL"}}, Parents: []schema.Edge{{Table: "folder", Columns: []string{"in_id"}}}}},
		Tables: []schema.Table{
			{Name: "team", Key: []string{"id"}},
			{Name: "member", Key: []string{"team_id", "no"}, Archive: "old_member", Asset: "photo", Triggers: []string{"del_member"}, Parents: []schema.Edge{
				{Table: "team", Columns: []string{"team_id"}},
				{Table: "member", Columns: []string{"boss"}, References: []string{"badge"}, OnDelete: schema.OnDeleteDetach}}},
			{Name: "note", Key: []string{"id"}, Parents: []schema.Edge{
				{Table: "team", Columns: []string{"about_id"}, When: map[string]string{"about": "team", "lang": "yes"}},
				{Table: "folder", Columns: []string{"about_id"}, When: map[string]string{"about": "folder"}, OnDelete: schema.OnDeleteKeep},
				{Table: "team", Columns: []string{"team"}, OnDelete: schema.OnDeleteMark("team_gone_at")},
				{Table: "team", Columns: []string{"was"}, OnDelete: schema.OnDeleteMark("its time: gone")}}},
		},
	}
	got, err := planfile.Parse("plan.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again, err := planfile.Format(want)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := planfile.Format(schema.Plan{}); !errors.Is(err, schema.ErrInvalidPlan) {
		t.Errorf("nothing is formatted: %v", err)
	}
	if got, err = planfile.Parse("generated", again); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v\n%s", err, again)
	}
}

func TestPlanMistakes(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"", "p.yaml is empty"},
		{"# nothing\n", "p.yaml is empty"},
		{"resources: []", "declares no resource"},
		{"resources:\n- name: a\n  frob: 1\n", `p.yaml:3:3: unknown field "frob"`},
		{"resources:\n- name: a\n  label: {column: x, kinds: name}\n", `p.yaml:3:22: unknown field "kinds"`},
		{"resource:\n- name: a\n", `p.yaml:1:1: unknown field "resource"`},
		{"resources:\n- name: a\n  name: b\n", "p.yaml:3:3:"},
		{"resources: 7", "p.yaml:1:12: "},
		{"resources:\n- name: [a]\n", "p.yaml:2:9: "},
		{"resources:\n- name: a\n  quota: {flag: x, descending: perhaps}\n", "p.yaml:3:32: "},
		{"resources:\n\t- name: a\n", "p.yaml:2:1: a TAB stands here; YAML is indented by spaces only"},
		{"resources:\n  - name: a\n \towner: b\n", "p.yaml:3:2: a TAB stands here"},
		{"resources:\n  -\tname: a\n", "p.yaml:2:8: a TAB stands here"},
		{"resources: [", "p.yaml:1:"},
		{"resources: [{name: a}]\n---\nresources: []\n", "more than one YAML document"},
		{"resources: [{name: a}]\n---\n}{\n", "p.yaml"},
		{"just text", "p.yaml:1:1: "},
		{"tables: []", "declares no resource and no table"},
		{"tables: [{name: a}]", `table "a": it has no key`},
		{"tables: [{name: a, key: id}]", "p.yaml:1:"},
		{"tables: [{name: a, key: [id], parents: [{table: a, columns: [x], on_delete: {set: {t: never}}}]}]", "on_delete is delete, detach, keep, or {set:"},
		{"tables: [{name: a, key: [id], parents: [{table: a, columns: [x], on_delete: {set: {t: now, u: now}}}]}]", "on_delete is delete, detach, keep, or {set:"},
		{"tables: [{name: a, key: [id], parents: [{table: a, columns: [x], on_delete: {put: {t: now}}}]}]", "on_delete is delete, detach, keep, or {set:"},
		{"tables: [{name: a, key: [id], parents: [{table: a, columns: [x], on_delete: [detach]}]}]", "p.yaml:1:77: a list does not fit here, it should be text"},
		{"tables: [{name: a, key: [id], parents: [{table: a, columns: [x], on_delete: {set: {id: now}}}]}]", `it cannot mark rows in "id"`},
		{"tables: [{name: a, keys: [id]}]", `unknown field "keys"`},
		{"tables: [{name: a, key: [id], parents: [{table: b, column: [x]}]}]", `unknown field "column"`},
		{"tables: [{name: a, key: [id], parents: [{table: b, columns: [x]}]}]", `the edge to "b": the plan has no resource or table of that name`},
		{"tables: [{name: a, key: [id], parents: [{table: a, columns: [x], on_delete: cascade}]}]", `on_delete "cascade" is neither delete, detach, keep nor {set: {column: now}}`},
		{"tables: [{name: a, key: [id], parents: [{table: a, columns: [x], on_delete: [x]}]}]", "p.yaml:1:"},
		{"tables: [{name: a, key: [id], parents: [{table: a, columns: [x], when: [x]}]}]", "p.yaml:1:"},
		{"tables: [{name: 'a`b', key: [id]}]", "not an SQL identifier"},
		{"tables: [{name: a, key: [id], parents: [{table: b, columns: [x]}]}, {name: b, key: [id], parents: [{table: a, columns: [y]}]}]", "a (x) → b (y) → a"},
		{"resources: [{name: a, label: {column: x}}]", `resource "a": a label needs an owner`},
		{"resources: [{name: a`b}]", `contains '` + "`"},
		{"resources: [{name: a, columns: [{name: b, type: 'INT); DROP TABLE user; --'}]}]", "is no type"},
		{"resources: [{name: a, columns: [{name: \"b\\0\", type: INT}]}]", "b"},
		{"resources: [{name: *a}]", "p.yaml"},
	} {
		_, err := planfile.Parse("p.yaml", []byte(c.text))
		if !errors.Is(err, schema.ErrInvalidPlan) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v; should say %q", c.text, err, c.says)
			continue
		}
	}
}

// bomb is a plan of a few lines that would grow to a billion entries.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i, i, i, i, i, i, i, i)
	}
	return b.String() + "resources: *a9\n"
}

func TestPlanBomb(t *testing.T) {
	if _, err := planfile.Parse("bomb.yaml", []byte(bomb())); err == nil {
		t.Error("accepted")
	}
}

// TestSize: nobody wrote such a plan by hand.
func TestSize(t *testing.T) {
	if _, err := planfile.Parse("large.yaml", []byte("#"+strings.Repeat("x", 1<<20))); !errors.Is(err, schema.ErrInvalidPlan) || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Error(err)
	}
}
