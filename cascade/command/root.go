package command

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// rootRow is the row that somebody has named on the command line.
type rootRow struct {
	node  schema.Node
	typed string
	key   string // encoded, see onerow.EncodeKey
	in    finder
}

// String is "project 42".
func (r rootRow) String() string {
	return output.RowName(queue.Job{Resource: r.node.Name, ResourceID: r.key})
}

// typedNode checks the name of a resource or table.
func typedNode(plan schema.Plan, name string) (schema.Node, error) {
	node, err := plan.Node(name)
	if err != nil {
		return node, usagef("the plan has no resource %q; it has %s", name, strings.Join(plan.Names(), ", "))
	}
	if node.Stays {
		return node, usagef("the plan says that rows of %q stay, so none of them can be deleted", name)
	}
	return node, nil
}

// typedRoot checks what can be checked without the database.
func typedRoot(plan schema.Plan, resource, typed string) (rootRow, error) {
	node, err := typedNode(plan, resource)
	return rootRow{node: node, typed: typed}, err
}

// encode reads the key as the table's columns say, not as the plan does. A key in its encoded form, as jobs
// show it in JSON, counts as that.
func (r *rootRow) encode(ctx context.Context, db onerow.DB, plan schema.Plan) (err error) {
	if r.in, err = newFinder(ctx, db, plan, r.node); err != nil {
		return err
	}
	key, err := r.in.key.Typed(r.typed)
	if err == nil {
		r.key, err = r.in.key.Encode(key)
	}
	if err != nil {
		typed := fmt.Sprintf("%q", r.typed)
		why := output.Detail(err, rowkey.ErrInvalidKey).Error()
		if once := strings.TrimPrefix(why, typed+": "); strings.HasPrefix(once, typed) {
			why = once
		}
		return usage(output.Said(fmt.Sprintf("no key of %s: %s", r.node.Name, why), err))
	}
	return nil
}

// place looks where the row is, see [finder.find].
func (r rootRow) place(ctx context.Context, db onerow.DB) (queue.Deletion, error) {
	page := []queue.Deletion{{Resource: r.node.Name, ResourceID: r.key}}
	if err := r.in.find(ctx, db, page); err != nil {
		return page[0], fmt.Errorf("look for %s: %w", r, err)
	}
	return page[0], nil
}
