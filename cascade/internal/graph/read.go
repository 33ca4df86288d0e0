package graph

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// Read makes the graph of a plan in the schema of the connection. Ten plain reads of the dictionary.
// Errors: [fault.ErrMisfit], and those of the database.
func Read(ctx context.Context, db onerow.DB, plan schema.Plan) (*Graph, error) {
	var tables []string
	for _, n := range plan.Nodes() {
		tables = append(tables, n.Tables...)
	}
	for _, name := range plan.Kept() {
		tables = append(tables, ident.TrashTable(name))
	}
	cat, err := catalog.Read(ctx, db, tables...)
	if err != nil {
		return nil, err
	}
	indexes, err := readIndexes(ctx, db, tables)
	if err != nil {
		return nil, fmt.Errorf("cascade: read the indexes: %w", err)
	}
	made, err := newGraph(plan, cat, indexes)
	if err != nil {
		return nil, fmt.Errorf("%w; %w: run cascade-worker verify, put one of them right, restart the workers", err, fault.ErrMisfit)
	}
	return made, nil
}
