package inspect

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/schema"
)

var (
	// ErrNoIndex means that rows cannot be found at bounded cost, because a table has no
	// index that begins with the columns of an edge. The text names both.
	ErrNoIndex = errors.New("cascade: an index is missing")
	// ErrInvalidCursor means: a text is not a position that [Orphans] has given, or not one of this plan.
	ErrInvalidCursor = errors.New("cascade: not a position of this search for orphans")
	// ErrNoAssets means that no table of a plan names assets.
	ErrNoAssets = errors.New("cascade: the plan names no assets")
)

// errEnough ends a search at its limit.
var errEnough = errors.New("enough")

// readGraph reads the tables of a plan, after its check.
func readGraph(ctx context.Context, db onerow.DB, plan schema.Plan) (*graph.Graph, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	return graph.Read(ctx, db, plan)
}

func noIndex(s *graph.Source) error {
	return fmt.Errorf("%w: %q needs one that begins with (%s), or every row of it would be read; create it",
		ErrNoIndex, s.Name, strings.Join(s.Columns.Names(), ", "))
}
