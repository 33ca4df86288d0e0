package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// TestPlanIsTheGoValue: YAML is only another spelling.
func TestPlanIsTheGoValue(t *testing.T) {
	want := schema.Plan{Resources: []schema.Resource{{
		Name: "project", Archive: "project_archive", Owner: "user_id", Label: schema.Label{Column: "name"}, Quota: schema.Quota{Flag: "is_over_quota"},
	}, {
		Name: "screen", Archive: "screen_archive", Owner: "project_id", Parent: schema.Parent{Resource: "project", Column: "project_id"},
		Label: schema.Label{Column: "filename", Key: "base", Kind: schema.KindFilename},
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
		if line := oneLine(err.Error()); strings.ContainsAny(line, "\n\x00\x1b") {
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
		"resources:\n- &r {name: a}\n- {<<: *r, name: b, active: c}\n", bomb()} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		plan, err := parsePlan("plan.yaml", text)
		if err != nil {
			if strings.ContainsAny(oneLine(err.Error()), "\n\r\x00\x1b") {
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
		if strings.ContainsAny(oneLine(statements(plan)), "\x1b\x00") {
			t.Fatal("control characters in the DDL")
		}
	})
}
