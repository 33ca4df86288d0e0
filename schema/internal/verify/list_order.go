package verify

import (
	"slices"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
)

// sameOrder compares the collations of listed columns: lists of both states merge what the two tables have,
// in the order of the columns' collations.
func (v *verifier) sameOrder(r schema.Resource, active, archive *dict.Table) {
	var said []string
	for _, x := range r.Indexes {
		for _, name := range x.Columns {
			a, b := active.Column(name), archive.Column(name)
			if !x.Archived || a == nil || b == nil || a.Collation == b.Collation || slices.Contains(said, name) || !dict.SameType(a, b) {
				continue
			}
			said = append(said, name)
			words, statement := v.pairFix(active, archive, a, b, true)
			v.report(ColumnsDiffer, Difference{Table: archive.Name, Column: name,
				Problem: "it is " + b.Collated() + " here and " + a.Collated() + " in \"" + active.Name + "\", so a list of both has no one order", Fix: words}, statement)
		}
	}
}
