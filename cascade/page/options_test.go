package page

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/onerow/onerow/schema"
)

// TestOptions: what contradicts itself is refused before anything is served.
func TestOptions(t *testing.T) {
	plan := schema.Plan{Resources: []schema.Resource{{Name: "shelf"}}}
	for name, o := range map[string]Options{
		"no database":            {Plan: plan},
		"a prefix of a word":     {DB: new(sql.DB), Plan: plan, Prefix: "jobs"},
		"a prefix with an end":   {DB: new(sql.DB), Plan: plan, Prefix: "/jobs/"},
		"a prefix of elsewhere":  {DB: new(sql.DB), Plan: plan, Prefix: "//evil.example"},
		"a prefix of backslash":  {DB: new(sql.DB), Plan: plan, Prefix: `/\evil.example`},
		"a token without secret": {DB: new(sql.DB), Plan: plan, Tokens: map[string]string{"": "ann"}},
		"a plan that is none":    {DB: new(sql.DB), Plan: schema.Plan{Resources: []schema.Resource{{Name: "shelf"}, {Name: "shelf"}}}},
	} {
		if p, err := New(o); err == nil || !strings.HasPrefix(err.Error(), "page: ") || p != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	p, err := New(Options{DB: new(sql.DB), Plan: plan, Prefix: "/admin/jobs"})
	if err != nil {
		t.Fatal(err)
	}
	if p.name == "" || p.log == nil || p.countBudget != thoroughTime || p.locked() {
		t.Errorf("%+v", p)
	}
}
