package repo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
)

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
func (r *tables) pageSQL(l *listing, after position, limit int, force bool) (string, []any) {
	var halves []string
	var args []any
	for _, p := range l.parts {
		columns := r.fields.selectList() + ", version, '" + string(p.state) + "', " + l.text()
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

// countSQL is the statement that counts a list's rows, at most so many of each state.
func (r *tables) countSQL(l *listing, most int, force bool) (string, []any) {
	var numbers []string
	var args []any
	for _, p := range l.parts {
		some, more := r.partSQL(l, p, position{begin: true}, "1", most, force)
		numbers, args = append(numbers, fmt.Sprintf("(SELECT COUNT(*) FROM (%s) AS some)", some)), append(args, more...)
	}
	return "SELECT " + strings.Join(numbers, " + "), args
}

// partSQL reads one table, in the order of the list from a position on.
func (r *tables) partSQL(l *listing, p part, after position, columns string, limit int, force bool) (string, []any) {
	where := clause{args: slices.Clone(l.owner)}
	where.terms = append(where.terms, r.ownerIs())
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
	forced := ""
	if force {
		forced = " /*M! FORCE INDEX (" + ident.Quote(p.index) + ") */"
	}
	return fmt.Sprintf("SELECT /*+ INDEX(%s %s) */ %s FROM %[1]s IGNORE INDEX (PRIMARY)%[4]s WHERE %[5]s ORDER BY %[6]s LIMIT ?",
		p.table, ident.Quote(p.index), columns, forced, strings.Join(where.terms, " AND "), r.orderBy(l, after)), append(where.args, limit)
}

// behind leaves out what is not behind a position. NULL comes first.
func (r *tables) behind(l *listing, after position, where *clause) {
	id, sort, beyond := ident.Quote(r.res.ID), ident.Quote(l.sort.name), " > "
	if l.desc {
		beyond = " < "
	}
	value, args := l.sort.exact(after.value)
	args = slices.Concat(args, args, []any{after.id})
	switch {
	case l.byID:
		where.and(id+beyond+"?", after.id)
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
func (r *tables) orderBy(l *listing, after position) string {
	direction := ""
	if l.desc {
		direction = " DESC"
	}
	order := ident.Quote(r.res.ID) + direction
	if l.byID || !after.begin && after.value == nil && l.desc {
		return order
	}
	return ident.Quote(l.sort.name) + direction + ", " + order
}

// text is the expression for what a cursor has of a row beside its id.
func (l *listing) text() string {
	if l.byID {
		return "''"
	}
	return l.sort.text()
}
