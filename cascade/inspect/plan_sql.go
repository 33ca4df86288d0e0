package inspect

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/cascade/internal/work"
	"github.com/onerow/onerow/schema"
)

// PlanStatement is a statement that workers send for the rows of a table. Its keys are those of two rows that
// are there, or question marks; a worker lists up to 500.
type PlanStatement struct {
	Table  string `json:"table"`
	Parent string `json:"parent"` // the resource or table above, by which the rows are found
	What   string `json:"what"`
	SQL    string `json:"sql"`
}

// PlanSQL lists the statements of a plan, table by table in the order in which a batch sends them, to be
// explained by the server. What is about the root's own row and the toolkit's tables is left out.
//
// Ten statements of the catalog, and up to 3 for each edge and table, which read two rows.
func PlanSQL(ctx context.Context, db onerow.DB, plan schema.Plan) ([]PlanStatement, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	g, err := graph.Read(ctx, db, plan)
	if err != nil {
		return nil, fmt.Errorf("cascade: the statements of the plan: %w", err)
	}
	list, err := work.Statements(ctx, db, g)
	if err != nil {
		return nil, fmt.Errorf("cascade: the statements of the plan: %w", err)
	}
	all := make([]PlanStatement, len(list))
	for i, s := range list {
		all[i] = PlanStatement(s)
	}
	return all, nil
}
