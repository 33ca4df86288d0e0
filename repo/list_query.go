package repo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

// listing is a list: which rows, in which order, by which indexes.
type listing struct {
	owner    []any
	state    schema.State
	parts    []part // active, archived or both
	where    []filter
	sort     listColumn
	byID     bool // sort is the id
	byName   bool // sort is the name key, which no two rows share
	prefix   []byte
	desc     bool
	from, to any
}

// part is the part of a list that one table has.
type part struct {
	state schema.State
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
func (r *untyped) listing(owner any, o PageOptions) (*listing, error) {
	states, err := r.states(o.State)
	if err != nil {
		return nil, err
	}
	l := &listing{state: states[0], desc: o.Sort.Descending}
	if len(states) > 1 {
		l.state = AnyState
	}
	if l.owner, err = r.namedOwner(owner); err == nil {
		err = r.filters(l, o.Where)
	}
	if err == nil {
		err = r.order(l, o)
	}
	if err != nil {
		return nil, err
	}
	equal := slices.Sorted(maps.Keys(o.Where))
	for _, state := range states {
		index, missing := r.res.ListIndex(state, equal, l.sort.name)
		if index == "" {
			return nil, &NoIndexError{Resource: r.res.Name, Index: missing}
		}
		l.parts = append(l.parts, part{state, index})
	}
	return l, nil
}

// nameListing is the list of the active rows whose name keys begin with a prefix's, in the order of the keys.
// These are UTF-8, so none has the byte 0xff: with it behind, the prefix comes after all that begin with it.
func (r *untyped) nameListing(owner any, prefix string) (*listing, error) {
	l := &listing{state: schema.Active, parts: []part{{schema.Active, "one_name"}}, byName: true, prefix: []byte{}}
	if prefix != "" {
		name, err := r.res.Label.Kind.Parse(prefix)
		if err != nil {
			return nil, err
		}
		l.prefix = []byte(name.Key)
	}
	l.from, l.to = l.prefix, slices.Concat(l.prefix, []byte{0xff})
	var err error
	if l.owner, err = r.namedOwner(owner); err == nil {
		l.sort, err = r.listColumn(r.res.Label.Key)
	}
	return l, err
}

// states are active, archived or both, as the caller wants.
func (r *untyped) states(state schema.State) ([]schema.State, error) {
	archives := r.res.Archive != ""
	switch {
	case len(r.fields.owners) == 0:
		return nil, fmt.Errorf("%w: %q has no owner to list by", ErrUnsupported, r.res.Name)
	case state == schema.Archived && !archives:
		return nil, fmt.Errorf("%w: %q has no archive", ErrUnsupported, r.res.Name)
	case state == AnyState && archives:
		return []schema.State{schema.Active, schema.Archived}, nil
	case state == "", state == AnyState:
		state = schema.Active
	case state != schema.Active && state != schema.Archived:
		return nil, fmt.Errorf("%w: the state %q is none of %q, %q and %q", ErrUnsupported, state, schema.Active, schema.Archived, AnyState)
	}
	return []schema.State{state}, nil
}

func (r *untyped) filters(l *listing, where Where) error {
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
func (r *untyped) order(l *listing, o PageOptions) (err error) {
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
	if l.sort.kind == enumColumn { // compared by its text, and ordered by its number
		return fmt.Errorf("%w: %q of %q is %s, whose values have no order that a page can continue in", ErrUnsupported, name, r.res.Name, l.sort.declared)
	}
	if l.from, err = l.sort.value(o.Sort.From); err == nil {
		l.to, err = l.sort.value(o.Sort.To)
	}
	return err
}

// position is where a page begins: behind a row with this value and this id.
type position struct {
	begin bool // at the beginning
	value any  // nil for NULL
	id    any
}

// clause collects a condition and its parameters.
type clause struct {
	terms []string
	args  []any
}

func (c *clause) and(term string, args ...any) {
	c.terms, c.args = append(c.terms, term), append(c.args, args...)
}

// pageSQL is the statement for a page.
//
// By the index that the plan declares, whose name is the DDL's mostly. MySQL would rather sort all rows of
// the owner than follow it, or walk over the rows of others by the primary key; a hint that names an index
// which is not there is ignored. MariaDB needs FORCE INDEX, which is an error then, see run: before 11 it
// takes the owner's entries one by one from the end where the order descends. A comparison of rows, (a, id)
// > (?, ?), scans on either; OR is read as two ranges of one index. Both halves of a UNION are of one
// snapshot. No locks.
func (r *untyped) pageSQL(l *listing, after position, limit int, force bool) (string, []any) {
	var halves []string
	var args []any
	value := "''" // what a cursor has of a row beside its id
	if !l.byID {
		value = l.sort.text()
	}
	for _, p := range l.parts {
		columns := r.fields.selectList() + ", version, '" + string(p.state) + "', " + value
		if len(l.parts) > 1 {
			columns += fmt.Sprintf(", %s AS onerow_sort, %s AS onerow_id", ident.Quote(l.sort.name), ident.Quote(r.res.ID))
		}
		half, more := r.partSQL(l, p, after, columns, limit, force)
		halves, args = append(halves, half), append(args, more...)
	}
	if len(halves) == 1 {
		return halves[0], args
	}
	order := "onerow_sort, onerow_id"
	if l.desc {
		order = "onerow_sort DESC, onerow_id DESC"
	}
	return "(" + strings.Join(halves, ") UNION ALL (") + ") ORDER BY " + order + " LIMIT ?", append(args, limit)
}

// partSQL reads one table, in the order of the list from a position on.
func (r *untyped) partSQL(l *listing, p part, after position, columns string, limit int, force bool) (string, []any) {
	where := clause{args: slices.Clone(l.owner)}
	where.terms = append(where.terms, conditions(r.res.Owners()))
	for _, f := range l.where {
		if f.value == nil {
			where.and(ident.Quote(f.name) + " IS NULL")
			continue
		}
		value, args := f.operand(f.value)
		where.and(ident.Quote(f.name)+" = "+value, args...)
	}
	if p.state == schema.Archived {
		where.and("deletion_id IS NULL")
	}
	for i, bound := range []any{l.from, l.to} {
		if bound != nil {
			value, args := l.sort.operand(bound)
			where.and(ident.Quote(l.sort.name)+[]string{" >= ", " < "}[i]+value, args...)
		}
	}
	if !after.begin {
		r.behind(l, after, &where)
	}
	table, forced := r.res.Active, ""
	if p.state == schema.Archived {
		table = r.res.Archive
	}
	if force {
		forced = " /*M! FORCE INDEX (" + ident.Quote(p.index) + ") */"
	}
	return fmt.Sprintf("SELECT /*+ INDEX(%s %s) */ %s FROM %[1]s IGNORE INDEX (PRIMARY)%[4]s WHERE %[5]s ORDER BY %[6]s LIMIT ?",
		ident.Quote(table), ident.Quote(p.index), columns, forced, strings.Join(where.terms, " AND "), r.orderBy(l, after)), append(where.args, limit)
}

// behind leaves out what is not behind a position. NULL comes first.
func (r *untyped) behind(l *listing, after position, where *clause) {
	id, sort, beyond := ident.Quote(r.res.ID), ident.Quote(l.sort.name), " > "
	if l.desc {
		beyond = " < "
	}
	value, args := l.sort.exact(after.value)
	args = slices.Concat(args, args, []any{after.id})
	switch {
	case l.byID:
		where.and(id+beyond+"?", after.id)
	case l.byName:
		where.and(sort+" > ?", after.value)
	case after.value == nil && l.desc:
		where.and(sort+" IS NULL AND "+id+" < ?", after.id)
	case after.value == nil:
		where.and("("+sort+" IS NOT NULL OR "+sort+" IS NULL AND "+id+" > ?)", after.id)
	case l.desc && l.sort.null && l.from == nil && l.to == nil:
		where.and("("+sort+" < "+value+" OR "+sort+" IS NULL OR "+sort+" = "+value+" AND "+id+" < ?)", args...)
	default:
		where.and("("+sort+beyond+value+" OR "+sort+" = "+value+" AND "+id+beyond+"?)", args...)
	}
}

// orderBy: behind the last NULL of a descending list there are only NULLs, of which MariaDB before 11 would
// sort all.
func (r *untyped) orderBy(l *listing, after position) string {
	direction := ""
	if l.desc {
		direction = " DESC"
	}
	id, sort := ident.Quote(r.res.ID)+direction, ident.Quote(l.sort.name)+direction
	switch {
	case l.byName:
		return sort
	case l.byID, !after.begin && after.value == nil && l.desc:
		return id
	}
	return sort + ", " + id
}
