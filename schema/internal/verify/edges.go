package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema/internal/colset"
)

// edge holds an edge against the tables on both of its sides.
func (v *verifier) edge(nodes []Node, n Node, e Edge) {
	i := slices.IndexFunc(nodes, func(above Node) bool { return above.Name == e.Table })
	for _, name := range nodes[i].Tables {
		if above := v.found.table(name); above.isTable() {
			v.referenced(n, nodes[i], e, above)
		}
	}
	for _, name := range n.Tables {
		have := v.found.table(name)
		if !have.isTable() {
			continue
		}
		complete := true
		for _, col := range slices.Concat(e.Columns, slices.Sorted(maps.Keys(conditions(e)))) {
			if have.column(col) == nil {
				complete = false
				v.say(edgeMissing, difference{Table: name, Column: col, Problem: fmt.Sprintf("it does not exist; the edge to %q needs it", e.Table), Fix: "correct the plan's edge"}, "")
			}
		}
		if !complete || e.OnDelete == OnDeleteKeep {
			continue
		}
		v.edgeIndex(e, have)
		v.edgeTypes(nodes[i], e, have)
		if e.OnDelete.Detaches() {
			v.detaches(n, e, have)
		}
	}
}

// referenced: an edge must lead to one row, or a row would go with one of several. A foreign key that
// restricts demands just that: none of the rows above can go before it. What a CASCADE does there depends
// on the engine.
func (v *verifier) referenced(n, to Node, e Edge, above *foundTable) {
	if e.OnDelete == OnDeleteKeep || slices.Equal(colset.Lower(e.References), colset.Lower(to.Key)) {
		return // the primary key is looked at with its table
	}
	for _, col := range e.References {
		if above.column(col) == nil {
			v.say(referenceGone, difference{Table: above.name, Column: col, Problem: fmt.Sprintf("it does not exist; %q refers to it", n.Name), Fix: "correct the references of that edge in the plan"}, "")
			return
		}
	}
	want := colset.Lower(e.References)
	if above.unique(want) || slices.ContainsFunc(v.found.foreign, func(f foreignKey) bool {
		return f.schema == v.found.name && f.toSchema == v.found.name && f.passive() && f.is(e) && len(marked(e)) == 0 &&
			v.found.key(f.to) == v.found.key(above.name) && len(n.Tables) == 1 && v.found.key(f.table) == v.found.key(n.Tables[0])
	}) {
		return
	}
	words, statement := addKey(above, "UNIQUE KEY", e.References)
	if statement != "" {
		words = oneFirst
	}
	v.say(referenceTwice, difference{Table: above.name, Problem: fmt.Sprintf("%q refers to (%s), of which no unique key makes sure that it is one row", n.Name, strings.Join(e.References, ", ")), Fix: words}, statement)
}

// edgeIndex: children are found by it, in every batch.
func (v *verifier) edgeIndex(e Edge, have *foundTable) {
	want := sought(e)
	leads := func(t *foundTable) bool {
		return slices.ContainsFunc(t.indexes, func(x foundIndex) bool { return x.leads(want, e.When) >= 0 })
	}
	if leads(have) {
		return
	}
	if off, ok := have.without(leads); ok {
		v.switchedOff(have, off, fmt.Sprintf("every look for what is below %q reads the whole table", e.Table))
		return
	}
	columns, reads := slices.Concat(slices.Sorted(maps.Keys(e.When)), e.Columns, marked(e)), "the whole table"
	if len(marked(e)) > 0 {
		reads = "the whole table, or each row that is marked already"
	}
	words, statement := addKey(have, "KEY", columns)
	v.say(edgeUnindexed, difference{Table: have.name, Problem: fmt.Sprintf("no index begins with (%s), so every look for what is below %q reads %s", strings.Join(columns, ", "), e.Table, reads), Fix: words}, statement)
}

// edgeTypes: values of two types are compared by converting one of them, which no
// index survives, and which may find other rows.
func (v *verifier) edgeTypes(above Node, e Edge, have *foundTable) {
	for i, col := range e.Columns {
		for _, name := range above.Tables {
			t := v.found.table(name)
			if !t.isTable() || t.column(e.References[i]) == nil {
				continue
			}
			a, b := have.column(col), t.column(e.References[i])
			if len(e.When) > 0 && a.class() == "text" && b.class() != "text" {
				continue // it holds the keys of several kinds of rows, and is compared as text
			}
			if problem := a.mismatch(b); problem != "" {
				words, statement := v.compareLike(have, a, b)
				v.say(edgeType, difference{Table: have.name, Column: a.name, Problem: fmt.Sprintf("it is %s, and %s.%s, to which it refers, is %s: %s", a.collated(), t.name, b.name, b.collated(), problem), Fix: words}, statement)
				break // the archive's column has the same type, or is a difference itself
			}
		}
		if f := have.column(col); !f.keyable() {
			v.say(edgeInexact, difference{Table: have.name, Column: f.name, Problem: fmt.Sprintf("it refers to a row of %q, and the exact value of a %s cannot be held", e.Table, f.full),
				Fix: "make it an integer, text, bytes or a DATETIME"}, "")
		}
	}
}

// mismatch says why values of the two columns cannot be compared as they are.
func (c *foundColumn) mismatch(other *foundColumn) string {
	unsigned := func(c *foundColumn) bool { return strings.Contains(strings.ToLower(c.full), "unsigned") }
	switch {
	case c.class() != other.class():
		return "the values are converted before they are compared, and no index is used"
	case c.class() == "integer" && unsigned(c) != unsigned(other):
		return "one of them is unsigned, so one holds values that the other cannot"
	case c.charset != other.charset || c.collation != other.collation:
		return "they are compared by different rules, and no index is used"
	}
	return ""
}

// class is what a column's values are compared as.
func (c *foundColumn) class() string {
	switch {
	case integerSize(c.data) > 0:
		return "integer"
	case c.charset != "":
		return "text"
	case c.data == "binary" || c.data == "varbinary":
		return "bytes"
	}
	return c.data
}

func (c *foundColumn) collated() string {
	if c.collation != "" {
		return c.full + " " + c.collation
	}
	return c.full
}

// compareLike gives c the other's collation. Where more than that differs, values may be
// lost.
func (v *verifier) compareLike(t *foundTable, c, other *foundColumn) (words, statement string) {
	def, known := v.found.definition(t, c)
	if !known || c.charset == "" || c.charset != other.charset {
		return fmt.Sprintf("give the two the same type and rules %s; look first whether every value fits, and keep %s", inStrict, theRest), ""
	}
	return "", "ALTER TABLE " + Quote(t.name) + " MODIFY COLUMN " + def.in(other.charset, other.collation).String()
}

// detaches: what becomes NULL must be able to.
func (v *verifier) detaches(n Node, e Edge, have *foundTable) {
	marks := len(marked(e)) > 0
	if marks {
		v.marks(e, have)
	}
	for _, col := range n.DetachColumns(e) {
		switch f := have.column(col); {
		case f.computed():
			v.say(detachComputed, difference{Table: have.name, Column: f.name, Problem: fmt.Sprintf("it is computed, so it cannot change when the row of %q goes", e.Table), Fix: "make the edge on_delete: delete or keep"}, "")
		case !f.nullable:
			d := difference{Table: have.name, Column: f.name, Problem: fmt.Sprintf("it is NOT NULL, and the plan detaches it from %q", e.Table), Fix: "make the edge on_delete: delete"}
			if marks {
				d.Problem = fmt.Sprintf("it is NOT NULL, so no row of it is without the mark that says that the row of %q is gone", e.Table)
			}
			def, known := v.found.definition(have, f)
			switch {
			case slices.Contains(have.primary(), strings.ToLower(f.name)): // it cannot be NULL
				v.say(detachNotNull, d, "")
			case known && def.free():
				d.Fix += ", or"
				v.say(detachNotNull, d, "ALTER TABLE "+Quote(have.name)+" MODIFY COLUMN "+def.String())
			default:
				d.Fix += ", or let it be NULL; keep " + theRest
				v.say(detachNotNull, d, "")
			}
		}
	}
}

// sought are the columns with which an index of the edge has to begin, in any order and lower case. Without
// the mark among them, each batch would pass all rows that are marked.
func sought(e Edge) []string { return colset.Lower(slices.Concat(e.Columns, marked(e))) }

// marked is the column that the edge marks, or none.
func marked(e Edge) []string { return colset.Some(e.OnDelete.Mark()) }

// marks: the time has to fit, and NULL has to say that there is none yet.
func (v *verifier) marks(e Edge, have *foundTable) {
	f := have.column(e.OnDelete.Mark())
	if f.data == "datetime" || f.data == "timestamp" {
		return
	}
	v.say(edgeType, difference{Table: have.name, Column: f.name, Problem: fmt.Sprintf("it is %s, and the plan puts the time into it at which the row of %q went", f.full, e.Table),
		Fix: "name a DATETIME or a TIMESTAMP that may be NULL"}, "")
}
