package command

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow/cascade/command/internal/tables"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/live"
	"github.com/onerow/onerow/schema/planfile"
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
	got, err := planfile.Parse("plan.yaml", []byte(testPlan))
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
	again, err := planfile.Parse("generated", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(want, again); diff != "" {
		t.Error(diff)
	}
}

// FuzzPlan: no input makes the parser panic, and what it accepts can be quoted: no
// identifier ends its quotes, no type ends its statement.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(testPlan))
	for _, text := range []string{"resources: [{name: a`b}]", "resources: [{name: \"a\\nb\", active: t}]", "resources:\n- {name: a, owner: 'x`; DROP'}\n",
		"resources: [{name: a, columns: [{name: b, type: \"INT) ENGINE=x\"}]}]", "a: &a [*a]", "%YAML 1.2\n---\n", "? {a: b}\n: c", "!!binary x", "<<: {}",
		"resources:\n- &r {name: a}\n- {<<: *r, name: b, active: c}\n",
		"tables: [{name: a, key: [id, no], archive: b, asset: c, triggers: [x], parents: [{table: a, columns: [p, q], references: [id, no], when: {k: v}, on_delete: detach}]}]",
		"tables: [{name: a, key: [id], stays: true, parents: [{table: b, columns: [x], on_delete: detach}]}, {name: b, key: [id]}]"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		plan, err := planfile.Parse("plan.yaml", text)
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
		for _, p := range live.Privileges(plan) {
			if strings.Count(p.Grant("d", "u"), "`")%2 != 0 {
				t.Fatalf("quotes are open in %s", p.Grant("d", "u"))
			}
		}
		existing := schema.Plan{Tables: slices.Clone(plan.Tables)}
		for i := range existing.Tables { // what discover prints has neither
			existing.Tables[i].Archive, existing.Tables[i].Asset, existing.Tables[i].Triggers = "", "", nil
		}
		if existing.Check() == nil && !slices.ContainsFunc(existing.Nodes(), conditional) {
			again, err := planfile.Parse("printed", []byte(tables.PlanText(existing, []string{"a\nb"}, []live.Note{{Table: existing.Tables[0].Name, Text: "x\n- name: y"}}, nil)))
			if err != nil || cmp.Diff(existing.Nodes(), again.Nodes()) != "" {
				t.Fatalf("printed and read again: %v, %s", err, cmp.Diff(existing.Nodes(), again.Nodes()))
			}
		}
		if strings.ContainsAny(output.OneLine(strings.Join(plan.DDL(), ";")), "\x1b\x00") {
			t.Fatal("control characters in the DDL")
		}
	})
}

func conditional(n schema.Node) bool {
	return slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { return len(e.When) > 0 })
}
