package adopt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

const costIndex = "the table is read once, and the index written, beside its readers and writers: ALGORITHM=INPLACE, LOCK=NONE"

// indexes adds each index that nothing does the work of yet.
func (a *adopter) indexes(want shape.Table, have *dict.Table) {
	lasting := a.lasting(want, have)
	for _, x := range want.Indexes {
		if x.Name == "" || lasting.Serves(x) {
			continue
		}
		taken := slices.Concat(have.IndexNames(), a.planned[have])
		if colset.Has(taken, x.Name) {
			x.Name = shape.IndexName([]string{x.Name}, taken)
		}
		a.planned[have] = append(a.planned[have], x.Name)
		writers := "nothing"
		if x.Unique {
			writers = "a name whose key is taken is refused with error 1062, as soon as a writer writes keys; rows without a key are not concerned"
		}
		if x.Unique && x.Why == "the plan declares it" {
			writers = "two rows with the same values are refused with error 1062"
		}
		a.step(Step{Name: "add_" + strings.Fields(x.Kind())[0] + "_" + trimmed(x.Name) + a.suffix(have),
			What: fmt.Sprintf("Adds the %s %s (%s) to %s: %s.", x.Kind(), x.Name, strings.Join(x.Columns, ", "), have.Name, x.Why),
			Cost: costIndex, Writers: writers, Back: "DROP INDEX",
			Up:   change{Done: hasIndex(have.Name, x.Name), SQL: "ALTER TABLE " + ident.Quote(have.Name) + " ADD " + x.DDL() + ", ALGORITHM=INPLACE, LOCK=NONE"},
			Down: a.dropIndex(have, x)})
	}
}

// lasting is the table without an index that may have been made by the server for a foreign key, and goes by
// itself when one of the missing indexes begins with its columns: nothing shows whether somebody asked for
// it.
func (a *adopter) lasting(want shape.Table, have *dict.Table) *dict.Table {
	rest := *have
	rest.Indexes = slices.DeleteFunc(slices.Clone(have.Indexes), func(x dict.Index) bool {
		return !x.Unique && slices.ContainsFunc(a.found.Foreign, func(f dict.ForeignKey) bool {
			return f.Schema == a.found.Name && a.found.Key(f.Table) == a.found.Key(have.Name) && slices.Equal(x.Columns, colset.Lower(f.Columns))
		}) && slices.ContainsFunc(want.Indexes, func(w shape.Index) bool {
			return w.Name != "" && !have.Serves(w) && colset.StartsWith(colset.Lower(w.Columns), x.Columns)
		})
	})
	return &rest
}

// dropIndex is the way back. A server drops the index that it made for a foreign key when another one begins
// with the same column; then the way back makes it again, for the foreign key needs one.
func (a *adopter) dropIndex(t *dict.Table, x shape.Index) change {
	table := ident.Quote(t.Name)
	drop := change{Done: "NOT " + hasIndex(t.Name, x.Name), SQL: "ALTER TABLE " + table + " DROP INDEX " + ident.Quote(x.Name)}
	for _, f := range a.found.Foreign {
		if f.Schema != a.found.Name || a.found.Key(f.Table) != a.found.Key(t.Name) || !colset.StartsWith(colset.Lower(x.Columns), colset.Lower(f.Columns)) {
			continue
		}
		for _, have := range t.Indexes {
			if !slices.Equal(have.Columns, colset.Lower(f.Columns)) || have.Unique {
				continue
			}
			drop.Other = "NOT " + has("statistics", t.Name, fmt.Sprintf(" AND index_name <> %s AND seq_in_index = 1 AND column_name = %s", literal(x.Name), literal(f.Columns[0])))
			drop.OtherSQL = drop.SQL + ", ADD KEY " + ident.Quote(have.Name) + " (" + ident.Quotes(f.Columns...) + ")"
			return drop
		}
	}
	return drop
}
