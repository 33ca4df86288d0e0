package repo

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema"
)

// rowLock locks a row above, in one of its tables, by the primary key.
type rowLock struct {
	write string // the guard, in a plan for a cluster
	read  string // what the row is below, or 1
}

// rowLockOf: a share lock is enough on one server, where whoever deletes the row locks it first. The nodes of
// a cluster see each other's writes only, and of two that write one row they commit the first.
func rowLockOf(res schema.Resource, table, column, condition string) rowLock {
	from := ident.Quote(table) + " WHERE " + condition
	g := rowLock{read: "SELECT " + column + " FROM " + from}
	if res.Guard == "" {
		g.read += " LOCK IN SHARE MODE"
		return g
	}
	g.read += " FOR UPDATE"
	g.write = fmt.Sprintf("UPDATE %s SET %s = %[2]s + 1 WHERE %[3]s", ident.Quote(table), ident.Quote(res.Guard), condition)
	return g
}

// locksOn are those of the row of a condition in each table of a resource, the active one first. Each reads
// up.
func locksOn(res schema.Resource, up, condition string) []rowLock {
	locks := []rowLock{rowLockOf(res, res.Active, up, condition)}
	if res.Archive != "" {
		locks = append(locks, rowLockOf(res, res.Archive, up, condition+shown))
	}
	return locks
}

// lock locks the row, if it is there, and reads what it is below into up unless that is nil. One statement;
// one more where both are to be done.
func (g rowLock) lock(ctx context.Context, tx *onerow.Tx, args []any, up any) (there bool, err error) {
	if g.write != "" {
		n, err := onerow.Affected(ctx, tx, g.write, args...)
		if err != nil || n == 0 || up == nil {
			return n > 0, err
		}
	}
	if up == nil {
		up = new(any)
	}
	return found(onerow.QueryRow(ctx, tx, g.read, args, up))
}

// lockOne locks a row that is in one of its tables, and reads what it is below into up unless that is nil. A
// row that moves may be passed: it is asked for again. One that is there though no write has met it is
// errMoved: it moves, or the server has ended the write before its first row without a word, as MariaDB does.
// One statement more per table, in a plan for a cluster.
func lockOne(ctx context.Context, tx *onerow.Tx, locks []rowLock, args []any, up any) (there bool, err error) {
	for range maxEmptyReads {
		for _, g := range locks {
			if there, err := g.lock(ctx, tx, args, up); there || err != nil {
				return there, err
			}
		}
		if len(locks) == 1 {
			break
		}
	}
	for _, g := range locks {
		if g.write == "" {
			continue
		}
		there, err := found(onerow.QueryRow(ctx, tx, g.read, args, new(any)))
		if there {
			err = errMoved
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// parentToJoin are those that may have a new row below them: an archived one where the plan says so.
func (r *untyped) parentToJoin() []rowLock {
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
	locks, args := r.ancestors[0].locks, append([]any{parent}, tenant...)
	if !archivedToo {
		locks = r.parentToJoin()
	}
	if there, err := lockOne(ctx, tx, locks, args, nil); there || err != nil {
		return err
	}
	return r.noParent(ctx, tx, args, archivedToo)
}

// noParent says why the row above does not do. One statement, where it may be in the archive.
func (r *untyped) noParent(ctx context.Context, tx *onerow.Tx, args []any, archivedToo bool) error {
	if !archivedToo && r.parent.Archive != "" && !r.res.Parent.Archived {
		there, err := found(onerow.QueryRow(ctx, tx, r.newParent[1].read, args, new(any)))
		if err != nil {
			return err
		}
		if there {
			return fmt.Errorf("%w: %s %s; activate it first, or let the plan say that rows may be made there (parent: archived)",
				ErrParentArchived, r.parent.Name, keytype.Show(args[0]))
		}
	}
	return fmt.Errorf("%w: no %s has the id %s", ErrParentNotFound, r.parent.Name, keytype.Show(args[0]))
}

// sharesTenant says whether a new row and the row above it have the same tenant column.
func (r *untyped) sharesTenant() bool {
	tenant := r.res.Tenant.Name
	return tenant != "" && tenant == r.parent.Tenant.Name && tenant != r.res.Parent.Column
}

// reference is to a further row above ([schema.Resource].Parents), in a resource: to a resource no foreign
// key may lead, so who writes the reference locks the row. Its fields are those of the caller's struct for
// the edge's columns.
type reference struct {
	resource string
	fields   []field
	when     []field
	values   []string // of when
	itself   bool     // the edge is to the id of the row's own resource
	locks    []rowLock
}

// referencesOf are the further rows above that T has the columns of. What the plan keeps when the row above
// goes may refer to nothing.
func referencesOf(plan schema.Plan, res schema.Resource, f fields) (list []reference) {
	for _, e := range res.Parents {
		to, err := plan.Resource(e.Table)
		if err != nil || e.OnDelete == schema.OnDeleteKeep || e.OnDelete.Mark() != "" {
			continue
		}
		references := e.References
		if len(references) == 0 {
			references = []string{to.ID}
		}
		x := reference{resource: to.Name, itself: to.Name == res.Name && slices.Equal(references, []string{to.ID})}
		kinds := slices.Sorted(maps.Keys(e.When))
		var whole, kindKnown bool
		x.fields, whole = f.byColumn(e.Columns)
		if x.when, kindKnown = f.byColumn(kinds); !whole || !kindKnown {
			continue
		}
		for _, column := range kinds {
			x.values = append(x.values, e.When[column])
		}
		x.locks = locksOn(to, "1", conditions(references))
		list = append(list, x)
	}
	return list
}

// of is what a row refers to, sharing no memory with it; nil where that is nothing: a column is NULL, or it
// is another kind of row.
func (x reference) of(f fields, row reflect.Value) ([]any, error) {
	is, err := f.args(row, x.when)
	if err != nil {
		return nil, err
	}
	for i, v := range is {
		if v == nil || string(plainText(v)) != x.values[i] {
			return nil, nil
		}
	}
	args, err := f.copiedArgs(row, x.fields)
	if slices.ContainsFunc(args, isNull) {
		return nil, err
	}
	return args, err
}

// refersTo are the further rows above of a row, in the order of the plan.
func (r *untyped) refersTo(row reflect.Value) (list [][]any, err error) {
	for i := 0; err == nil && i < len(r.references); i++ {
		var args []any
		args, err = r.references[i].of(r.fields, row)
		list = append(list, args)
	}
	return list, err
}

// lockReferences locks the further rows above of a row that is to be written, each as [untyped.lockParent]
// does, in either of its tables; where the row was there before, those that it did not refer to. One
// statement for each, up to two per try where that is not active.
func (r *untyped) lockReferences(ctx context.Context, tx *onerow.Tx, id any, row reflect.Value, was [][]any) error {
	list, err := r.refersTo(row)
	if err != nil {
		return err
	}
	for i, args := range list {
		x := r.references[i]
		switch {
		case args == nil, was != nil && reflect.DeepEqual(was[i], args):
			continue
		case x.itself && id != nil && bytes.Equal(plainText(args[0]), plainText(id)): // a root that refers to itself
			continue
		}
		there, err := lockOne(ctx, tx, x.locks, args, nil)
		if err != nil {
			return err
		}
		if there {
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
