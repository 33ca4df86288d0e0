package adopt

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
)

// Files returns the steps of an adoption as goose migrations, the first of which has that number: the names
// of the files, NNNNN_adopt_resource_what.sql, and what is in each. Each is one statement of DDL that runs
// unless the catalog shows its work: so a file may be run again after a crash between the DDL, which commits
// by itself, and the end of the file. It sets the session's sql_mode, time zone and the two timeouts of
// locks, so that it means the same everywhere and does not queue up all others for long behind a lock that it
// waits for (a copy waits for rows too, which its foreign keys check), and sets them back, but where it
// fails. Its statements need one session: goose gives them one, for the files run in a transaction.
func Files(a *Adoption, first int64) iter.Seq2[string, string] {
	return func(yield func(name, text string) bool) {
		for i, s := range a.Steps {
			if !yield(fmt.Sprintf("%05d_adopt_%s_%s.sql", first+int64(i), word(a.Resource.Name), s.Name), text(a, s, i)) {
				return
			}
		}
	}
}

const width = 106

func text(a *Adoption, s Step, i int) string {
	var b strings.Builder
	comment := func(text string) {
		for _, line := range wrap(text, width) {
			b.WriteString("-- " + line + "\n")
		}
	}
	when := "before the backfill"
	if s.Last {
		when = "behind the backfill"
	}
	comment(fmt.Sprintf("%s becomes a resource, step %d of %d, %s.", a.Resource.Active, i+1, len(a.Steps), when))
	comment(s.What)
	comment("Cost: " + s.Cost + ".")
	comment("Other writers, from now on: " + s.Writers + ".")
	comment("Back: " + s.Back + ".")
	for _, part := range []struct {
		direction string
		change    change
	}{{"Up", s.Up}, {"Down", s.Down}} {
		b.WriteString("\n-- +goose " + part.direction + "\n")
		for _, stmt := range statements(part.change) {
			if strings.Contains(stmt, "\n") {
				stmt = "-- +goose StatementBegin\n" + stmt + ";\n-- +goose StatementEnd\n"
			} else {
				stmt += ";\n"
			}
			b.WriteString(stmt)
		}
	}
	return b.String()
}

const (
	begin = `SET @onerow_mode = @@SESSION.sql_mode, @onerow_zone = @@SESSION.time_zone, @onerow_wait = @@SESSION.lock_wait_timeout, @onerow_row_wait = @@SESSION.innodb_lock_wait_timeout`
	set   = `SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO', SESSION time_zone = '+00:00', SESSION lock_wait_timeout = 10, SESSION innodb_lock_wait_timeout = 10`
	end   = `SET SESSION sql_mode = @onerow_mode, SESSION time_zone = @onerow_zone, SESSION lock_wait_timeout = @onerow_wait, SESSION innodb_lock_wait_timeout = @onerow_row_wait`
)

// statements are those of a change, for one session. Only the last EXECUTE changes anything.
func statements(c change) []string {
	run := []string{"PREPARE onerow_ddl FROM @onerow_ddl", "EXECUTE onerow_ddl", "DEALLOCATE PREPARE onerow_ddl"}
	all := []string{begin, set, "SET @onerow_done = " + c.Done + ", @onerow_refused = 0"}
	what := literal(c.SQL)
	if c.Other != "" {
		what = fmt.Sprintf("IF(%s,\n%s,\n%s)", c.Other, literal(c.OtherSQL), what)
	}
	if c.Refused != "" {
		all = append(all, "SET @onerow_ddl = IF(@onerow_done, 'DO 0', "+literal("SET @onerow_refused = "+c.Refused)+")")
		all = append(all, run...)
		what = fmt.Sprintf("IF(@onerow_refused, 'SELECT `%s`',\n%s)", c.Because, what)
	}
	all = append(all, "SET @onerow_ddl = IF(@onerow_done, 'DO 0',\n"+what+")")
	return append(append(all, run...), end)
}

// word is a name in a form for the name of a file.
func word(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name))
}

// trimmed is such a word without what would only be in the way at its ends.
func trimmed(name string) string { return strings.Trim(word(name), "_") }

// wrap breaks a text into lines. Names in it are the database's, so what cannot be shown is a space.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		if line != "" && len(line)+1+len(w) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += w
	}
	return append(lines, line)
}
