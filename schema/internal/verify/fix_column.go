package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

const (
	theRest  = "the rest of its definition as SHOW CREATE TABLE shows it"
	inStrict = "in a session with a strict sql_mode (another one stores what does not fit as 0, as '' or cut)"
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

// fills says whether a column of this type can be added to a table with rows: it is NULL in
// them, or has its default.
func fills(ddl string) bool {
	text := unquoted(ddl)
	for _, word := range []string{"AUTO_INCREMENT", "UNIQUE", "KEY", "TIMESTAMP"} {
		if strings.Contains(text, word) {
			return false
		}
	}
	return strings.Contains(text, " DEFAULT ") || !strings.Contains(text, "NOT NULL")
}

// content says what belongs into a column of the toolkit's that is filled afterwards.
func content(r Resource, column string) string {
	switch column {
	case r.Label.Key, ColStemKey, ColCopyNo:
		return fmt.Sprintf("the Key, StemKey and Copy that names.Kind(%q).Parse returns for its %s", r.Label.Kind, r.Label.Column)
	case r.Owner, r.TenantColumn():
		return "whose row it is"
	case r.Parent.Column:
		return "the id of the row above"
	case ColCreatedAt, ColUpdatedAt, ColArchivedAt:
		return "a time in UTC"
	case r.ID:
		return "a number that no row of the active table and of the archive has"
	}
	return "its value"
}

// addFix is what to do about a column that is not there.
func addFix(r Resource, table string, c shape.Column) (words, statement string) {
	derived := r.Named() && (c.Name == r.Label.Key || c.Name == ColStemKey || c.Name == ColCopyNo)
	if fills(c.Type) && !derived {
		return "", "ALTER TABLE " + Quote(table) + " ADD COLUMN " + Quote(c.Name) + " " + c.Type
	}
	return fmt.Sprintf("add it NULLable (the plan has %s); fill it in every row with %s; then give it that type, %s", c.Type, content(r, c.Name), inStrict), ""
}

// modifyFix is what to do about a column that is not as it should be.
func (v *verifier) modifyFix(r Resource, w wantColumn, t *foundTable, c *foundColumn) (words, statement string) {
	def, known := v.found.definition(t, c)
	var steps []string
	if !w.is.fits(c, w.min) {
		kind := w.wider(c)
		if kind == "" {
			steps = append(steps, convert(r, w, c))
		} else if def.full, def.text = kind, def.in(c.charset, c.collation).text; w.is == utcTime {
			def.replace(now, "CURRENT_TIMESTAMP(6)")
		}
	}
	if set := w.charset(c); set != "" {
		steps = append(steps, "say so in the plan: CHARACTER SET "+set)
	}
	generated := strings.Contains(strings.ToLower(c.extra), "auto_increment")
	switch {
	case w.generated() && !generated:
		steps = append(steps, "make it AUTO_INCREMENT in a session whose sql_mode has NO_AUTO_VALUE_ON_ZERO (in another one a row with the id 0 gets another id)")
	case generated && !w.generated():
		def.replace(generates, "")
	}
	if w.is == utcTime {
		def.replace(moves, "")
	}
	switch {
	case w.notNull() && c.nullable:
		steps = append(steps, "fill the rows in which it is NULL, then make it NOT NULL "+inStrict)
	case !w.notNull() && w.is != anyType && !c.nullable && !def.free():
		steps = append(steps, "let it be NULL")
	}
	switch {
	case len(steps) > 0:
		return strings.Join(steps, "; ") + "; keep " + theRest, ""
	case !known:
		return fmt.Sprintf("make it %s; keep %s", w.ddl, theRest), ""
	}
	return "", "ALTER TABLE " + Quote(t.name) + " MODIFY COLUMN " + def.String()
}

// convert says how a column gets a type to which the server's own conversion may lose
// something.
func convert(r Resource, w wantColumn, c *foundColumn) string {
	switch {
	case w.name == r.Label.Key || w.name == ColStemKey:
		return fmt.Sprintf("drop it with its indexes and add it again NULLable; fill it in every row with %s; then make it %s", content(r, w.name), w.ddl)
	case c.data == "timestamp":
		return "set the session's time_zone to '+00:00' and in that session make it " + w.ddl + " (in another time zone the change moves every value)"
	case w.is == characters:
		return fmt.Sprintf("make it %s %s, with the collation that you want (bytes that are UTF-8 already go through VARBINARY first)", w.ddl, inStrict)
	}
	return fmt.Sprintf("make it %s %s, and compare the values before and after", w.ddl, inStrict)
}

// pairFix makes a column of an active table and that of its archive the same.
func (v *verifier) pairFix(active, archive *foundTable, a, b *foundColumn, collation bool) (words, statement string) {
	words = fmt.Sprintf("give the two the same type %s; look first whether every value fits, and keep %s", inStrict, theRest)
	for _, c := range []columnOf{{active, strings.ToLower(a.name)}, {archive, strings.ToLower(b.name)}} {
		if _, wrong := v.wrong[c]; wrong {
			return "see first to what else is said of the two; then verify says what is left", ""
		}
	}
	if a.computed() || b.computed() || a.charset != b.charset || !a.nullable && b.nullable {
		return words, ""
	}
	t, c, kind := archive, b, a.full
	if !a.holds(b) { // it would not fit into the active table's type
		t, c, kind = active, a, b.full
		if !b.holds(a) || a.nullable != b.nullable || collation && a.collation != b.collation {
			return words, ""
		}
	}
	def, known := v.found.definition(t, c)
	if !known || t == archive && a.nullable && !b.nullable && !def.free() {
		return words, ""
	}
	def.full = kind
	if collation && a.collation != b.collation {
		def = def.in(a.charset, a.collation)
	}
	return "make the two the same:", "ALTER TABLE " + Quote(t.name) + " MODIFY COLUMN " + def.String()
}

// addLike adds a column to the archive that is as the active table's, if rows can be
// without a value.
func (v *verifier) addLike(active, archive *foundTable, a *foundColumn) (words, statement string) {
	words = fmt.Sprintf("add it as %q has it, NULLable first; fill it in every row; then make it %s %s", active.name, a.describe(), inStrict)
	def, known := v.found.definition(active, a)
	if !known {
		return words, ""
	}
	def = def.in(a.charset, a.collation)
	def.replace(generates, "")
	if !fills(def.full + def.text + def.rest) {
		return words, ""
	}
	return "", "ALTER TABLE " + Quote(archive.name) + " ADD COLUMN " + def.String()
}

// ready says whether the columns are there and as they should be, or will be when the
// statements for them have run: then an index on them can be added.
func (v *verifier) ready(t *foundTable, columns []string) bool {
	return !slices.ContainsFunc(colset.Lower(columns), func(c string) bool { return t.column(c) == nil || v.wrong[columnOf{t, c}] })
}
