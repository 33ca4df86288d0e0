package live

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/onerow/onerow/internal/devdb/dbtest"
	"github.com/onerow/onerow/migrations"
	"github.com/onerow/onerow/pool"
	"github.com/onerow/onerow/schema"
)

// familyPlan is a plan of three levels, with archives above.
func familyPlan() schema.Plan {
	return schema.Plan{Resources: []schema.Resource{
		{Name: "project", Archive: "project_archive", Owner: "user_id"},
		{Name: "screen", Archive: "screen_archive", Owner: "user_id", Parent: schema.Parent{Resource: "project", Column: "project_id"}},
		{Name: "comment", Parent: schema.Parent{Resource: "screen", Column: "screen_id"}},
	}}
}

// TestClusterGuards: in a plan for a cluster each parent has a guard in both of its tables, and nobody else.
// Where one is missing Verify names it with the statement that adds it; a plan for one server lets it be.
func TestClusterGuards(t *testing.T) {
	one, many := familyPlan(), familyPlan()
	many.Cluster = true
	if ddl := strings.Join(one.DDL(), "\n"); strings.Contains(ddl, "guard") {
		t.Errorf("one server has guards:\n%s", ddl)
	}
	if ddl := strings.Join(many.DDL(), "\n"); strings.Count(ddl, "`guard` BIGINT UNSIGNED NOT NULL DEFAULT 0") != 4 {
		t.Errorf("not four guards:\n%s", ddl)
	}
	db := dbtest.Open(t)
	if err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	for _, stmt := range one.DDL() {
		dbtest.Exec(t, db, stmt)
	}
	var differs *VerifyError
	if err := Verify(t.Context(), db, many); !errors.As(err, &differs) {
		t.Fatalf("guards are missing: %v", err)
	}
	for i, table := range []string{"project", "project_archive", "screen", "screen_archive"} {
		want := "ALTER TABLE `" + table + "` ADD COLUMN `guard` BIGINT UNSIGNED NOT NULL DEFAULT 0"
		if d := differs.Differences[i]; d.Table != table || d.Column != "guard" || d.SQL != want || !strings.HasPrefix(d.Problem, "it does not exist") {
			t.Errorf("%d: %+v", i, d)
		}
		dbtest.Exec(t, db, differs.Differences[i].SQL)
	}
	if n := len(differs.Differences); n != 4 {
		t.Errorf("%d differences", n)
	}
	for _, p := range []schema.Plan{many, one} {
		if err := Verify(t.Context(), db, p); err != nil {
			t.Errorf("cluster: %t: %v", p.Cluster, err)
		}
	}
	dbtest.Exec(t, db, "ALTER TABLE screen MODIFY guard INT NULL")
	for _, p := range []schema.Plan{many, one} { // too small here, and the application's own there
		if err := Verify(t.Context(), db, p); !errors.As(err, &differs) || differs.Differences[0].Column != "guard" {
			t.Errorf("another column of that name, cluster: %t: %v", p.Cluster, err)
		}
	}
}

// TestNeeds: a plan without guards needs row locks that reach all who write, if it has parents.
func TestNeeds(t *testing.T) {
	many := familyPlan()
	many.Cluster = true
	roots := schema.Plan{Resources: familyPlan().Resources[:1]}
	if one := familyPlan(); !slices.Equal(needs(one), []pool.Need{pool.RowLocks}) || len(needs(many))+len(needs(roots)) > 0 {
		t.Errorf("%v, for a cluster %v, roots alone %v", needs(one), needs(many), needs(roots))
	}
}
