package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

const (
	fewer    = "make the columns short enough for an index (it holds 3072 bytes, and no TEXT or BLOB)"
	oneFirst = "if two rows have the same values, which it then says, change one of them first:"
)

// indexNames are those of the table, which no other index may have.
func (t *foundTable) indexNames() []string {
	var taken []string
	for _, x := range t.indexes {
		taken = append(taken, x.name)
	}
	return taken
}

// foreignNames are those of all foreign keys, which no other may have.
func (d *database) foreignNames() []string {
	var taken []string
	for _, f := range d.foreign {
		taken = append(taken, f.name)
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
	if colset.Has(taken, x.name) {
		x.name = shape.IndexName([]string{x.name}, taken)
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
		if c := t.column(name); c == nil || c.nullable || !c.keyable() {
			return fmt.Sprintf("make (%s) the primary key, once each of its columns is NOT NULL and of a type that a key can hold", strings.Join(columns, ", ")), ""
		}
	}
	statement = "ALTER TABLE " + Quote(t.name)
	if old != nil {
		statement += " DROP PRIMARY KEY,"
	}
	statement += " ADD PRIMARY KEY (" + ident.Quotes(columns...) + ")"
	if old == nil || colset.ContainsAll(old, colset.Lower(columns)) {
		return oneFirst, statement
	}
	if slices.Contains(old, "") {
		return fmt.Sprintf("make (%s) the primary key, and keep what the old one makes sure of", strings.Join(columns, ", ")), ""
	}
	kept := t.spelled(old)
	return oneFirst, statement + ", ADD UNIQUE KEY " + Quote(shape.IndexName(kept, t.indexNames())) + " (" + ident.Quotes(kept...) + ")"
}

// addKey adds an index to an existing table; the server names it.
func addKey(t *foundTable, kind string, columns []string) (words, statement string) {
	if !t.indexable(columns) {
		return fewer, ""
	}
	return "", "ALTER TABLE " + Quote(t.name) + " ADD " + kind + " (" + ident.Quotes(columns...) + ")"
}

// restrict makes a foreign key one that only restricts. No server adds a foreign key under
// a name that the same statement drops.
func (v *verifier) restrict(f foreignKey) string {
	return fmt.Sprintf("ALTER TABLE %s DROP FOREIGN KEY %s, ADD CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s) ON DELETE RESTRICT ON UPDATE %s",
		Quote(f.table), Quote(f.name), Quote(shape.IndexName([]string{f.name}, v.found.foreignNames())), ident.Quotes(f.columns...), Quote(f.to), ident.Quotes(f.references...), f.onUpdate)
}

// addPrimaryKey is what to do about a table without one: a unique key that could be it,
// the column that the server numbers already, or a new one.
func addPrimaryKey(t *foundTable) (words, statement string) {
	for _, x := range t.indexes {
		fits := x.unique && !slices.ContainsFunc(x.columns, func(col string) bool {
			f := t.column(col)
			return f == nil || f.nullable || !f.keyable()
		})
		if fits {
			return "", fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", Quote(t.name), ident.Quotes(t.spelled(x.columns)...))
		}
	}
	for _, c := range t.columns {
		if strings.Contains(strings.ToLower(c.extra), "auto_increment") { // a table has one at most
			return oneFirst, fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", Quote(t.name), Quote(c.name))
		}
	}
	name := "id"
	for n := 2; t.column(name) != nil; n++ {
		name = fmt.Sprintf("id_%d", n)
	}
	return "", fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", Quote(t.name), Quote(name))
}
