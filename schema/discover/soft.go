package discover

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

// softReference is a reference that no foreign key says and that a person knows: every column of that name,
// in whatever table, refers to the table's key, or to one of its other columns.
type softReference struct {
	column, table, references string
}

// parseSoft reads "host_id=hosts.id", or "host_id=hosts" for its primary key.
func parseSoft(texts []string) (all []softReference, err error) {
	for _, text := range texts {
		column, to, found := strings.Cut(text, "=")
		table, references, named := strings.Cut(to, ".")
		s := softReference{strings.TrimSpace(column), strings.TrimSpace(table), strings.TrimSpace(references)}
		if !found || s.column == "" || s.table == "" || strings.ContainsAny(text, "*%") || named && s.references == "" {
			return nil, fmt.Errorf("%w: %q is no soft reference; write column=table or column=table.column, as in host_id=hosts.id", ErrUnknownTable, text)
		}
		all = append(all, s)
	}
	return all, nil
}

func (d *discovery) withDeclared(all []*reference) ([]*reference, error) {
	for _, s := range d.soft {
		to := d.found.Table(s.table)
		if to == nil {
			return nil, fmt.Errorf("%w: %q, to which %s is to refer", ErrUnknownTable, s.table, s.column)
		}
		references := to.Primary()
		if s.references != "" {
			references = []string{s.references}
		}
		if len(references) != 1 || to.Column(references[0]) == nil {
			return nil, fmt.Errorf("%w: %s=%s: the table has no such column, or a key of %d; name one column of it", ErrNoPlan, s.column, s.table, len(references))
		}
		above := to.Column(references[0])
		var applied []string
		for _, name := range d.tableNames() {
			t := d.found.Table(name)
			c := t.Column(s.column)
			if c == nil || !t.IsTable() || shape.IsToolkits(t.Name) || t == to && c == above || d.refers(all, t, c.Name, to.Name) {
				continue
			}
			if c.Class() != above.Class() {
				d.remark(t.Name, "(%s) is a %s and %s.%s a %s, so --soft %s=%s does not apply to it.", c.Name, c.Full, to.Name, above.Name, above.Full, s.column, s.table)
				continue
			}
			f := dict.ForeignKey{Schema: d.found.Name, Table: t.Name, ToSchema: d.found.Name, To: to.Name, OnDelete: "NO ACTION", Columns: []string{c.Name}, References: []string{above.Name}}
			all, applied = append(all, &reference{ForeignKey: f, action: schema.OnDeleteDelete, soft: true}), append(applied, t.Name+"."+c.Name)
		}
		if len(applied) == 0 {
			return nil, fmt.Errorf("%w: no table has a column %q that could refer to %s", ErrNoPlan, s.column, to.Name)
		}
		d.remark("", "Declared, without a foreign key: %s → %s.", strings.Join(applied, ", "), to.Name)
	}
	return all, nil
}

// refers says whether a column of a table refers to another table already.
func (d *discovery) refers(all []*reference, t *dict.Table, column, to string) bool {
	return slices.ContainsFunc(all, func(r *reference) bool { return r.Table == t.Name && r.To == to && colset.Has(r.Columns, column) })
}
