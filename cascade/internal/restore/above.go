package restore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/onerow/onerow/cascade/internal/graph"
	"github.com/onerow/onerow/internal/ident"
)

// aboveSQL finds rows of a step whose row above is missing, and locks the rows above that are there against
// whoever deletes them, by the index of what is referred to. The alias c is that of Source.WhenC.
func (a *attempt) aboveSQL(s *graph.Source) string {
	from, missing := a.table.Trash.From+" AS c FORCE INDEX (PRIMARY)", a.step.In("c")+" AND NOT "+s.WasLost()+" AND "+s.Refers()
	if s.Edge.Self {
		missing += " AND NOT COALESCE(" + s.Columns.Equal("c", s.Edge.Referred(s.Table), "c") + ", 0)" // what it refers to may be NULL
	}
	for i, t := range s.Edge.Parent.Tables {
		alias := "p" + strconv.Itoa(i)
		from += " LEFT JOIN " + t.From + " AS " + alias + " ON " + s.Edge.Referred(t).Equal(alias, s.Columns, "c")
		missing += " AND " + alias + "." + ident.Quote(t.Key.Names()[0]) + " IS NULL"
	}
	return "SELECT " + a.table.Key.Select("c") + " FROM " + from + " WHERE " + missing + " LOCK IN SHARE MODE"
}

// above notes the rows whose row above over an edge is missing now and was not when they were deleted: they
// would be below nothing. Foreign keys say so themselves; an edge that holds ids of other types as text is
// left to [inspect.Orphans].
func (a *attempt) above(ctx context.Context, e *graph.Edge) error {
	s := a.source(e)
	if s == nil || !s.Soft() {
		return nil
	}
	return a.stayAll(ctx, a.aboveSQL(s), fmt.Sprintf("the row of %s to which (%s) refers is not there", e.Parent.Name, strings.Join(e.Declared.Columns, ", ")))
}
