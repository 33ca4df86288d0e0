package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
)

const (
	fewer    = "make the columns short enough for an index (it holds 3072 bytes, and no TEXT or BLOB)"
	oneFirst = "if two rows have the same values, which it then says, change one of them first:"
)

// indexNames are those of the table, which no other index may have.
func (t *foundTable) indexNames() []tableIndex {
	var taken []tableIndex
	for _, x := range t.indexes {
		taken = append(taken, tableIndex{name: x.name})
	}
	return taken
}

// addIndex adds what the plan wants of a resource's table.
func (v *verifier) addIndex(t *foundTable, x tableIndex) (words, statement string) {
	switch {
	case !v.ready(t, x.columns):
		return "see to its columns first; then verify says what is left", ""
	case !t.indexable(x.columns):
		return fewer, ""
	case x.name == "":
		return v.replaceKey(t, x.columns)
	}
	taken := t.indexNames()
	if slices.ContainsFunc(taken, func(other tableIndex) bool { return strings.EqualFold(other.name, x.name) }) {
		x.name = indexName([]string{x.name}, taken)
	}
	if x.unique {
		words = oneFirst
	}
	return words, "ALTER TABLE " + Quote(t.name) + " ADD " + x.ddl()
}

// replaceKey makes the columns the primary key. What the old one made sure of stays sure.
func (v *verifier) replaceKey(t *foundTable, columns []string) (words, statement string) {
	old := t.primary()
	for _, name := range columns {
		if c := t.column(name); c == nil || c.nullable || !c.info().keyable() {
			return fmt.Sprintf("make (%s) the primary key, once each of its columns is NOT NULL and of a type that a key can hold", strings.Join(columns, ", ")), ""
		}
	}
	statement = "ALTER TABLE " + Quote(t.name)
	if old != nil {
		statement += " DROP PRIMARY KEY,"
	}
	statement += " ADD PRIMARY KEY (" + ident.Quotes(columns...) + ")"
	if old == nil || containsAll(old, lower(columns)) {
		return oneFirst, statement
	}
	if slices.Contains(old, "") {
		return fmt.Sprintf("make (%s) the primary key, and keep what the old one makes sure of", strings.Join(columns, ", ")), ""
	}
	kept := t.spelled(old)
	return oneFirst, statement + ", ADD UNIQUE KEY " + Quote(indexName(kept, t.indexNames())) + " (" + ident.Quotes(kept...) + ")"
}

// addKey adds an index to an existing table; the server names it.
func (t *foundTable) addKey(kind string, columns []string) (words, statement string) {
	if !t.indexable(columns) {
		return fewer, ""
	}
	return "", "ALTER TABLE " + Quote(t.name) + " ADD " + kind + " (" + ident.Quotes(columns...) + ")"
}

// restrict makes a foreign key one that only restricts. No server adds a foreign key under
// a name that the same statement drops.
func (v *verifier) restrict(f foreignKey) string {
	var taken []tableIndex
	for _, other := range v.found.foreign {
		taken = append(taken, tableIndex{name: other.name})
	}
	return fmt.Sprintf("ALTER TABLE %s DROP FOREIGN KEY %s, ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s) ON DELETE RESTRICT ON UPDATE %s",
		Quote(f.table), Quote(f.name), Quote(indexName([]string{f.name}, taken)), ident.Quotes(f.columns...), Quote(f.to), ident.Quotes(f.references...), f.onUpdate)
}
