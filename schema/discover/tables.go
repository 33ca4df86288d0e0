package discover

import (
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/shape"
	"github.com/onerow/onerow/schema/internal/verify"
)

// checkTable names what keeps a table from being in a plan.
func (d *discovery) checkTable(n *candidate) {
	t := n.table
	if err := ident.Check(t.Name); err != nil {
		d.obstacle(t.Name, "%v; rename it", err)
	}
	if len(t.Name) > shape.MaxResource {
		d.obstacle(t.Name, "its name has %d bytes, and jobs hold names of at most %d; rename it", len(t.Name), shape.MaxResource)
	}
	switch {
	case !t.IsTable():
		d.obstacle(t.Name, "it is a %s; begin with the tables behind it", strings.ToLower(t.Kind))
		return
	case !strings.EqualFold(t.Engine, "InnoDB"):
		d.obstacle(t.Name, "its engine is %s, which has neither transactions nor foreign keys; ALTER TABLE %s ENGINE=InnoDB", t.Engine, ident.Quote(t.Name))
	}
	if t.Primary() == nil {
		words, statement := verify.AddPrimaryKey(t)
		d.obstacle(t.Name, "it has no primary key, so no row can be named; %s", strings.TrimSpace(words+" "+statement))
	}
	for _, col := range t.Primary() {
		if problem := t.KeyProblem(col); problem != "" {
			d.obstacle(t.Name, "its primary key has the column %q: %s", col, problem)
		}
	}
	for _, e := range n.edges {
		for _, col := range slices.Concat(e.Columns, e.References) {
			if err := ident.Check(col); err != nil {
				d.obstacle(t.Name, "the foreign key %q: %v; rename the column", e.Name, err)
			}
		}
	}
}
