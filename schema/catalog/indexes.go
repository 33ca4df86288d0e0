package catalog

import (
	"slices"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
)

// PrimaryKey returns the columns of a table's primary key, in its order and in lower
// case; none where the table has none.
func (c *Catalog) PrimaryKey(table string) []string { return c.found.TableOrEmpty(table).Primary() }

// Indexes returns the names of the B-tree indexes of a table by which rows are found that hold the edge: each
// begins with the edge's columns, in any order, among which may be columns of its condition. Those with the
// most columns of the condition come first. None is INVISIBLE or IGNORED, which no statement may name.
func (c *Catalog) Indexes(table string, e schema.Edge) (names []string) {
	want, when := colset.Lower(e.Columns), dict.Conditions(e)
	for n := len(when); n >= 0; n-- {
		for _, x := range c.found.TableOrEmpty(table).Indexes {
			if x.Leads(want, when) == n {
				names = append(names, x.Name)
			}
		}
	}
	return names
}

// Unique says whether an index lets no two rows have the same values in these columns.
func (c *Catalog) Unique(table string, columns []string) bool {
	return c.found.TableOrEmpty(table).Unique(colset.Lower(columns))
}

// ForeignKey says whether a foreign key on these columns of a table, in any order, refers to the table to.
func (c *Catalog) ForeignKey(table string, columns []string, to string) bool {
	return slices.ContainsFunc(c.found.Foreign, func(f dict.ForeignKey) bool {
		return f.Schema == c.found.Name && f.ToSchema == c.found.Name && c.found.Key(f.Table) == c.found.Key(table) &&
			c.found.Key(f.To) == c.found.Key(to) && colset.Same(colset.Lower(f.Columns), colset.Lower(columns))
	})
}

// RetentionIndex returns an index of the table that begins with a column of times, and its columns with those
// of the primary key, in which InnoDB orders its entries. false: there is none.
func (c *Catalog) RetentionIndex(table, column string) (name string, columns []string, ok bool) {
	t := c.found.TableOrEmpty(table)
	for _, x := range t.Indexes {
		if !t.ReadsByAge(x, column) {
			continue
		}
		columns = slices.Clone(x.Columns)
		for _, key := range t.Primary() {
			if !slices.Contains(columns, key) {
				columns = append(columns, key)
			}
		}
		return x.Name, columns, true
	}
	return "", nil, false
}
