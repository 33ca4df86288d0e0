package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/naming"
)

// Soft is a reference that no foreign key says and that a person knows: every column of that name, in
// whatever table, refers to the table's key, or to one of its other columns.
type Soft struct {
	Column, Table, References string
}

// ParseSoft reads "host_id=hosts.id", or "host_id=hosts" for its primary key.
func ParseSoft(text string) (Soft, error) {
	column, to, found := strings.Cut(text, "=")
	table, references, _ := strings.Cut(to, ".")
	s := Soft{strings.TrimSpace(column), strings.TrimSpace(table), strings.TrimSpace(references)}
	if !found || s.Column == "" || s.Table == "" || strings.ContainsAny(text, "*%") || strings.Contains(to, ".") && s.References == "" {
		return s, fmt.Errorf("%w: %q is no soft reference; write column=table or column=table.column, as in host_id=hosts.id", ErrDiscover, text)
	}
	return s, nil
}

// softly adds the declared references.
func (d *discovery) softly(all []*reference) ([]*reference, error) {
	for _, s := range d.soft {
		to := d.found.table(s.Table)
		if to == nil {
			return nil, fmt.Errorf("%w: %q, to which %s is to refer%s", ErrUnknownTable, s.Table, s.Column, naming.DidYouMean(s.Table, d.tableNames()))
		}
		references := to.primary()
		if s.References != "" {
			references = []string{s.References}
		}
		if len(references) != 1 || to.column(references[0]) == nil {
			return nil, fmt.Errorf("%w: %s=%s: the table has no such column, or a key of %d; name one column of it", ErrDiscover, s.Column, s.Table, len(references))
		}
		above := to.column(references[0])
		var applied []string
		for _, name := range d.tableNames() {
			t := d.found.table(name)
			c := t.column(s.Column)
			if c == nil || !t.isTable() || naming.IsToolkits(t.name) || t == to && c == above || d.refers(all, t, c.name, to.name) {
				continue
			}
			if familyOf(c) != familyOf(above) {
				d.remark(t.name, "(%s) is a %s and %s.%s a %s, so --soft %s=%s does not apply to it.", c.name, c.full, to.name, above.name, above.full, s.Column, s.Table)
				continue
			}
			f := foreignKey{schema: d.found.name, table: t.name, toSchema: d.found.name, to: to.name, onDelete: "NO ACTION", columns: []string{c.name}, references: []string{above.name}}
			all, applied = append(all, &reference{foreignKey: f, action: OnDeleteDelete, soft: true}), append(applied, t.name+"."+c.name)
		}
		if len(applied) == 0 {
			return nil, fmt.Errorf("%w: no table has a column %q that could refer to %s", ErrDiscover, s.Column, to.name)
		}
		d.remark("", "Declared, without a foreign key: %s → %s.", strings.Join(applied, ", "), to.name)
	}
	return all, nil
}

// refers says whether a column of a table refers to another table already.
func (d *discovery) refers(all []*reference, t *foundTable, column, to string) bool {
	return slices.ContainsFunc(all, func(r *reference) bool { return r.table == t.name && r.to == to && colset.Has(r.columns, column) })
}

// familyOf is what values a column holds, as far as a reference has to.
func familyOf(c *foundColumn) string {
	switch data := strings.ToLower(c.data); data {
	case "tinyint", "smallint", "mediumint", "int", "bigint":
		return "integer"
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		return "text"
	case "binary", "varbinary":
		return "bytes"
	default:
		return data
	}
}
