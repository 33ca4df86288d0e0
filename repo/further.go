package repo

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema"
)

// further is a further row above ([schema.Resource].Parents), in a resource: to a resource no foreign key may
// lead, so who writes the reference locks the row. Its fields are those of the caller's struct for the edge's
// columns.
type further struct {
	resource string
	fields   []field
	when     []field
	values   []string // of when
	itself   bool     // the edge is to the id of the row's own resource
	rungs    []rung
}

// furtherOf are the further rows above that T has the columns of. What the plan keeps when the row above goes
// may refer to nothing.
func furtherOf(plan schema.Plan, res schema.Resource, f fields) (list []further) {
	for _, e := range res.Parents {
		to, err := plan.Resource(e.Table)
		if err != nil || e.OnDelete == schema.OnDeleteKeep || e.OnDelete.Mark() != "" {
			continue
		}
		references := e.References
		if len(references) == 0 {
			references = []string{to.ID}
		}
		x := further{resource: to.Name, itself: to.Name == res.Name && slices.Equal(references, []string{to.ID})}
		whole := true
		fieldOf := func(column string) (found field) {
			i := slices.IndexFunc(f.all, func(fl field) bool { return strings.EqualFold(fl.column, column) })
			if whole = whole && i >= 0; whole {
				found = f.all[i]
			}
			return found
		}
		is := make([]string, len(references))
		for i, column := range e.Columns {
			x.fields = append(x.fields, fieldOf(column))
			is[i] = ident.Quote(references[i]) + " = ?"
		}
		for column, value := range e.When {
			x.when, x.values = append(x.when, fieldOf(column)), append(x.values, value)
		}
		if !whole {
			continue
		}
		condition := strings.Join(is, " AND ")
		x.rungs = []rung{rungOf(to, to.Active, "1", condition)}
		if to.Archive != "" {
			x.rungs = append(x.rungs, rungOf(to, to.Archive, "1", condition+shown))
		}
		list = append(list, x)
	}
	return list
}

// of is what a row refers to, sharing no memory with it; nil where that is nothing: a column is NULL, or it
// is another kind of row.
func (x further) of(f fields, row reflect.Value) ([]any, error) {
	is, err := f.args(row, x.when)
	if err != nil {
		return nil, err
	}
	for i, v := range is {
		if v == nil || string(plainText(v)) != x.values[i] {
			return nil, nil
		}
	}
	args, err := f.args(row, x.fields)
	for i, arg := range args {
		raw, isBytes := arg.([]byte)
		if arg == nil || isBytes && raw == nil {
			return nil, err
		}
		if isBytes {
			args[i] = bytes.Clone(raw)
		}
	}
	return args, err
}

// refersTo are the further rows above of a row, in the order of the plan.
func (r *tables) refersTo(row reflect.Value) (list [][]any, err error) {
	for i := 0; err == nil && i < len(r.further); i++ {
		var args []any
		args, err = r.further[i].of(r.fields, row)
		list = append(list, args)
	}
	return list, err
}

// lockFurther locks the further rows above of a row that is to be written, each as [tables.lockParent] does,
// in either of its tables; where the row was there before, those that it did not refer to. One statement for
// each, up to two per try where that is not active.
func (r *tables) lockFurther(ctx context.Context, tx *onerow.Tx, id any, row reflect.Value, was [][]any) error {
	list, err := r.refersTo(row)
	if err != nil {
		return err
	}
	for i, args := range list {
		x := r.further[i]
		switch {
		case args == nil, was != nil && reflect.DeepEqual(was[i], args):
			continue
		case x.itself && id != nil && bytes.Equal(plainText(args[0]), plainText(id)): // a root that refers to itself
			continue
		}
		if found, err := lockOne(ctx, tx, x.rungs, args); found || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		reference := make([]string, len(args))
		for i, arg := range args {
			reference[i] = x.fields[i].column + " " + keytype.Show(arg)
		}
		return fmt.Errorf("%w: there is no %s for %s; make it first, or refer to none", ErrParentNotFound, x.resource, strings.Join(reference, ", "))
	}
	return nil
}
