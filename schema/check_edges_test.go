package schema_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/schema"
)

// rental is a small shop of somebody else's: staff and stores refer to each other, a category is below a
// category, payments have a key of two columns, a note is below one of several tables.
func rental() schema.Plan {
	return schema.Plan{Tables: []schema.Table{
		{Name: "store", Key: []string{"store_id"}, Parents: []schema.Edge{{Table: "staff", Columns: []string{"manager_id"}, OnDelete: schema.OnDeleteDetach}}},
		{Name: "staff", Key: []string{"staff_id"}, Parents: []schema.Edge{{Table: "store", Columns: []string{"store_id"}}}},
		{Name: "payment", Key: []string{"staff_id", "no"}, Archive: "payment_archive", Parents: []schema.Edge{{Table: "staff", Columns: []string{"staff_id"}}}},
		{Name: "category", Key: []string{"code"}, Parents: []schema.Edge{{Table: "category", Columns: []string{"parent_code"}}}},
		{Name: "note", Key: []string{"id"}, Asset: "file", Parents: []schema.Edge{
			{Table: "store", Columns: []string{"about_id"}, When: map[string]string{"about": "store"}},
			{Table: "staff", Columns: []string{"about_id"}, When: map[string]string{"about": "staff"}},
			{Table: "payment", Columns: []string{"pay_staff", "pay_no"}, References: []string{"staff_id", "no"}, OnDelete: schema.OnDeleteDetach},
		}},
	}}
}

// TestCheckTables: each contradiction of tables and edges has its own line.
func TestCheckTables(t *testing.T) {
	if err := rental().Check(); err != nil {
		t.Fatal(err)
	}
	change := func(do func(p *schema.Plan)) schema.Plan {
		p := rental()
		do(&p)
		return p
	}
	edge := func(table int, do func(e *schema.Edge)) schema.Plan {
		return change(func(p *schema.Plan) { do(&p.Tables[table].Parents[0]) })
	}
	resource := func(do func(r *schema.Resource)) schema.Plan {
		return change(func(p *schema.Plan) {
			r := schema.Resource{Name: "folder", Archive: "folder_archive", Columns: []schema.Column{{Name: "in_id", Type: "BIGINT NULL"}},
				Parents: []schema.Edge{{Table: "folder", Columns: []string{"in_id"}}}}
			do(&r)
			p.Resources = []schema.Resource{r}
		})
	}
	if err := resource(func(*schema.Resource) {}).Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		plan schema.Plan
		says string
	}{
		{"nothing", schema.Plan{}, "it declares no resource and no table"},
		{"no name", change(func(p *schema.Plan) { p.Tables[0].Name = "" }), "it is empty"},
		{"a name that fits in no job", change(func(p *schema.Plan) { p.Tables[3].Name = strings.Repeat("ä", 33) }), "its name has 66 bytes"},
		{"the toolkit's own", change(func(p *schema.Plan) { p.Tables[4].Name = "Onerow_job" }), `the table "Onerow_job" is the toolkit's own`},
		{"the toolkit's own archive", resource(func(r *schema.Resource) { r.Archive = "onerow_job_archive" }), `the table "onerow_job_archive" is the toolkit's own`},
		{"hostile name", change(func(p *schema.Plan) { p.Tables[4].Name = "x` WHERE 1; -- " }), "not an SQL identifier"},
		{"hostile key", change(func(p *schema.Plan) { p.Tables[4].Key = []string{"a`"} }), "not an SQL identifier"},
		{"hostile asset", change(func(p *schema.Plan) { p.Tables[4].Asset = "a\x00" }), "not an SQL identifier"},
		{"hostile archive", change(func(p *schema.Plan) { p.Tables[2].Archive = "a`b" }), "not an SQL identifier"},
		{"hostile column", edge(1, func(e *schema.Edge) { e.Columns = []string{"a`"} }), "not an SQL identifier"},
		{"hostile reference", edge(1, func(e *schema.Edge) { e.References = []string{"a\n"} }), "not an SQL identifier"},
		{"hostile condition", edge(4, func(e *schema.Edge) { e.When = map[string]string{"a`=1 OR `b": "x"} }), "not an SQL identifier"},
		{"value that is no text", edge(4, func(e *schema.Edge) { e.When = map[string]string{"about": "\xff"} }), "is not UTF-8"},
		{"no key", change(func(p *schema.Plan) { p.Tables[0].Key = nil }), "it has no key"},
		{"key column twice", change(func(p *schema.Plan) { p.Tables[2].Key = []string{"no", "NO"} }), `the column "NO" twice`},
		{"declared twice", change(func(p *schema.Plan) { p.Tables[3].Name = "note" }), "it is declared twice"},
		{"named as a resource", resource(func(r *schema.Resource) { r.Name, r.Active, r.Parents = "note", "other", nil }), "it is declared twice"},
		{"table of a resource", resource(func(r *schema.Resource) { r.Archive = "note" }), `table "note": the table "note" belongs to "folder" already`},
		{"archive of itself", change(func(p *schema.Plan) { p.Tables[3].Archive = "category" }), `the table "category" belongs to "category" already`},
		{"unknown table", edge(1, func(e *schema.Edge) { e.Table = "stores" }), `the edge to "stores": the plan has no resource or table of that name`},
		{"no columns", edge(1, func(e *schema.Edge) { e.Columns = nil }), "it has no columns"},
		{"too few columns", edge(4, func(e *schema.Edge) { e.Table = "payment" }), "its 1 columns (about_id) cannot hold the 2 columns (staff_id, no)"},
		{"column twice", edge(4, func(e *schema.Edge) { e.When = map[string]string{"About_ID": "x"} }), "twice"},
		{"reference twice", change(func(p *schema.Plan) { p.Tables[4].Parents[2].References = []string{"no", "no"} }), `it references the column "no" twice`},
		{"edge twice", change(func(p *schema.Plan) { p.Tables[1].Parents = append(p.Tables[1].Parents, p.Tables[1].Parents[0]) }), `the edge to "store" on (store_id) is declared twice`},
		{"no action", edge(1, func(e *schema.Edge) { e.OnDelete = "cascade" }), `on_delete "cascade" is neither delete, detach, keep nor {set: {`},
		{"mark the key", edge(4, func(e *schema.Edge) { e.OnDelete = schema.OnDeleteMark("id") }), `it cannot mark rows in "id", which says which row it is`},
		{"mark the asset", edge(4, func(e *schema.Edge) { e.OnDelete = schema.OnDeleteMark("FILE") }), `it cannot mark rows in "FILE"`},
		{"mark the edge", edge(4, func(e *schema.Edge) { e.OnDelete = schema.OnDeleteMark("pay_no") }), `it cannot mark rows in "pay_no", by which they are below "payment"`},
		{"mark the condition", edge(4, func(e *schema.Edge) { e.OnDelete = schema.OnDeleteMark("About") }), `it cannot mark rows in "About", by which they are below "store"`},
		{"mark in no column", edge(4, func(e *schema.Edge) { e.OnDelete = schema.OnDeleteMark("") }), "is neither delete, detach, keep nor"},
		{"mark what no resource declares", resource(func(r *schema.Resource) { r.Parents[0].OnDelete = schema.OnDeleteMark("gone") }), `it has the column "gone", which is not declared`},
		{"a mark", edge(4, func(e *schema.Edge) { e.OnDelete = schema.OnDeleteMark("gone") }), ""},
		{"detach the key", edge(2, func(e *schema.Edge) { e.OnDelete = schema.OnDeleteDetach }), "it cannot be detached: each of its columns (staff_id)"},
		{"detach what deletes", change(func(p *schema.Plan) {
			p.Tables[4].Parents[1] = schema.Edge{Table: "staff", Columns: []string{"about_id"}, OnDelete: schema.OnDeleteDetach}
		}), "it cannot be detached"},
		{"loop of two", edge(0, func(e *schema.Edge) { e.OnDelete = "" }), "store (manager_id) → staff (store_id) → store"},
		{"delete from a table that stays", change(func(p *schema.Plan) { p.Tables[1].Stays = true }), "it deletes rows of a table whose rows stay"},
		{"below a table that stays", change(func(p *schema.Plan) { p.Tables[0].Stays = true }), `the rows of "store" stay`},
		{"an archive of rows that stay", change(func(p *schema.Plan) { p.Tables[2].Stays = true }), "none are in an archive"},
		{"column that no resource declares", resource(func(r *schema.Resource) { r.Parents[0].Columns = []string{"up"} }), `it has the column "up", which is not declared`},
		{"condition that no resource declares", resource(func(r *schema.Resource) { r.Parents[0].When = map[string]string{"kind": "x"} }), `it has the column "kind"`},
		{"reference that no resource declares", resource(func(r *schema.Resource) { r.Parents[0].References = []string{"uuid"} }), `which "folder" does not declare`},
		{"loop of resource and table", resource(func(r *schema.Resource) {
			r.Parents = append(r.Parents, schema.Edge{Table: "category", Columns: []string{"in_id"}})
		}), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.plan.Check()
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, schema.ErrInvalidPlan) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v\nwant: %s", err, c.says)
			}
		})
	}
}

// TestDetachColumns: what is in the key or deletes the row stays.
func TestDetachColumns(t *testing.T) {
	n := schema.Node{Name: "t", Key: []string{"Tenant", "id"}, Parents: []schema.Edge{
		{Table: "tenant", Columns: []string{"tenant"}, OnDelete: schema.OnDeleteDelete},
		{Table: "order", Columns: []string{"tenant", "order_no"}, OnDelete: schema.OnDeleteDelete},
		{Table: "u", Columns: []string{"TENANT", "order_no", "line", "part"}, OnDelete: schema.OnDeleteDetach},
		{Table: "t", Columns: []string{"tenant", "parent_id"}, OnDelete: schema.OnDeleteDelete},
		{Table: "v", Columns: []string{"parent_id"}, OnDelete: schema.OnDeleteKeep},
	}}
	for i, want := range [][]string{nil, {"order_no"}, {"line", "part"}, {"parent_id"}, nil} {
		if got := n.DetachColumns(n.Parents[i]); !slices.Equal(got, want) {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	note := schema.Node{Name: "note", Key: []string{"id"}, Parents: []schema.Edge{
		{Table: "note", Columns: []string{"about_id"}, When: map[string]string{"about": "note"}, OnDelete: schema.OnDeleteDelete},
		{Table: "page", Columns: []string{"about_id"}, When: map[string]string{"ABOUT": "page"}, OnDelete: schema.OnDeleteDelete},
		{Table: "file", Columns: []string{"about_id"}, When: map[string]string{"about": "fi le"}, OnDelete: schema.OnDeleteDelete},
	}}
	if got := note.DetachColumns(note.Parents[1]); len(got) > 0 { // a collation may take "fi le" for anything
		t.Errorf("%q of a column that another edge may need", got)
	}
	note.Parents = note.Parents[:2]
	if got := note.DetachColumns(note.Parents[0]); !slices.Equal(got, []string{"about_id"}) {
		t.Errorf("%q of a column whose other edge is for rows of another type", got)
	}
}
