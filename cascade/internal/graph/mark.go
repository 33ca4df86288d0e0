package graph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// marks has the source find rows that are not marked yet, where its edge marks them.
func (s *Source) marks(cat *catalog.Catalog) error {
	mark := s.Edge.Declared.OnDelete.Mark()
	if mark == "" {
		return nil
	}
	info, ok := cat.Column(s.Name, mark)
	if !ok {
		return noColumn(s.Name, mark)
	}
	switch info.Type {
	case "datetime":
		s.Now = "UTC_TIMESTAMP"
	case "timestamp": // is converted by the session's time zone
		s.Now = "CURRENT_TIMESTAMP"
	default:
		return fmt.Errorf("%w: rows of %q cannot be marked in %q: it is no DATETIME and no TIMESTAMP", schema.ErrInvalidPlan, s.Name, mark)
	}
	_, digits, _ := strings.Cut(info.Full, "(") // else a fraction would be rounded up
	digits, _, _ = strings.Cut(digits, ")")
	s.Now += "(" + digits + ")"
	null := ident.Quote(mark) + " IS NULL"
	s.Left = " AND " + null
	s.When, s.WhenC = s.When+null+" AND ", s.WhenC+" AND c."+null
	return nil
}

// Marks returns the columns of the edges that mark rows of the table in a column: while these are unchanged,
// a marked row still refers to the row that was deleted. None: no edge marks it.
func (g *Graph) Marks(t *Table, column string) (same []string) {
	for _, e := range g.Edges {
		if mark := e.Declared.OnDelete.Mark(); e.Child != t.Node || mark == "" || !strings.EqualFold(mark, column) {
			continue
		}
		for _, col := range slices.AppendSeq(slices.Clone(e.Declared.Columns), maps.Keys(e.Declared.When)) {
			if !contains(same, col) {
				same = append(same, col)
			}
		}
	}
	return same
}
