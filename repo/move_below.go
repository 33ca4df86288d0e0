package repo

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
)

// ErrChildrenStoreOwner means: tables below store what a move would change, so that their rows would still
// say where it was. errors.As with *[ChildrenError] names them.
var ErrChildrenStoreOwner = errors.New("repo: rows below store the owner")

// ChildrenError is the detail of [ErrChildrenStoreOwner].
type ChildrenError struct {
	// Resource is what was to be moved.
	Resource string
	// Columns are those that would change and that Tables below have as owner or tenant, or refer to.
	Columns, Tables []string
}

// Error names the tables.
func (e *ChildrenError) Error() string {
	return fmt.Sprintf("repo: a %s that changes its %s would leave what is below it behind: %s store that too, or refer to it",
		e.Resource, strings.Join(e.Columns, ", "), strings.Join(e.Tables, ", "))
}

// Is makes errors.Is(err, ErrChildrenStoreOwner) true.
func (e *ChildrenError) Is(target error) bool { return target == ErrChildrenStoreOwner }

// stored is a column of a resource that tables below store, or refer to.
type stored struct {
	column string
	tables []string
}

// storedIn finds, among what the plan says is below the resource over edges that delete, at any level, the
// tables whose owner or tenant has the name of one of its own columns; and those that refer to such a column.
func storedIn(plan schema.Plan, res schema.Resource, columns []string) (list []stored) {
	nodes := plan.Nodes()
	under := map[string]bool{res.Name: true}
	below := func(n schema.Node) bool {
		return slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { return e.OnDelete == schema.OnDeleteDelete && under[e.Table] })
	}
	for more := true; more; { // tables come in any order
		more = false
		for _, n := range nodes {
			if !under[n.Name] && below(n) {
				under[n.Name], more = true, true
			}
		}
	}
	for _, column := range columns {
		same := func(c string) bool { return strings.EqualFold(c, column) }
		s := stored{column: column}
		for _, n := range nodes {
			refers := slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { return e.Table == res.Name && slices.ContainsFunc(e.References, same) })
			parent := slices.ContainsFunc(n.Parents, func(e schema.Edge) bool { // another column, of the same name
				return under[e.Table] && len(e.Columns) == 1 && same(e.Columns[0])
			})
			if refers || below(n) && !parent && slices.ContainsFunc(n.Owners(), same) {
				s.tables = append(s.tables, n.Tables...)
			}
		}
		if s.tables != nil {
			list = append(list, s)
		}
	}
	return list
}

// storedBelow refuses to change columns that tables below store. No statement.
func (r *tables) storedBelow(columns []string) error {
	e := &ChildrenError{Resource: r.res.Name}
	for _, s := range r.stored {
		if !slices.Contains(columns, s.column) {
			continue
		}
		e.Columns = append(e.Columns, s.column)
		for _, table := range s.tables {
			if !slices.Contains(e.Tables, table) {
				e.Tables = append(e.Tables, table)
			}
		}
	}
	if e.Columns == nil {
		return nil
	}
	return e
}
