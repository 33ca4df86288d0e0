package repo

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
)

// ErrInvalidFilter means: a value of Where, From or To is none that the column can have.
var ErrInvalidFilter = errors.New("repo: not a value of the column")

// NoIndexError is the detail of [ErrUnsupported] where no index that the plan declares serves a list.
type NoIndexError struct {
	// Resource is whose rows were to be listed.
	Resource string
	// Index is one that serves the list: to add to the resource's indexes, or, where there is one that is not
	// Archived, to declare so.
	Index schema.Index
}

// Error has the index as it stands in a plan file.
func (e *NoIndexError) Error() string {
	archived, rows := "", "rows"
	if e.Index.Archived {
		archived, rows = ", archived: true", "archived rows"
	}
	return fmt.Sprintf("%v: no index in the plan serves this list of the %s of %q; add indexes: [{columns: [%s]%s}]",
		ErrUnsupported, rows, e.Resource, strings.Join(e.Index.Columns, ", "), archived)
}

// Is makes errors.Is(err, ErrUnsupported) true.
func (e *NoIndexError) Is(target error) bool { return target == ErrUnsupported }

// listing is a list: which rows, in which order, by which indexes.
type listing struct {
	owner    []any
	state    schema.State
	parts    []part // active, archived or both
	where    []filter
	sort     listColumn
	byID     bool // sort is the id
	desc     bool
	from, to any
}

// part is the part of a list that one table has.
type part struct {
	side
	index string
}

// filter is a column's value, nil for NULL.
type filter struct {
	listColumn
	value any
}

// plain says whether it is a list of one state by the id alone.
func (l *listing) plain() bool {
	return l.byID && !l.desc && len(l.where) == 0 && len(l.parts) == 1 && l.from == nil && l.to == nil
}

// listing resolves what is wanted, or says why there is no such list.
func (r *tables) listing(owner any, o PageOptions) (*listing, error) {
	sides, err := r.sides(o.State)
	if err != nil {
		return nil, err
	}
	l := &listing{state: sides[0].state, desc: o.Sort.Descending}
	if len(sides) > 1 {
		l.state = AnyState
	}
	if l.owner, err = r.ownerKey(owner); err == nil {
		err = r.forOwner(l.owner)
	}
	if err == nil {
		err = r.filters(l, o.Where)
	}
	if err == nil {
		err = r.order(l, o)
	}
	if err != nil {
		return nil, err
	}
	equal := slices.Sorted(maps.Keys(o.Where))
	for _, s := range sides {
		index, ok := r.res.ListIndex(s.state, equal, l.sort.name)
		if !ok {
			return nil, &NoIndexError{Resource: r.res.Name, Index: r.res.IndexFor(s.state, equal, l.sort.name)}
		}
		l.parts = append(l.parts, part{s, index})
	}
	return l, nil
}

// sides are the tables that have the rows of a state.
func (r *tables) sides(state schema.State) ([]side, error) {
	switch {
	case len(r.fields.owners) == 0:
		return nil, fmt.Errorf("%w: %q has no owner to list by", ErrUnsupported, r.res.Name)
	case state == schema.Archived && r.res.Archive == "":
		return nil, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	case state == schema.Archived:
		return []side{r.archive}, nil
	case state == AnyState && r.res.Archive != "":
		return []side{r.active, r.archive}, nil
	case state == schema.Active || state == "" || state == AnyState:
		return []side{r.active}, nil
	}
	return nil, fmt.Errorf("%w: the state %q is none of %q, %q and %q", ErrUnsupported, state, schema.Active, schema.Archived, AnyState)
}

func (r *tables) filters(l *listing, where Where) error {
	for _, name := range slices.Sorted(maps.Keys(where)) {
		switch {
		case name == r.res.ID:
			return fmt.Errorf("%w: one row of %q is found by its id with Get", ErrUnsupported, r.res.Name)
		case slices.Contains(r.res.Owners(), name):
			return fmt.Errorf("%w: a list of %q is one owner's already", ErrUnsupported, r.res.Name)
		}
		column, err := r.listColumn(name)
		if err != nil {
			return err
		}
		value, err := column.value(where[name])
		if err != nil {
			return err
		}
		l.where = append(l.where, filter{column, value})
	}
	return nil
}

// order: rows that have one value of the column are in the order of their ids.
func (r *tables) order(l *listing, o PageOptions) (err error) {
	name, bounded := o.Sort.Column, o.Sort.From != nil || o.Sort.To != nil
	_, fixed := o.Where[name]
	switch {
	case slices.Contains(r.res.Owners(), name) || fixed && bounded:
		return fmt.Errorf("%w: all rows of this list of %q have the same %s", ErrUnsupported, r.res.Name, name)
	case name == "" || fixed:
		name = r.res.ID
	}
	l.byID = name == r.res.ID
	if l.sort, err = r.listColumn(name); err != nil {
		return err
	}
	if !l.sort.ordered() {
		return fmt.Errorf("%w: %q of %q is %s, whose values have no order that a page can continue in", ErrUnsupported, name, r.res.Name, l.sort.declared)
	}
	if l.from, err = l.sort.value(o.Sort.From); err == nil {
		l.to, err = l.sort.value(o.Sort.To)
	}
	return err
}
