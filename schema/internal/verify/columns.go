package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

func (v *verifier) columns(r schema.Resource, want shape.Table, have *dict.Table) {
	for _, c := range want.Columns {
		w, found := Wanted(r, c), have.Column(c.Name)
		problem := w.Problem(found)
		if stamp := strings.HasPrefix(strings.ToUpper(c.Type), "TIMESTAMP"); found != nil && w.Is == AnyType && stamp != (found.Data == "timestamp") {
			v.report(ColumnWrong, Difference{Table: want.Name, Column: c.Name,
				Problem: fmt.Sprintf("it is %s, and the plan says %s; a TIMESTAMP is converted by the session's time zone, so it is written and read otherwise", found.Full, c.Type),
				Fix:     "say in the plan what it is"}, "")
		}
		if problem == "" {
			continue
		}
		k := ColumnMissing
		words, statement := addFix(r, want.Name, c)
		if found != nil {
			k = ColumnWrong
			words, statement = v.modifyFix(r, w, have, found)
		}
		v.wrong[found] = statement == ""
		v.report(k, Difference{Table: want.Name, Column: c.Name, Problem: problem, Fix: words}, statement)
	}
}

// unknownColumns reports columns that the plan does not know: what is not declared is not moved, and not
// written.
func (v *verifier) unknownColumns(r schema.Resource, want shape.Table, have *dict.Table) {
	for _, c := range have.Columns {
		if slices.ContainsFunc(want.Columns, func(w shape.Column) bool { return strings.EqualFold(w.Name, c.Name) }) {
			continue
		}
		switch {
		case c.Computed(), r.Guard == "" && isGuard(&c):
		case r.Archive != "":
			v.report(ColumnUnknown, Difference{Table: want.Name, Column: c.Name, Problem: "the plan does not know it, so its values are lost when a row is archived or activated",
				Fix: "add it to the plan's columns and to both tables, or drop it"}, "")
		case !c.Nullable && !c.HasDefault:
			v.report(ColumnUnknown, Difference{Table: want.Name, Column: c.Name, Problem: "the plan does not know it, and it has neither a default nor NULL, so rows cannot be made",
				Fix: "add it to the plan's columns, or give it a default"}, "")
		}
	}
}

// sameColumns compares the two tables of a resource: what moves between the two tables must fit in both, and
// lists of both states merge what they have, in the order of the columns' collations. The types of the
// toolkit's columns are each held against the plan already.
func (v *verifier) sameColumns(r schema.Resource, active, archive *dict.Table) {
	for _, name := range r.Shared() {
		a, b := active.Column(name), archive.Column(name)
		if a == nil || b == nil {
			continue
		}
		w := Wanted(r, shape.Column{Name: name})
		toolkits := w.Is != AnyType && !w.Key
		listed := slices.ContainsFunc(r.Indexes, func(x schema.Index) bool { return x.Archived && slices.Contains(x.Columns, name) })
		same, problem := a.Full == b.Full && a.Charset == b.Charset && a.Nullable == b.Nullable, ""
		switch {
		case !same && !toolkits:
			problem = fmt.Sprintf("it is %s here and %s in %q, so a row may not fit when it moves", b.Describe(), a.Describe(), active.Name)
		case same && listed && a.Collation != b.Collation:
			problem = fmt.Sprintf("it is %s here and %s in %q, so a list of both has no one order", b.Collated(), a.Collated(), active.Name)
		default:
			continue
		}
		words, statement := v.pairFix(active, archive, a, b, same)
		v.report(ColumnsDiffer, Difference{Table: archive.Name, Column: name, Problem: problem, Fix: words}, statement)
	}
}
