package schema

import "strings"

// Columns returns the columns of a table in their order; none where it is not there.
func (c *Catalog) Columns(table string) (all []ColumnInfo) {
	if t := c.found.table(table); t != nil {
		for i := range t.columns {
			all = append(all, infoOf(&t.columns[i]))
		}
	}
	return all
}

func (f *foundColumn) moves() bool { return strings.Contains(strings.ToLower(f.extra), "on update") }

// TimeType is how a column of times is read, "date", "datetime" or "timestamp"; "" is none of these.
func (c ColumnInfo) TimeType() string { return timeType(c.Type) }
