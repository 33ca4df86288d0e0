package verify

import (
	"fmt"
	"slices"

	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

// retention holds the policies against the tables.
func (v *verifier) retention(nodes []schema.Node) {
	for _, n := range nodes {
		for _, name := range n.Retained {
			have := v.found.Table(name)
			if have == nil {
				continue // said already
			}
			column := n.Retention.Column
			f := have.Column(column)
			if f == nil {
				v.report(RetentionColumn, Difference{Table: name, Column: column, Problem: "it does not exist; the plan's retention says that rows are as old as it says", Fix: "correct the plan's retention"}, "")
				continue
			}
			if !slices.Contains([]string{"date", "datetime", "timestamp"}, f.Data) {
				v.report(RetentionColumn, Difference{Table: name, Column: column, Problem: fmt.Sprintf("it is %s; the age of rows is taken from a DATE, a DATETIME or a TIMESTAMP", f.Full), Fix: "name another column in the plan's retention"}, "")
				continue
			}
			if n.Managed && !have.Serves(shape.Index{Name: column, Columns: []string{column}}) {
				continue // of a resource it is said that there is none
			}
			const why = "each look for what is due reads the whole table"
			if v.indexed(have, why, func(t *dict.Table) bool {
				return slices.ContainsFunc(t.Indexes, func(x dict.Index) bool { return have.ReadsByAge(x, column) })
			}) {
				continue
			}
			words, statement := addKey(have, "KEY", []string{column})
			v.report(RetentionUnindexed, Difference{Table: name, Problem: fmt.Sprintf("no index begins with (%s), ascending and of whole columns, so %s", column, why), Fix: words}, statement)
		}
	}
}
