package schema_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/schematest/livetest"
	"github.com/onerow/onerow/names"
	"github.com/onerow/onerow/schema"
)

// TestCheck: each contradiction has its own line, which names the resource.
func TestCheck(t *testing.T) {
	if err := livetest.Plain().Check(); err != nil {
		t.Fatal(err)
	}
	project := func(change func(*schema.Resource)) schema.Plan {
		plan := livetest.Plain()
		change(&plan.Resources[0])
		return plan
	}
	for _, c := range []struct {
		name string
		plan schema.Plan
		says string
	}{
		{"no resource", schema.Plan{}, "it declares no resource"},
		{"no name", project(func(r *schema.Resource) { r.Name = "" }), "a name has 1 to 64 bytes"},
		{"long name", project(func(r *schema.Resource) { r.Name = strings.Repeat("ä", 33) }), "a name has 1 to 64 bytes"},
		{"backtick", livetest.FullPlan(), `resource "comment": not an SQL identifier`},
		{"long table", project(func(r *schema.Resource) { r.Active = strings.Repeat("x", 65) }), "65 characters, 64 fit"},
		{"table twice", project(func(r *schema.Resource) { r.Archive = "screen" }), `resource "screen": the table "screen" belongs to "project" already`},
		{"archive is the active table", project(func(r *schema.Resource) { r.Archive = "project" }), `the table "project" belongs to "project" already`},
		{"column twice", project(func(r *schema.Resource) { r.Columns = append(r.Columns, r.Columns[0]) }), `the column "position" is declared twice`},
		{"column of the toolkit", project(func(r *schema.Resource) { r.Columns[1].Name = "version" }), `the column "version" is declared twice`},
		{"column in another case", project(func(r *schema.Resource) { r.Columns[1].Name = "NAME" }), `the column "NAME" is declared twice`},
		{"column of the archive", project(func(r *schema.Resource) { r.Columns[1].Name = "deletion_id" }), `the column "deletion_id" is declared twice`},
		{"key is the label", project(func(r *schema.Resource) { r.Label.Key = "name" }), `the column "name" is declared twice`},
		{"label without owner", project(func(r *schema.Resource) { r.Owner, r.Quota = "", schema.Quota{} }), "a label needs an owner"},
		{"label of no kind", project(func(r *schema.Resource) { r.Label.Kind = "nickname" }), `label kind "nickname" is neither`},
		{"quota without owner", project(func(r *schema.Resource) { r.Owner, r.Label = "", schema.Label{} }), "a quota needs an owner"},
		{"quota by no column", project(func(r *schema.Resource) { r.Quota.By = "rank" }), `the quota is ordered by "rank", which is no column`},
		{"asset in no column", project(func(r *schema.Resource) { r.Asset = "file" }), `the asset is named by "file", which is no column`},
		{"index on no column", project(func(r *schema.Resource) { r.Indexes[0].Columns = []string{"x"} }), `an index has the column "x", which is not declared`},
		{"index without columns", project(func(r *schema.Resource) { r.Indexes[0].Columns = nil }), "an index has no columns"},
		{"no type", project(func(r *schema.Resource) { r.Columns[0].Type = "" }), `column "position": "" is no type`},
		{"statement in a type", project(func(r *schema.Resource) { r.Columns[0].Type = "INT); DROP TABLE user; --" }), "is no type"},
		{"comment in a type", project(func(r *schema.Resource) { r.Columns[0].Type = "INT /* */" }), "is no type"},
		{"declared twice", func() schema.Plan {
			plan := livetest.Plain()
			plan.Resources[1].Name, plan.Resources[2].Parent = "project", schema.Parent{}
			return plan
		}(), "it is declared twice"},
		{"half a parent", project(func(r *schema.Resource) { r.Parent.Column = "x" }), "a parent has a resource and a column"},
		{"parent behind", project(func(r *schema.Resource) { r.Parent = schema.Parent{Resource: "screen", Column: "x"} }), `its parent "screen" is not declared before it`},
		{"its own parent", project(func(r *schema.Resource) { r.Parent = schema.Parent{Resource: "project", Column: "x"} }), `its parent "project" is not declared before it`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.plan.Check()
			if !errors.Is(err, schema.ErrInvalidPlan) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v\nwant: %s", err, c.says)
			}
		})
	}
	// All at once: a line for each.
	two := project(func(r *schema.Resource) { r.Quota.By, r.Asset = "rank", "file" })
	if err := two.Check(); err == nil || !strings.Contains(err.Error(), "rank") || !strings.Contains(err.Error(), "file") {
		t.Error(err)
	}
}

func TestResource(t *testing.T) {
	plan := livetest.Plain()
	r, err := plan.Resource("project")
	if err != nil {
		t.Fatal(err)
	}
	if r.Active != "project" || r.ID != "id" || r.Label.Key != "name_key" || r.Label.Kind != names.KindName || !r.Named() ||
		!slices.Equal(r.Tables(), []string{"project", "project_archive"}) {
		t.Errorf("%+v", r)
	}
	managed := []string{"id", "user_id", "name", "name_key", "stem_key", "copy_no", "is_over_quota", "version", "created_at", "updated_at"}
	if !slices.Equal(r.Shared(), append(managed, "position", "note")) {
		t.Errorf("%q", r.Shared())
	}
	if r, err = plan.Resource("comment"); err != nil || r.Quota.By != "nummer №" || r.Named() || len(r.Tables()) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	plan.Tables = append(plan.Tables, schema.Table{Name: "note", Key: []string{"id"}, Archive: "old_note"})
	for name, says := range map[string]string{"note": "one of the plan's tables", "old_note": `a table of "note"`, "project_archive": `a table of "project"`} {
		if _, err := plan.Resource(name); !errors.Is(err, schema.ErrUnknownResource) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; should say %q", name, err, says)
		}
	}
	plan.Tables = nil
	if _, err := plan.Resource("user"); !errors.Is(err, schema.ErrUnknownResource) || !strings.Contains(err.Error(), `["project" "screen" "comment"]`) {
		t.Error(err)
	}
	if plan.Resources[0].Active != "" {
		t.Error("the defaults were written into the plan")
	}
}
