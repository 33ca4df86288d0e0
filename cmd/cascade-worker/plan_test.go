package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow/cmd/cascade-worker/internal/output"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// TestPlanIsTheGoValue: YAML is only another spelling.
func TestPlanIsTheGoValue(t *testing.T) {
	want := schema.Plan{Resources: []schema.Resource{{
		Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}, Quota: schema.Quota{Flag: "is_over_quota"},
	}, {
		Name: "screen", Archive: "screen_archive", Owner: "project_id", Parent: schema.Parent{Resource: "project", Column: "project_id"},
		Label: schema.Label{Column: "filename", Key: "base", Kind: names.KindFilename},
	}, {
		Name: "comment", Parent: schema.Parent{Resource: "screen", Column: "screen_id"},
		Columns: []schema.Column{{Name: "body", Type: "TEXT NOT NULL"}},
	}}}
	got, err := parsePlan("plan.yaml", []byte(testPlan))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	text, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parsePlan("generated", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(want, again); diff != "" {
		t.Error(diff)
	}
}

// TestPlanOfTables: each field of a table and of an edge has its spelling.
func TestPlanOfTables(t *testing.T) {
	const text = `
resources:
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
`
	want := schema.Plan{
		Resources: []schema.Resource{{Name: "folder", Columns: []schema.Column{{Name: "in_id", Type: "BIGINT NULL"}}, Parents: []schema.Edge{{Table: "folder", Columns: []string{"in_id"}}}}},
		Tables: []schema.Table{
			{Name: "team", Key: []string{"id"}},
			{Name: "member", Key: []string{"team_id", "no"}, Archive: "old_member", Asset: "photo", Triggers: []string{"del_member"}, Parents: []schema.Edge{
				{Table: "team", Columns: []string{"team_id"}},
				{Table: "member", Columns: []string{"boss"}, References: []string{"badge"}, OnDelete: schema.OnDeleteDetach}}},
			{Name: "note", Key: []string{"id"}, Parents: []schema.Edge{
				{Table: "team", Columns: []string{"about_id"}, When: map[string]string{"about": "team", "lang": "yes"}},
				{Table: "folder", Columns: []string{"about_id"}, When: map[string]string{"about": "folder"}, OnDelete: schema.OnDeleteKeep}}},
		},
	}
	got, err := parsePlan("plan.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	again, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err = parsePlan("generated", again); err != nil || cmp.Diff(want, got) != "" {
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
		{"resources:\n\t- name: a\n", "p.yaml:2:"},
		{"resources: [", "p.yaml:1:"},
		{"resources: [{name: a}]\n---\nresources: []\n", "more than one YAML document"},
		{"resources: [{name: a}]\n---\n}{\n", "p.yaml"},
		{"just text", "p.yaml:1:1: "},
		{"tables: []", "declares no resource and no table"},
		{"tables: [{name: a}]", `table "a": it has no key`},
		{"tables: [{name: a, key: id}]", "p.yaml:1:"},
		{"tables: [{name: a, keys: [id]}]", `unknown field "keys"`},
		{"tables: [{name: a, key: [id], parents: [{table: b, column: [x]}]}]", `unknown field "column"`},
		{"tables: [{name: a, key: [id], parents: [{table: b, columns: [x]}]}]", `the edge to "b": the plan has no resource or table of that name`},
		{"tables: [{name: a, key: [id], parents: [{table: a, columns: [x], on_delete: cascade}]}]", `on_delete "cascade" is neither delete, detach nor keep`},
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
		_, err := parsePlan("p.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v; should say %q", c.text, err, c.says)
			continue
		}
		if line := output.OneLine(err.Error()); strings.ContainsAny(line, "\n\x00\x1b") {
			t.Errorf("%q: %q", c.text, line)
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
	if _, err := parsePlan("bomb.yaml", []byte(bomb())); err == nil {
		t.Error("accepted")
	}
}

// FuzzPlan: no input makes the parser panic, and what it accepts can be quoted: no
// identifier ends its quotes, no type ends its statement.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(testPlan))
	for _, text := range []string{"resources: [{name: a`b}]", "resources: [{name: \"a\\nb\", active: t}]", "resources:\n- {name: a, owner: 'x`; DROP'}\n",
		"resources: [{name: a, columns: [{name: b, type: \"INT) ENGINE=x\"}]}]", "a: &a [*a]", "%YAML 1.2\n---\n", "? {a: b}\n: c", "!!binary x", "<<: {}",
		"resources:\n- &r {name: a}\n- {<<: *r, name: b, active: c}\n", bomb(),
		"tables: [{name: a, key: [id, no], archive: b, asset: c, triggers: [x], parents: [{table: a, columns: [p, q], references: [id, no], when: {k: v}, on_delete: detach}]}]",
		"tables: [{name: a, key: [id], stays: true, parents: [{table: b, columns: [x], on_delete: detach}]}, {name: b, key: [id]}]"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		plan, err := parsePlan("plan.yaml", text)
		if err != nil {
			if strings.ContainsAny(output.OneLine(err.Error()), "\n\r\x00\x1b") {
				t.Fatalf("the error is no line: %q", err)
			}
			return
		}
		for _, r := range plan.Resources {
			full, err := plan.Resource(r.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range append(full.Tables(), full.Shared()...) {
				if err := ident.Check(name); err != nil {
					t.Fatalf("accepted: %v", err)
				}
			}
			for _, c := range full.Columns {
				if strings.ContainsAny(c.Type, ";`\\\n\x00") {
					t.Fatalf("accepted the type %q", c.Type)
				}
			}
		}
		for _, n := range plan.Nodes() {
			names := slices.Concat(n.Tables, n.Key)
			for _, e := range n.Parents {
				names = slices.Concat(names, e.Columns, e.References, slices.Collect(maps.Keys(e.When)), n.DetachColumns(e))
			}
			for _, name := range names {
				if err := ident.Check(name); err != nil {
					t.Fatalf("accepted: %v", err)
				}
			}
		}
		for _, p := range schema.Privileges(plan) {
			if strings.Count(p.Grant("d", "'u'@'%'"), "`")%2 != 0 {
				t.Fatalf("quotes are open in %s", p)
			}
		}
		tables := schema.Plan{Tables: slices.Clone(plan.Tables)}
		for i := range tables.Tables { // what discover prints has neither
			tables.Tables[i].Archive, tables.Tables[i].Asset, tables.Tables[i].Triggers = "", "", nil
		}
		if tables.Check() == nil && !slices.ContainsFunc(tables.Nodes(), conditional) {
			again, err := parsePlan("printed", []byte(planText(tables, []string{"a\nb"}, []schema.Note{{Table: tables.Tables[0].Name, Text: "x\n- name: y"}})))
			if err != nil || cmp.Diff(tables.Nodes(), again.Nodes()) != "" {
				t.Fatalf("printed and read again: %v, %s", err, cmp.Diff(tables.Nodes(), again.Nodes()))
			}
		}
		if strings.ContainsAny(output.OneLine(statements(plan)), "\x1b\x00") {
			t.Fatal("control characters in the DDL")
		}
	})
}

func conditional(n schema.Node) bool {
	return slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { return len(e.When) > 0 })
}
