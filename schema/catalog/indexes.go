package catalog

import (
	"slices"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
)

// EdgeIndex returns the name of a B-tree index of the table by which rows are found
// that hold the edge: it begins with the edge's columns, in any order, among which
// may be columns of the edge's condition. Of several it is the one with the most
// columns of the condition. It is none that is INVISIBLE or IGNORED.
func (c *Catalog) EdgeIndex(table string, e schema.Edge) (name string, ok bool) {
	want, best := colset.Lower(e.Columns), -1
	for _, x := range c.found.TableOrEmpty(table).Indexes {
		if n := x.Leads(want, dict.Conditions(e)); n > best {
			name, best = x.Name, n
		}
	}
	return name, best >= 0
}

// PrimaryKey returns the columns of a table's primary key, in its order and in lower
// case; none where the table has none.
func (c *Catalog) PrimaryKey(table string) []string { return c.found.TableOrEmpty(table).Primary() }

// Indexes returns the names of the B-tree indexes of the table that begin with the columns, in any order:
// none that is INVISIBLE or IGNORED, which no statement may name.
func (c *Catalog) Indexes(table string, columns []string) (names []string) {
	want := colset.Lower(columns)
	for _, x := range c.found.TableOrEmpty(table).Indexes {
		if x.Leads(want, nil) >= 0 {
			names = append(names, x.Name)
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
