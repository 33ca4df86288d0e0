package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

const (
	shortenFirst = "make the columns short enough for an index (it holds 3072 bytes, and no TEXT or BLOB)"
	oneFirst     = "if two rows have the same values, which it then says, change one of them first:"
)

// addIndex adds what the plan wants of a resource's table.
func (v *verifier) addIndex(t *dict.Table, x shape.Index) (words, statement string) {
	switch {
	case !v.ready(t, x.Columns):
		return "see to its columns first; then verify says what is left", ""
	case !t.Indexable(x.Columns):
		return shortenFirst, ""
	case x.Name == "":
		return v.replaceKey(t, x.Columns)
	}
	taken := t.IndexNames()
	if colset.Has(taken, x.Name) {
		x.Name = shape.IndexName([]string{x.Name}, taken)
	}
	if x.Unique {
		words = oneFirst
	}
	return words, "ALTER TABLE " + ident.Quote(t.Name) + " ADD " + x.DDL()
}

// replaceKey makes the columns the primary key. What the old one made sure of stays sure.
func (v *verifier) replaceKey(t *dict.Table, columns []string) (words, statement string) {
	old := t.Primary()
	for _, name := range columns {
		if c := t.Column(name); c == nil || c.Nullable || !c.Keyable() {
			return fmt.Sprintf("make (%s) the primary key, once each of its columns is NOT NULL and of a type that a key can hold", strings.Join(columns, ", ")), ""
		}
	}
	statement = "ALTER TABLE " + ident.Quote(t.Name)
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
	kept := t.Spelled(old)
	return oneFirst, statement + ", ADD UNIQUE KEY " + ident.Quote(shape.IndexName(kept, t.IndexNames())) + " (" + ident.Quotes(kept...) + ")"
}

// addKey adds an index to an existing table; the server names it.
func addKey(t *dict.Table, kind string, columns []string) (words, statement string) {
	if !t.Indexable(columns) {
		return shortenFirst, ""
	}
	return "", "ALTER TABLE " + ident.Quote(t.Name) + " ADD " + kind + " (" + ident.Quotes(columns...) + ")"
}

// AddPrimaryKey is what to do about a table without one: a unique key that could be it,
// the column that the server numbers already, or a new one.
func AddPrimaryKey(t *dict.Table) (words, statement string) {
	for _, x := range t.Indexes {
		fits := x.Unique && !slices.ContainsFunc(x.Columns, func(col string) bool {
			f := t.Column(col)
			return f == nil || f.Nullable || !f.Keyable()
		})
		if fits {
			return "", fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", ident.Quote(t.Name), ident.Quotes(t.Spelled(x.Columns)...))
		}
	}
	if i := slices.IndexFunc(t.Columns, func(c dict.Column) bool { return c.AutoIncrements() }); i >= 0 { // a table has one at most
		return oneFirst, fmt.Sprintf("ALTER TABLE %s ADD PRIMARY KEY (%s)", ident.Quote(t.Name), ident.Quote(t.Columns[i].Name))
	}
	name := "id"
	for n := 2; t.Column(name) != nil; n++ {
		name = fmt.Sprintf("id_%d", n)
	}
	return "", fmt.Sprintf("ALTER TABLE %s ADD COLUMN %s BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY", ident.Quote(t.Name), ident.Quote(name))
}
