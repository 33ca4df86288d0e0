package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

const (
	restOfDefinition = "the rest of its definition as SHOW CREATE TABLE shows it"
	inStrictMode     = "in a session with a strict sql_mode (another one stores what does not fit as 0, as '' or cut)"
)

// unquoted is a column's type without what is in quotes, in upper case.
func unquoted(ddl string) string {
	parts := strings.Split(ddl, "'")
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		b.WriteString(strings.ToUpper(parts[i]) + " ")
	}
	return b.String()
}

// Fills says whether a column of this type can be added to a table with rows: it is NULL in
// them, or has its default.
func Fills(ddl string) bool {
	text := unquoted(ddl)
	for _, word := range []string{"AUTO_INCREMENT", "UNIQUE", "KEY", "TIMESTAMP"} {
		if strings.Contains(text, word) {
			return false
		}
	}
	return strings.Contains(text, " DEFAULT ") || !strings.Contains(text, "NOT NULL")
}

// Content says what belongs into a column of the toolkit's that is filled afterwards.
func Content(r schema.Resource, column string) string {
	switch column {
	case r.Label.Key, ident.ColStemKey, ident.ColCopyNo:
		return fmt.Sprintf("the Key, StemKey and Copy that names.Kind(%q).Parse returns for its %s", r.Label.Kind, r.Label.Column)
	case r.Owner, r.Tenant.Name:
		return "whose row it is"
	case r.Parent.Column:
		return "the id of the row above"
	case ident.ColCreatedAt, ident.ColUpdatedAt, ident.ColArchivedAt:
		return "a time in UTC"
	case r.ID:
		return "a number that no row of the active table and of the archive has"
	}
	return "its value"
}

// addFix is what to do about a column that is not there.
func addFix(r schema.Resource, table string, c shape.Column) (words, statement string) {
	derived := r.Named() && (c.Name == r.Label.Key || c.Name == ident.ColStemKey || c.Name == ident.ColCopyNo)
	if Fills(c.Type) && !derived {
		return "", "ALTER TABLE " + ident.Quote(table) + " ADD COLUMN " + ident.Quote(c.Name) + " " + c.Type
	}
	return fmt.Sprintf("add it NULLable (the plan has %s); fill it in every row with %s; then give it that type, %s", c.Type, Content(r, c.Name), inStrictMode), ""
}

// modifyFix is what to do about a column that is not as it should be.
func (v *verifier) modifyFix(r schema.Resource, w WantColumn, t *dict.Table, c *dict.Column) (words, statement string) {
	def, known := v.definition(t, c)
	var steps []string
	if !w.Is.Fits(c, w.Min) {
		kind := w.Wider(c)
		if kind == "" {
			steps = append(steps, convert(r, w, c))
		} else if def.Full, def.Text = kind, def.WithCollation(c.Charset, c.Collation).Text; w.Is == UTCTime {
			def.Replace(dict.Now, "CURRENT_TIMESTAMP(6)")
		}
	}
	if set := w.Charset(c); set != "" {
		steps = append(steps, "say so in the plan: CHARACTER SET "+set)
	}
	generated := c.AutoIncrements()
	switch {
	case w.Generated() && !generated:
		steps = append(steps, "make it AUTO_INCREMENT in a session whose sql_mode has NO_AUTO_VALUE_ON_ZERO (in another one a row with the id 0 gets another id)")
	case generated && !w.Generated():
		def.Replace(dict.Generates, "")
	}
	if w.Is == UTCTime {
		def.Replace(dict.Moves, "")
	}
	switch {
	case w.NotNull() && c.Nullable:
		steps = append(steps, "fill the rows in which it is NULL, then make it NOT NULL "+inStrictMode)
	case !w.NotNull() && w.Is != AnyType && !c.Nullable && !def.AllowNull():
		steps = append(steps, "let it be NULL")
	}
	switch {
	case len(steps) > 0:
		return strings.Join(steps, "; ") + "; keep " + restOfDefinition, ""
	case !known:
		return fmt.Sprintf("make it %s; keep %s", w.DDL, restOfDefinition), ""
	}
	return "", "ALTER TABLE " + ident.Quote(t.Name) + " MODIFY COLUMN " + def.String()
}

// convert says how a column gets a type to which the server's own conversion may lose something.
func convert(r schema.Resource, w WantColumn, c *dict.Column) string {
	switch {
	case w.Name == r.Label.Key || w.Name == ident.ColStemKey:
		return fmt.Sprintf("drop it with its indexes and add it again NULLable; fill it in every row with %s; then make it %s", Content(r, w.Name), w.DDL)
	case c.Data == "timestamp":
		return "set the session's time_zone to '+00:00' and in that session make it " + w.DDL + " (in another time zone the change moves every value)"
	case w.Is == Characters:
		return fmt.Sprintf("make it %s %s, with the collation that you want (bytes that are UTF-8 already go through VARBINARY first)", w.DDL, inStrictMode)
	}
	return fmt.Sprintf("make it %s %s, and compare the values before and after", w.DDL, inStrictMode)
}

// pairFix makes a column of an active table and that of its archive the same.
func (v *verifier) pairFix(active, archive *dict.Table, a, b *dict.Column, collation bool) (words, statement string) {
	words = fmt.Sprintf("give the two the same type %s; look first whether every value fits, and keep %s", inStrictMode, restOfDefinition)
	_, activeWrong := v.wrong[a]
	if _, archiveWrong := v.wrong[b]; activeWrong || archiveWrong {
		return "see first to what else is said of the two; then verify says what is left", ""
	}
	if a.Computed() || b.Computed() || a.Charset != b.Charset || !a.Nullable && b.Nullable {
		return words, ""
	}
	t, c, kind := archive, b, a.Full
	if !a.Holds(b) { // it would not fit into the active table's type
		t, c, kind = active, a, b.Full
		if !b.Holds(a) || a.Nullable != b.Nullable || collation && a.Collation != b.Collation {
			return words, ""
		}
	}
	def, known := v.definition(t, c)
	if !known || t == archive && a.Nullable && !b.Nullable && !def.AllowNull() {
		return words, ""
	}
	def.Full = kind
	if collation && a.Collation != b.Collation {
		def = def.WithCollation(a.Charset, a.Collation)
	}
	return "make the two the same:", "ALTER TABLE " + ident.Quote(t.Name) + " MODIFY COLUMN " + def.String()
}

// addLike adds a column to the archive that is as the active table's, if rows can be without a value.
func (v *verifier) addLike(active, archive *dict.Table, a *dict.Column) (words, statement string) {
	words = fmt.Sprintf("add it as %q has it, NULLable first; fill it in every row; then make it %s %s", active.Name, a.Describe(), inStrictMode)
	def, known := v.definition(active, a)
	if !known {
		return words, ""
	}
	def = def.WithCollation(a.Charset, a.Collation)
	def.Replace(dict.Generates, "")
	if !Fills(def.Full + def.Text + def.Rest) {
		return words, ""
	}
	return "", "ALTER TABLE " + ident.Quote(archive.Name) + " ADD COLUMN " + def.String()
}

// ready says whether the columns are there and as they should be, or will be when the
// statements for them have run: then an index on them can be added.
func (v *verifier) ready(t *dict.Table, columns []string) bool {
	return !slices.ContainsFunc(columns, func(name string) bool { return t.Column(name) == nil || v.wrong[t.Column(name)] })
}
