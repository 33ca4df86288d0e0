package schema

import (
	"slices"

	"github.com/onerow/onerow/schema/internal/colset"
)

// Indexes returns the names of all indexes that [Catalog.Index] may choose from.
func (c *Catalog) Indexes(table string, columns []string) (names []string) {
	t := c.found.table(table)
	if t == nil {
		return nil
	}
	want := colset.Lower(columns)
	for _, x := range t.indexes {
		if x.leads(want, nil) >= 0 {
			names = append(names, x.name)
		}
	}
	return names
}

// Unique says whether an index lets no two rows have the same values in these columns.
func (c *Catalog) Unique(table string, columns []string) bool {
	t := c.found.table(table)
	return t != nil && t.unique(colset.Lower(columns))
}

func (t *foundTable) unique(columns []string) bool {
	return slices.ContainsFunc(t.indexes, func(x foundIndex) bool { return x.unique && colset.ContainsAll(columns, x.columns) })
}

// ForeignKey says whether a foreign key on these columns of a table, in any order, refers to the table to.
func (c *Catalog) ForeignKey(table string, columns []string, to string) bool {
	return slices.ContainsFunc(c.found.foreign, func(f foreignKey) bool {
		return f.schema == c.found.name && f.toSchema == c.found.name && c.found.key(f.table) == c.found.key(table) &&
			c.found.key(f.to) == c.found.key(to) && colset.Same(colset.Lower(f.columns), colset.Lower(columns))
	})
}
