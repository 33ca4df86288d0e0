package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
)

// edge holds an edge against the tables on both of its sides.
func (v *verifier) edge(nodes []schema.Node, n schema.Node, e schema.Edge) {
	i := slices.IndexFunc(nodes, func(above schema.Node) bool { return above.Name == e.Table })
	for _, name := range nodes[i].Tables {
		if above := v.found.Table(name); above.IsTable() {
			v.referenced(n, nodes[i], e, above)
		}
	}
	for _, name := range n.Tables {
		have := v.found.Table(name)
		if !have.IsTable() {
			continue
		}
		complete := true
		for _, col := range slices.Concat(e.Columns, slices.Sorted(maps.Keys(dict.Conditions(e)))) {
			if have.Column(col) == nil {
				complete = false
				v.report(EdgeMissing, Difference{Table: name, Column: col, Problem: fmt.Sprintf("it does not exist; the edge to %q needs it", e.Table), Fix: "correct the plan's edge"}, "")
			}
		}
		if !complete || e.OnDelete == schema.OnDeleteKeep {
			continue
		}
		v.edgeIndex(e, have)
		v.edgeTypes(nodes[i], e, have)
		if e.OnDelete.Detaches() {
			v.detaches(n, e, have)
		}
	}
}

// referenced looks for a unique key above: an edge must lead to one row, or a row would go with one of
// several. A foreign key that restricts demands just that: none of the rows above can go before it. What a
// CASCADE does there depends on the engine.
func (v *verifier) referenced(n, to schema.Node, e schema.Edge, above *dict.Table) {
	if e.OnDelete == schema.OnDeleteKeep || slices.Equal(colset.Lower(e.References), colset.Lower(to.Key)) {
		return // the primary key is looked at with its table
	}
	for _, col := range e.References {
		if above.Column(col) == nil {
			v.report(ReferenceGone, Difference{Table: above.Name, Column: col, Problem: fmt.Sprintf("it does not exist; %q refers to it", n.Name), Fix: "correct the references of that edge in the plan"}, "")
			return
		}
	}
	want := colset.Lower(e.References)
	if above.Unique(want) || slices.ContainsFunc(v.found.Foreign, func(f dict.ForeignKey) bool {
		return f.Schema == v.found.Name && f.ToSchema == v.found.Name && f.OnlyRestricts() && f.Is(e) && len(marked(e)) == 0 &&
			v.found.Key(f.To) == v.found.Key(above.Name) && len(n.Tables) == 1 && v.found.Key(f.Table) == v.found.Key(n.Tables[0])
	}) {
		return
	}
	words, statement := addKey(above, "UNIQUE KEY", e.References)
	if statement != "" {
		words = oneFirst
	}
	v.report(ReferenceTwice, Difference{Table: above.Name, Problem: fmt.Sprintf("%q refers to (%s), of which no unique key makes sure that it is one row", n.Name, strings.Join(e.References, ", ")), Fix: words}, statement)
}

// edgeIndex looks for the index by which every batch finds children. It begins with the edge's columns, and
// the mark, in any order: without it, each batch would pass all rows that are marked.
func (v *verifier) edgeIndex(e schema.Edge, have *dict.Table) {
	want := colset.Lower(slices.Concat(e.Columns, marked(e)))
	if v.indexed(have, fmt.Sprintf("every look for what is below %q reads the whole table", e.Table), func(t *dict.Table) bool {
		return slices.ContainsFunc(t.Indexes, func(x dict.Index) bool { return x.Leads(want, e.When) >= 0 })
	}) {
		return
	}
	columns, reads := slices.Concat(slices.Sorted(maps.Keys(e.When)), e.Columns, marked(e)), "the whole table"
	if len(marked(e)) > 0 {
		reads = "the whole table, or each row that is marked already"
	}
	words, statement := addKey(have, "KEY", columns)
	v.report(EdgeUnindexed, Difference{Table: have.Name, Problem: fmt.Sprintf("no index begins with (%s), so every look for what is below %q reads %s", strings.Join(columns, ", "), e.Table, reads), Fix: words}, statement)
}

// edgeTypes compares the types on both sides: values of two types are compared by converting one of them,
// which no index survives, and which may find other rows.
func (v *verifier) edgeTypes(above schema.Node, e schema.Edge, have *dict.Table) {
	for i, col := range e.Columns {
		for _, name := range above.Tables {
			t := v.found.Table(name)
			if !t.IsTable() || t.Column(e.References[i]) == nil {
				continue
			}
			a, b := have.Column(col), t.Column(e.References[i])
			if len(e.When) > 0 && a.Class() == "text" && b.Class() != "text" {
				continue // it holds the keys of several kinds of rows, and is compared as text
			}
			if problem := a.Mismatch(b); problem != "" {
				words, statement := v.compareLike(have, a, b)
				v.report(EdgeType, Difference{Table: have.Name, Column: a.Name, Problem: fmt.Sprintf("it is %s, and %s.%s, to which it refers, is %s: %s", a.Collated(), t.Name, b.Name, b.Collated(), problem), Fix: words}, statement)
				break // the archive's column has the same type, or is a difference itself
			}
		}
		if f := have.Column(col); !f.Keyable() {
			v.report(EdgeInexact, Difference{Table: have.Name, Column: f.Name, Problem: fmt.Sprintf("it refers to a row of %q, and the exact value of a %s cannot be held", e.Table, f.Full),
				Fix: "make it an integer, text, bytes or a DATETIME"}, "")
		}
	}
}

// compareLike gives c the other's collation. Where more than that differs, values may be lost.
func (v *verifier) compareLike(t *dict.Table, c, other *dict.Column) (words, statement string) {
	def, known := v.definition(t, c)
	if !known || c.Charset == "" || c.Charset != other.Charset {
		return fmt.Sprintf("give the two the same type and rules %s; look first whether every value fits, and keep %s", inStrictMode, restOfDefinition), ""
	}
	return "", "ALTER TABLE " + ident.Quote(t.Name) + " MODIFY COLUMN " + def.WithCollation(other.Charset, other.Collation).String()
}

func (v *verifier) detaches(n schema.Node, e schema.Edge, have *dict.Table) {
	marks := len(marked(e)) > 0
	if marks {
		v.marks(e, have)
	}
	for _, col := range n.DetachColumns(e) {
		switch f := have.Column(col); {
		case f.Computed():
			v.report(DetachComputed, Difference{Table: have.Name, Column: f.Name, Problem: fmt.Sprintf("it is computed, so it cannot change when the row of %q goes", e.Table), Fix: "make the edge on_delete: delete or keep"}, "")
		case !f.Nullable:
			d := Difference{Table: have.Name, Column: f.Name, Problem: fmt.Sprintf("it is NOT NULL, and the plan detaches it from %q", e.Table), Fix: "make the edge on_delete: delete"}
			if marks {
				d.Problem = fmt.Sprintf("it is NOT NULL, so no row of it is without the mark that says that the row of %q is gone", e.Table)
			}
			def, known := v.definition(have, f)
			switch {
			case slices.Contains(have.Primary(), strings.ToLower(f.Name)): // it cannot be NULL
				v.report(DetachNotNull, d, "")
			case known && def.AllowNull():
				d.Fix += ", or"
				v.report(DetachNotNull, d, "ALTER TABLE "+ident.Quote(have.Name)+" MODIFY COLUMN "+def.String())
			default:
				d.Fix += ", or let it be NULL; keep " + restOfDefinition
				v.report(DetachNotNull, d, "")
			}
		}
	}
}

// marked is the column that the edge marks, or none.
func marked(e schema.Edge) []string { return colset.Some(e.OnDelete.Mark()) }

// marks looks at the column of the mark: the time has to fit, and NULL has to say that there is none yet.
func (v *verifier) marks(e schema.Edge, have *dict.Table) {
	f := have.Column(e.OnDelete.Mark())
	if f.Data == "datetime" || f.Data == "timestamp" {
		return
	}
	v.report(EdgeType, Difference{Table: have.Name, Column: f.Name, Problem: fmt.Sprintf("it is %s, and the plan puts the time into it at which the row of %q went", f.Full, e.Table),
		Fix: "name a DATETIME or a TIMESTAMP that may be NULL"}, "")
}
