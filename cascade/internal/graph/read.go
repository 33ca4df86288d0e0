package graph

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// Read makes the graph of a plan in the schema of the connection. Ten plain reads of the dictionary.
// Errors: [MismatchError], and those of the database.
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
		return nil, &MismatchError{err}
	}
	return made, nil
}

// MismatchError says that the tables are not as the plan has them, so no statement can be
// made. Every job of the plan would meet it.
type MismatchError struct{ err error }

// Error says what does not fit, and what to do.
func (e *MismatchError) Error() string {
	return e.err.Error() + "; the plan does not fit the database: run cascade-worker verify, put one of them right, restart the workers"
}

// Unwrap is what does not fit.
func (e *MismatchError) Unwrap() error { return e.err }
