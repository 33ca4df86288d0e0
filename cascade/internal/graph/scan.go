package graph

import (
	"github.com/onerow/onerow/internal/rowkey"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/catalog"
)

// Scan is how an edge's index is read from end to end, whatever the rows refer to. Entries that do not meet
// the edge's condition are passed over where its columns are the index's first ones, and else read, too.
type Scan struct {
	Lead    string       // the condition on the first columns, or empty; " AND " follows
	Columns rowkey.Codec // the next ones: those of the edge and of the rest of its condition, as the index orders
	Rest    string       // the condition on some of these, or empty
}

// newScan is the scan of an index that has these columns, in their order, or nil where not all columns of
// the edge and of its condition come first: a value's rows of another kind could fill page after page. Nor
// of an edge that marks.
func newScan(e schema.Edge, cat *catalog.Catalog, table string, columns []string) (_ *Scan, err error) {
	if e.OnDelete.Mark() != "" {
		return nil, nil
	}
	var s Scan
	var walk []string
	lead, rest := map[string]string{}, map[string]string{}
	for _, column := range columns {
		text, conditional := condition(e, column)
		if !conditional && !contains(e.Columns, column) {
			break
		}
		if conditional && len(walk) == 0 {
			lead[column] = text
			continue
		}
		if conditional {
			rest[column] = text
		}
		walk = append(walk, column)
	}
	if len(lead)+len(walk) < len(e.Columns)+len(e.When) {
		return nil, nil
	}
	if s.Columns, err = rowkey.New(cat, table, walk); err != nil {
		return nil, err
	}
	s.Columns = s.Columns.Ordered()
	if s.Lead, err = rowkey.Where(cat, table, "", lead); err != nil {
		return nil, err
	}
	if s.Lead != "" {
		s.Lead += " AND "
	}
	s.Rest, err = rowkey.Where(cat, table, "", rest)
	return &s, err
}
