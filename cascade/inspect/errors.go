package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/schema"
)

// readGraph reads the tables of a plan, after its check.
func readGraph(ctx context.Context, db onerow.DB, plan schema.Plan) (*graph.Graph, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	return graph.Read(ctx, db, plan)
}

// noIndex refuses a table whose rows cannot be found at bounded cost.
func noIndex(s *graph.Source) error {
	return fmt.Errorf("an index is missing: %q needs one that begins with (%s), or every row of it would be read; create it",
		s.Name, strings.Join(s.Columns.Names(), ", "))
}
