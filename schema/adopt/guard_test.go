package adopt_test

import (
	"slices"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/adopt"
	"github.com/onerow/onerow/schema/live"
)

// TestGuard: tables of one server become those of a cluster by one file for each table of a parent, which
// programs with the old plan need not know.
func TestGuard(t *testing.T) {
	t.Parallel()
	one := schema.Plan{Resources: []schema.Resource{
		{Name: "project", Archive: "project_archive", Owner: "user_id"},
		{Name: "screen", Parent: schema.Parent{Resource: "project", Column: "project_id"}},
	}}
	db := dbtest.Open(t)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range one.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	many := one
	many.Cluster = true
	for resource, want := range map[string][]string{"project": {"add_guard", "add_guard_archive"}, "screen": nil} {
		a, err := adopt.Prepare(t.Context(), db, many, resource)
		if err != nil || len(a.Against) > 0 {
			t.Fatalf("%s: %v, %v", resource, a, err)
		}
		var names []string
		for _, s := range a.Steps {
			names = append(names, s.Name)
			both(t, db, s, shown(t, db))
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: the files are %q, want %q", resource, names, want)
		}
	}
	for _, p := range []schema.Plan{one, many} {
		if err := live.Verify(t.Context(), db, p); err != nil {
			t.Errorf("cluster: %t: %v", p.Cluster, err)
		}
	}
}
