package schema

// Indexes returns the names of all indexes that [Catalog.Index] may choose from.
func (c *Catalog) Indexes(table string, columns []string) (names []string) {
	t := c.found.table(table)
	if t == nil {
		return nil
	}
	want := lower(columns)
	for _, x := range t.indexes {
		if x.leads(want, nil) >= 0 {
			names = append(names, x.name)
		}
	}
	return names
}
