package dict

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"unicode"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/mysqlerr"
)

// Definition is a column as SHOW CREATE TABLE has it: what MODIFY does not repeat is lost.
type Definition struct {
	Name, Full, Text, Rest string // the column; its type; its character set and collation; NULL, DEFAULT, COMMENT and all else
}

// String returns the definition as ALTER TABLE has it.
func (d Definition) String() string { return ident.Quote(d.Name) + " " + d.Full + d.Text + d.Rest }

// sqlShowCreate needs SELECT on the whole table. Of information_schema no column says all
// that a column is: MariaDB's CHECK and MySQL's INVISIBLE, for example, are in it alone.
const sqlShowCreate = "SHOW CREATE TABLE "

// Create returns SHOW CREATE TABLE of a table, which is read once, or "" where the user may not see it.
func (d *Database) Create(ctx context.Context, db onerow.DB, table string) (string, error) {
	if create, read := d.Creates[table]; read {
		return create, nil
	}
	var name, create string
	err := onerow.Query(ctx, db, sqlShowCreate+ident.Quote(table), nil, func(rows *sql.Rows) error { return rows.Scan(&name, &create) })
	if err != nil && !Denied(err) && mysqlerr.Number(err) != erNoSuchTable {
		return "", err
	}
	d.Creates[table] = create
	return create, nil
}

// Definition returns the column's whole definition, as SHOW CREATE TABLE has it, if it can be repeated in a
// statement that means the same in every session. That is not so of a backslash (NO_BACKSLASH_ESCAPES), of a
// double quote (ANSI_QUOTES), and of a TIMESTAMP, whose default is shown in the session's zone.
func (d *Database) Definition(create string, c *Column) (Definition, bool) {
	hidesOptions := strings.Contains(d.Mode, "NO_FIELD_OPTIONS") // of MariaDB: AUTO_INCREMENT and others are left out
	if hidesOptions || c.Computed() || c.Data == "timestamp" {
		return Definition{}, false
	}
	def, ok := FindDefinition(create, c)
	if !ok || strings.ContainsFunc(def.Full+def.Text+def.Rest, ambiguous) {
		return Definition{}, false
	}
	return def, true
}

// FindDefinition finds the column in what SHOW CREATE TABLE shows.
func FindDefinition(create string, c *Column) (Definition, bool) {
	for line := range strings.Lines(create) {
		rest, ok := cutColumn(strings.TrimSpace(line), c.Name)
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(strings.TrimSuffix(rest, ","), c.Full)
		text := textOptions.FindString(rest)
		return Definition{c.Name, c.Full, text, rest[len(text):]}, ok
	}
	return Definition{}, false
}

// ambiguous says whether a character means something else under another sql_mode, or cannot be shown.
func ambiguous(r rune) bool { return r == '\\' || r == '"' || !unicode.IsPrint(r) }

var textOptions = regexp.MustCompile(`^(?: CHARACTER SET \w+)?(?: COLLATE \w+)?`)

// cutColumn cuts the name off its line: it is quoted, but for sql_quote_show_create = 0.
func cutColumn(line, name string) (rest string, ok bool) {
	for _, quoted := range []string{ident.Quote(name), `"` + strings.ReplaceAll(name, `"`, `""`) + `"`, name} {
		if rest, ok = strings.CutPrefix(line, quoted+" "); ok {
			return rest, true
		}
	}
	return "", false
}

// WithCollation names the character set and the collation, which are the table's own where the
// definition leaves them out.
func (d Definition) WithCollation(charset, collation string) Definition {
	if charset != "" {
		d.Text = " CHARACTER SET " + charset + " COLLATE " + collation
	}
	return d
}

// AllowNull lets the column be NULL, and says whether its definition can.
func (d *Definition) AllowNull() bool {
	rest, ok := strings.CutPrefix(d.Rest, " NOT NULL")
	if ok {
		d.Rest = " NULL" + rest
	}
	return ok
}

// ForbidNull makes the column NOT NULL.
func (d *Definition) ForbidNull() {
	if strings.HasPrefix(d.Rest, " NOT NULL") {
		return
	}
	d.Rest = isNull.ReplaceAllString(d.Rest, "")
	d.Replace(defaultNull, "")
	d.Rest = " NOT NULL" + d.Rest
}

var (
	isNull      = regexp.MustCompile(`(?i)^ NULL\b`)
	defaultNull = regexp.MustCompile(`(?i) DEFAULT NULL\b`)
)

// What a definition may say behind its type, for [Definition.Replace].
var (
	Generates = regexp.MustCompile(`(?i) AUTO_INCREMENT\b`)
	Moves     = regexp.MustCompile(`(?i) ON UPDATE CURRENT_TIMESTAMP(?:\(\d*\))?`)
	Now       = regexp.MustCompile(`(?i)\bCURRENT_TIMESTAMP(?:\(\d*\))?`)
)

// Replace changes what stands outside of quotes.
func (d *Definition) Replace(what *regexp.Regexp, with string) {
	d.Rest = OutsideQuotes(d.Rest, func(part string) string { return what.ReplaceAllString(part, with) })
}

// OutsideQuotes applies change to the parts of the text that no quote encloses. There is no backslash in it.
func OutsideQuotes(text string, change func(string) string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(text, "'`")
		if at < 0 {
			return b.String() + change(text)
		}
		b.WriteString(change(text[:at]))
		end := strings.IndexByte(text[at+1:], text[at])
		if end < 0 {
			return b.String() + text[at:]
		}
		b.WriteString(text[at : at+end+2])
		text = text[at+end+2:]
	}
}
