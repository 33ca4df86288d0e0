package schema

import (
	"errors"
	"strings"
	"testing"

	"github.com/onerow/onerow/schema/internal/shape"
)

// familyPlan is a plan of three levels, with archives above.
func familyPlan() Plan {
	return Plan{Resources: []Resource{
		{Name: "project", Archive: "project_archive", Owner: "user_id"},
		{Name: "screen", Archive: "screen_archive", Owner: "user_id", Parent: Parent{Resource: "project", Column: "project_id"}},
		{Name: "comment", Parent: Parent{Resource: "screen", Column: "screen_id"}},
	}}
}

// TestGuardNames: the column may have another name; it is for parents in a plan for a cluster.
func TestGuardNames(t *testing.T) {
	p := familyPlan()
	p.Cluster = true
	p.Resources[0].Guard = "below"
	p.Resources[0].Columns = []Column{{Name: "guard", Type: "INT NULL"}}
	if ddl := strings.Join(p.DDL(), "\n"); strings.Count(ddl, "`below` "+shape.TypeGuard) != 2 || strings.Count(ddl, "`guard` "+shape.TypeGuard) != 2 {
		t.Errorf("%v\n%s", p.Check(), ddl)
	}
	p.Resources[0].Guard = ""
	if err := p.Check(); !errors.Is(err, ErrInvalidPlan) || !strings.Contains(err.Error(), `the column "guard" is declared twice`) {
		t.Errorf("two columns of one name: %v", err)
	}
	p.Resources[0].Columns, p.Resources[2].Guard = nil, "below"
	if err := p.Check(); !errors.Is(err, ErrInvalidPlan) || !strings.Contains(err.Error(), `it has the guard "below"`) {
		t.Errorf("no parent: %v", err)
	}
	p.Resources[2].Guard, p.Resources[0].Guard, p.Cluster = "", "below", false
	if err := p.Check(); !errors.Is(err, ErrInvalidPlan) {
		t.Errorf("no cluster: %v", err)
	}
}
