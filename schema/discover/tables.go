package schema

import (
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/naming"
)

// usable names what keeps a table from being in a plan.
func (d *discovery) usable(n *candidate) {
	t := n.table
	if err := ident.Check(t.name); err != nil {
		d.obstacle(t.name, "%v; rename it", err)
	}
	if len(t.name) > naming.MaxResource {
		d.obstacle(t.name, "its name has %d bytes, and jobs hold names of at most %d; rename it", len(t.name), naming.MaxResource)
	}
	switch {
	case !t.isTable():
		d.obstacle(t.name, "it is a %s; begin with the tables behind it", strings.ToLower(t.kind))
		return
	case !strings.EqualFold(t.engine, "InnoDB"):
		d.obstacle(t.name, "its engine is %s, which has neither transactions nor foreign keys; ALTER TABLE %s ENGINE=InnoDB", t.engine, Quote(t.name))
	}
	if t.primary() == nil {
		words, statement := addPrimaryKey(t)
		d.obstacle(t.name, "it has no primary key, so no row can be named; %s", strings.TrimSpace(words+" "+statement))
	}
	for _, col := range t.primary() {
		if problem := t.keyProblem(col); problem != "" {
			d.obstacle(t.name, "its primary key has the column %q: %s", col, problem)
		}
	}
	for _, e := range n.edges {
		for _, col := range slices.Concat(e.columns, e.references) {
			if err := ident.Check(col); err != nil {
				d.obstacle(t.name, "the foreign key %q: %v; rename the column", e.name, err)
			}
		}
	}
}
