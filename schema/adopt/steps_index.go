package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

const costIndex = "the table is read once, and the index written, beside its readers and writers: ALGORITHM=INPLACE, LOCK=NONE"

// indexes adds each index that nothing does the work of yet.
func (a *adopter) indexes(want table, have *foundTable) {
	lasting := a.lasting(want, have)
	for _, x := range want.indexes {
		if x.name == "" || lasting.serves(x) {
			continue
		}
		taken := slices.Concat(have.indexNames(), a.planned[have])
		if colset.Has(taken, x.name) {
			x.name = shape.IndexName([]string{x.name}, taken)
		}
		a.planned[have] = append(a.planned[have], x.name)
		writers := "nothing"
		if x.unique {
			writers = "a name whose key is taken is refused with error 1062, as soon as a writer writes keys; rows without a key are not concerned"
		}
		if x.unique && x.why == "the plan declares it" {
			writers = "two rows with the same values are refused with error 1062"
		}
		a.step(Step{Name: "add_" + kindWord(x) + "_" + fileWord(x.name) + a.suffix(have),
			What: fmt.Sprintf("Adds the %s %s (%s) to %s: %s.", x.kind(), x.name, strings.Join(x.columns, ", "), have.name, x.why),
			Cost: costIndex, Writers: writers, Back: "DROP INDEX",
			Up:   Change{Done: hasIndex(have.name, x.name), SQL: "ALTER TABLE " + Quote(have.name) + " ADD " + x.ddl() + ", ALGORITHM=INPLACE, LOCK=NONE"},
			Down: a.dropIndex(have, x)})
	}
}

// lasting is the table without an index that may have been made by the server for a foreign key, and goes by
// itself when one of the missing indexes begins with its columns: nothing shows whether somebody asked for
// it.
func (a *adopter) lasting(want table, have *foundTable) *foundTable {
	rest := *have
	rest.indexes = slices.DeleteFunc(slices.Clone(have.indexes), func(x foundIndex) bool {
		return !x.unique && slices.ContainsFunc(a.found.foreign, func(f foreignKey) bool {
			return f.schema == a.found.name && a.found.key(f.table) == a.found.key(have.name) && slices.Equal(x.columns, colset.Lower(f.columns))
		}) && slices.ContainsFunc(want.indexes, func(w tableIndex) bool {
			return w.name != "" && !have.serves(w) && colset.StartsWith(colset.Lower(w.columns), x.columns)
		})
	})
	return &rest
}

func kindWord(x tableIndex) string {
	if x.unique {
		return "unique"
	}
	return "index"
}

// dropIndex is the way back. A server drops the index that it made for a foreign key when another one begins
// with the same column; then the way back makes it again, for the foreign key needs one.
func (a *adopter) dropIndex(t *foundTable, x tableIndex) Change {
	table := Quote(t.name)
	drop := Change{Done: "NOT " + hasIndex(t.name, x.name), SQL: "ALTER TABLE " + table + " DROP INDEX " + Quote(x.name)}
	for _, f := range a.found.foreign {
		if f.schema != a.found.name || a.found.key(f.table) != a.found.key(t.name) || !colset.StartsWith(colset.Lower(x.columns), colset.Lower(f.columns)) {
			continue
		}
		for _, have := range t.indexes {
			if !slices.Equal(have.columns, colset.Lower(f.columns)) || have.unique {
				continue
			}
			drop.Other = fmt.Sprintf("NOT EXISTS (SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = %s AND index_name <> %s AND seq_in_index = 1 AND column_name = %s)",
				literal(t.name), literal(x.name), literal(f.columns[0]))
			drop.OtherSQL = drop.SQL + ", ADD KEY " + Quote(have.name) + " (" + ident.Quotes(f.columns...) + ")"
			return drop
		}
	}
	return drop
}
