package schema

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-sql-driver/mysql"

	"github.com/onerow/onerow"
)

// definition is a column as SHOW CREATE TABLE has it: what MODIFY does not repeat is lost.
type definition struct {
	name, full, text, rest string // the column; its type; its character set and collation; NULL, DEFAULT, COMMENT and all else
}

func (d definition) String() string { return Quote(d.name) + " " + d.full + d.text + d.rest }

// sqlShowCreate needs SELECT on the whole table. Of information_schema no column says all
// that a column is: MariaDB's CHECK and MySQL's INVISIBLE, for example, are in it alone.
const sqlShowCreate = "SHOW CREATE TABLE "

// showCreate returns the statement, or "" where the user may not see it.
func showCreate(ctx context.Context, db onerow.DB, table string) (create string, err error) {
	err = onerow.Query(ctx, db, sqlShowCreate+Quote(table), nil, func(rows *sql.Rows) error {
		var name string
		return rows.Scan(&name, &create)
	})
	var my *mysql.MySQLError
	if errors.As(err, &my) && (isDenial(my.Number) || my.Number == erNoSuchTable) {
		return "", nil
	}
	return create, err
}

// wanting are the tables of which a first look found that it needs the definitions of columns.
func (d *database) wanting() []string { return slices.Sorted(maps.Keys(d.asked)) }

// readDefinitions reads the definitions of the columns: one statement for each table.
func (d *database) readDefinitions(ctx context.Context, db onerow.DB, tables []string) error {
	for _, name := range tables {
		create, err := showCreate(ctx, db, name)
		if err != nil {
			return err
		}
		d.creates[name] = create
	}
	return nil
}

// definition returns the column's whole definition, if it can be repeated in a statement
// that means the same in every session. That is not so of a backslash (NO_BACKSLASH_ESCAPES), of a
// double quote (ANSI_QUOTES), and of a TIMESTAMP, whose default is shown in the session's zone.
func (d *database) definition(t *foundTable, c *foundColumn) (definition, bool) {
	create, read := d.creates[t.name]
	if !read {
		d.asked[t.name] = true
		return definition{}, false
	}
	hidesOptions := strings.Contains(d.mode, "NO_FIELD_OPTIONS") // of MariaDB: AUTO_INCREMENT and others are left out
	if hidesOptions || c.computed() || c.data == "timestamp" {
		return definition{}, false
	}
	def, ok := cutDefinition(create, c)
	if !ok || strings.ContainsFunc(def.full+def.text+def.rest, ambiguous) {
		return definition{}, false
	}
	return def, true
}

// cutDefinition finds the column in what SHOW CREATE TABLE shows.
func cutDefinition(create string, c *foundColumn) (definition, bool) {
	for line := range strings.Lines(create) {
		rest, ok := cutColumn(strings.TrimSpace(line), c.name)
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(strings.TrimSuffix(rest, ","), c.full)
		text := textOptions.FindString(rest)
		return definition{c.name, c.full, text, rest[len(text):]}, ok
	}
	return definition{}, false
}

// ambiguous: it means something else under another sql_mode, or cannot be shown.
func ambiguous(r rune) bool { return r == '\\' || r == '"' || !unicode.IsPrint(r) }

var textOptions = regexp.MustCompile(`^(?: CHARACTER SET \w+)?(?: COLLATE \w+)?`)

// cutColumn: names are quoted, but for sql_quote_show_create = 0.
func cutColumn(line, name string) (rest string, ok bool) {
	for _, quoted := range []string{Quote(name), `"` + strings.ReplaceAll(name, `"`, `""`) + `"`, name} {
		if rest, ok = strings.CutPrefix(line, quoted+" "); ok {
			return rest, true
		}
	}
	return "", false
}

// in names the character set and the collation, which are the table's own where the
// definition leaves them out.
func (d definition) in(charset, collation string) definition {
	if charset != "" {
		d.text = " CHARACTER SET " + charset + " COLLATE " + collation
	}
	return d
}

// free lets it be NULL.
func (d *definition) free() bool {
	rest, ok := strings.CutPrefix(d.rest, " NOT NULL")
	if ok {
		d.rest = " NULL" + rest
	}
	return ok
}

var (
	generates = regexp.MustCompile(`(?i) AUTO_INCREMENT\b`)
	moves     = regexp.MustCompile(`(?i) ON UPDATE CURRENT_TIMESTAMP(?:\(\d*\))?`)
	now       = regexp.MustCompile(`(?i)\bCURRENT_TIMESTAMP(?:\(\d*\))?`)
)

// replace changes what stands outside of quotes.
func (d *definition) replace(what *regexp.Regexp, with string) {
	d.rest = outside(d.rest, func(part string) string { return what.ReplaceAllString(part, with) })
}

// outside applies change to the parts of the text that no quote encloses. There is no
// backslash in it.
func outside(text string, change func(string) string) string {
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
