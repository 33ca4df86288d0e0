package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

func (v *verifier) indexes(want shape.Table, have *dict.Table) {
	for _, x := range want.Indexes {
		if v.indexed(have, x.Why, func(t *dict.Table) bool { return t.Serves(x) }) {
			continue
		}
		words, statement := v.addIndex(have, x)
		v.report(IndexMissing, Difference{Table: want.Name, Index: cmp.Or(x.Name, "PRIMARY"),
			Problem: fmt.Sprintf("no %s has the columns (%s); %s", x.Kind(), strings.Join(x.Columns, ", "), x.Why), Fix: words}, statement)
	}
}

// indexed says whether an index does something. One that would, and is switched off, is reported.
func (v *verifier) indexed(have *dict.Table, why string, does func(*dict.Table) bool) bool {
	if does(have) {
		return true
	}
	index, off := have.SwitchedOff(does)
	if off {
		v.report(IndexOff, Difference{Table: have.Name, Index: index, Problem: "reads may not use it, for it is switched off (INVISIBLE or IGNORED); " + why},
			v.found.SwitchOn(have.Name, index))
	}
	return off
}

// unknownIndexes reports unique indexes that the plan does not know: one that is not declared refuses rows
// that the toolkit thinks are fine. One that contains the primary key refuses nothing.
func (v *verifier) unknownIndexes(want shape.Table, have *dict.Table) {
	for _, x := range have.Indexes {
		known := slices.ContainsFunc(want.Indexes, func(w shape.Index) bool { return w.Unique && colset.Same(x.Columns, colset.Lower(w.Columns)) })
		primary := have.Primary()
		if !x.Unique || known || x.Name == "PRIMARY" || primary != nil && colset.ContainsAll(x.Columns, primary) {
			continue
		}
		v.report(IndexUnknown, Difference{Table: want.Name, Index: x.Name,
			Problem: fmt.Sprintf("the plan does not know this unique index on (%s); rows will be refused by it, when they move as well", strings.Join(x.Columns, ", ")),
			Fix:     "declare it among the plan's indexes if it is on the active table, or"}, "ALTER TABLE "+ident.Quote(want.Name)+" DROP INDEX "+ident.Quote(x.Name))
	}
}
