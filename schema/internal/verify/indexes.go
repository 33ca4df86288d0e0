package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema/internal/colset"
)

// serves says whether the table has an index that does what x does: the primary
// key itself; a unique index with the same columns, for a constraint; or any index
// that begins with the columns of x. InnoDB appends the primary key to each index.
func (t *foundTable) serves(x tableIndex) bool {
	want := colset.Lower(x.columns)
	for _, have := range t.indexes {
		switch {
		case x.name == "":
			if have.name == "PRIMARY" && slices.Equal(have.columns, want) {
				return true
			}
		case x.unique:
			if have.unique && colset.Same(have.columns, want) {
				return true
			}
		case x.lists:
			if t.reads(have, want) {
				return true
			}
		case have.btree && !have.off && colset.StartsWith(append(slices.Clone(have.columns), t.primary()...), want):
			return true
		}
	}
	return false
}

func (v *verifier) indexes(want table, have *foundTable) {
	for _, x := range want.indexes {
		if have.serves(x) {
			continue
		}
		if off, ok := have.without(func(t *foundTable) bool { return t.serves(x) }); ok {
			v.switchedOff(have, off, x.why)
			continue
		}
		words, statement := v.addIndex(have, x)
		v.say(indexMissing, difference{Table: want.name, Index: x.label(),
			Problem: fmt.Sprintf("no %s has the columns (%s); %s", x.kind(), strings.Join(x.columns, ", "), x.why), Fix: words}, statement)
	}
}

// without finds the index that would do if it were not switched off.
func (t *foundTable) without(does func(*foundTable) bool) (name string, ok bool) {
	for i, x := range t.indexes {
		on := foundTable{indexes: slices.Clone(t.indexes)}
		on.indexes[i].off = false
		if x.off && does(&on) {
			return x.name, true
		}
	}
	return "", false
}

func (v *verifier) switchedOff(have *foundTable, index, why string) {
	v.say(indexOff, difference{Table: have.name, Index: index, Problem: "reads may not use it, for it is switched off (INVISIBLE or IGNORED); " + why},
		v.found.switchOn(have.name, index))
}

// unknownIndexes: a unique index that is not declared refuses rows that the
// toolkit thinks are fine. One that contains the primary key refuses nothing.
func (v *verifier) unknownIndexes(want table, have *foundTable) {
	for _, x := range have.indexes {
		known := slices.ContainsFunc(want.indexes, func(w tableIndex) bool { return w.unique && colset.Same(x.columns, colset.Lower(w.columns)) })
		primary := have.primary()
		if !x.unique || known || x.name == "PRIMARY" || primary != nil && colset.ContainsAll(x.columns, primary) {
			continue
		}
		v.say(indexUnknown, difference{Table: want.name, Index: x.name,
			Problem: fmt.Sprintf("the plan does not know this unique index on (%s); rows will be refused by it, when they move as well", strings.Join(x.columns, ", ")),
			Fix:     "declare it among the plan's indexes if it is on the active table, or"}, "ALTER TABLE "+Quote(want.name)+" DROP INDEX "+Quote(x.name))
	}
}
