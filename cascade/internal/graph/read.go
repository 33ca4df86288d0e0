package graph

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/fault"
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
		tables = append(tables, schema.TrashTable(name))
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
		return nil, &mismatchError{err}
	}
	return made, nil
}

// mismatchError says that the tables are not as the plan has them, so no statement can be
// made. Every job of the plan would meet it.
type mismatchError struct{ err error }

// Error says what does not fit, and what to do.
func (e *mismatchError) Error() string {
	return e.err.Error() + "; the plan does not fit the database: run cascade-worker verify, put one of them right, restart the workers"
}

// Is makes errors.Is(err, fault.ErrMisfit) true.
func (e *mismatchError) Is(target error) bool { return target == fault.ErrMisfit }

// Unwrap is what does not fit.
func (e *mismatchError) Unwrap() error { return e.err }
