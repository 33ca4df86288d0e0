package repo

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema"
)

// rung locks a row above, in one of its tables, by the primary key.
type rung struct {
	write string // the guard, in a plan for a cluster
	read  string // what the row is below, or 1
}

// rungOf: a share lock is enough on one server, where whoever deletes the row locks it first. The nodes of a
// cluster see each other's writes only, and of two that write one row they commit the first.
func rungOf(res schema.Resource, table, column, condition string) rung {
	from := ident.Quote(table) + " WHERE " + condition
	g := rung{read: "SELECT " + column + " FROM " + from}
	if res.Guard == "" {
		g.read += " LOCK IN SHARE MODE"
		return g
	}
	g.read += " FOR UPDATE"
	g.write = fmt.Sprintf("UPDATE %s SET %s = %[2]s + 1 WHERE %[3]s", ident.Quote(table), ident.Quote(res.Guard), condition)
	return g
}

// lock locks the row, if it is there, and reads what it is below into up unless that is nil. One statement;
// one more where both are to be done.
func (g rung) lock(ctx context.Context, tx *onerow.Tx, args []any, up any) (found bool, err error) {
	if g.write != "" {
		n, err := onerow.Affected(ctx, tx, g.write, args...)
		if err != nil || n == 0 || up == nil {
			return n > 0, err
		}
	}
	if up == nil {
		up = new(any)
	}
	err = onerow.QueryRow(ctx, tx, g.read, args, up)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// missed is an error where a row is there that no write has met: it moves, or the server has ended the write
// before its first row without a word, as MariaDB does. One statement per table, in a plan for a cluster.
func missed(ctx context.Context, tx *onerow.Tx, rungs []rung, args []any) error {
	for _, g := range rungs {
		if g.write == "" {
			continue
		}
		switch err := onerow.QueryRow(ctx, tx, g.read, args, new(any)); {
		case err == nil:
			return errMoved
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	return nil
}

// lockOne locks a row that is in one of its tables, and reads what it is below into up unless that is nil. A
// row that moves may be passed: it is asked for again.
func lockOne(ctx context.Context, tx *onerow.Tx, rungs []rung, args []any, up any) (found bool, err error) {
	for range emptyReads {
		for _, g := range rungs {
			if found, err := g.lock(ctx, tx, args, up); found || err != nil {
				return found, err
			}
		}
		if len(rungs) == 1 {
			break
		}
	}
	return false, missed(ctx, tx, rungs, args)
}

// newParentRungs lock the row above a new one, active or archived: see parentByID.
func (r *untyped) newParentRungs() []rung {
	if r.parent.Name == "" {
		return nil
	}
	return r.above[0].rungsWhere(r.parentByID())
}

// parentToEnter are those that may have a new row below them: an archived one where the plan says so.
func (r *untyped) parentToEnter() []rung {
	if r.res.Parent.Archived {
		return r.newParent
	}
	return r.newParent[:1]
}

// lockParent locks the row above, so that it cannot be deleted before this transaction ends: with the
// cascade, which locks a parent before it deletes it, this keeps children from slipping in below a
// dying one. A new child needs an active parent, or an archived one where the plan says so; a child that
// moves between its tables accepts both. The tenant of a new child is its parent's too. One statement, up to
// two per try where the parent is not active.
func (r *untyped) lockParent(ctx context.Context, tx *onerow.Tx, parent any, archivedToo bool, tenant ...any) error {
	if r.parent.Name == "" {
		return nil
	}
	rungs, args := r.above[0].rungs, append([]any{parent}, tenant...)
	if !archivedToo {
		rungs = r.parentToEnter()
	}
	if found, err := lockOne(ctx, tx, rungs, args, nil); found || err != nil {
		return err
	}
	return r.noParent(ctx, tx, args, archivedToo)
}

// noParent says why the row above does not do. One statement, where it may be in the archive.
func (r *untyped) noParent(ctx context.Context, tx *onerow.Tx, args []any, archivedToo bool) error {
	if !archivedToo && r.parent.Archive != "" && !r.res.Parent.Archived {
		err := onerow.QueryRow(ctx, tx, r.newParent[1].read, args, new(any))
		if err == nil {
			return fmt.Errorf("%w: %s %s; activate it first, or let the plan say that rows may be made there (parent: archived)",
				ErrParentArchived, r.parent.Name, keytype.Show(args[0]))
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return fmt.Errorf("%w: no %s has the id %s", ErrParentNotFound, r.parent.Name, keytype.Show(args[0]))
}

// withTenant says whether a new row and the row above it have the same tenant column.
func (r *untyped) withTenant() bool {
	tenant := r.res.TenantColumn()
	return tenant != "" && tenant == r.parent.TenantColumn() && tenant != r.res.Parent.Column
}

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
		if isNull(arg) {
			return nil, err
		}
		if raw, isBytes := arg.([]byte); isBytes {
			args[i] = bytes.Clone(raw)
		}
	}
	return args, err
}

// refersTo are the further rows above of a row, in the order of the plan.
func (r *untyped) refersTo(row reflect.Value) (list [][]any, err error) {
	for i := 0; err == nil && i < len(r.further); i++ {
		var args []any
		args, err = r.further[i].of(r.fields, row)
		list = append(list, args)
	}
	return list, err
}

// lockFurther locks the further rows above of a row that is to be written, each as [untyped.lockParent] does,
// in either of its tables; where the row was there before, those that it did not refer to. One statement for
// each, up to two per try where that is not active.
func (r *untyped) lockFurther(ctx context.Context, tx *onerow.Tx, id any, row reflect.Value, was [][]any) error {
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
		if found, err := lockOne(ctx, tx, x.rungs, args, nil); found || err != nil {
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
