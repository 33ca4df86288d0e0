// Package target finds the row that somebody has named, on the command line or on the page, and queues its
// deletion: root.go reads the name and the key, find.go looks where the row is, queue.go queues it.
//
// Open this package when a person names a row in another way.
package target

import (
	"context"
	"fmt"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/cascade/internal/output"
	"github.com/onerow/onerow/cascade/internal/usage"
	"github.com/onerow/onerow/cascade/queue"
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
)

// Row is the row that somebody has named.
type Row struct {
	Node schema.Node
	Key  string // encoded, see onerow.EncodeKey
	in   Finder
}

// String is "project 42".
func (r Row) String() string {
	return output.RowName(queue.Job{Resource: r.Node.Name, ResourceID: r.Key})
}

// Node checks the name of a resource or table.
func Node(plan schema.Plan, name string) (schema.Node, error) {
	node, err := plan.Node(name)
	if err != nil {
		return node, usage.Errorf("the plan has no resource %q; it has %s", name, strings.Join(plan.Names(), ", "))
	}
	if node.Stays {
		return node, usage.Errorf("the plan says that rows of %q stay, so none of them can be deleted", name)
	}
	return node, nil
}

// Stored makes a row whose encoded key is known.
func Stored(ctx context.Context, db onerow.DB, plan schema.Plan, node schema.Node, key string) (row Row, err error) {
	row = Row{Node: node, Key: key}
	row.in, err = NewFinder(ctx, db, plan, node)
	return row, err
}

// Typed reads the name of a resource or table and a key that somebody has typed: as the table's columns say,
// not as the plan does. A key in its encoded form, as jobs show it in JSON, counts as that.
func Typed(ctx context.Context, db onerow.DB, plan schema.Plan, resource, typed string) (Row, error) {
	node, err := Node(plan, resource)
	if err != nil {
		return Row{}, err
	}
	r, err := Stored(ctx, db, plan, node, "")
	if err != nil {
		return r, err
	}
	key, err := r.in.Key.Typed(typed)
	if err == nil {
		r.Key, err = r.in.Key.Encode(key)
	}
	if err != nil {
		quoted := fmt.Sprintf("%q", typed)
		why := output.Detail(err, rowkey.ErrInvalidKey).Error()
		if once := strings.TrimPrefix(why, quoted+": "); strings.HasPrefix(once, quoted) {
			why = once
		}
		return r, usage.Mark(output.Said(fmt.Sprintf("no key of %s: %s", node.Name, why), err))
	}
	return r, nil
}

// Place looks where the row is, see [Finder.Find].
func (r Row) Place(ctx context.Context, db onerow.DB) (queue.Deletion, error) {
	page := []queue.Deletion{{Resource: r.Node.Name, ResourceID: r.Key}}
	if err := r.in.Find(ctx, db, page); err != nil {
		return page[0], fmt.Errorf("look for %s: %w", r, err)
	}
	return page[0], nil
}
