package adopt

import (
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
	"github.com/onerow/onerow/schema/internal/verify"
)

// times makes times UTC in microseconds that nobody but a writer moves. A TIMESTAMP keeps its moment, for the
// file's session is at UTC; its default becomes the same moment in UTC.
func (a *adopter) times(want shape.Table, have *dict.Table) {
	for _, c := range want.Columns {
		w, found := verify.Wanted(a.Resource, c), have.Column(c.Name)
		if w.Is != verify.UTCTime || found == nil || w.Is.Fits(found, w.Min) && !dict.Moves.MatchString(" "+found.Extra) {
			continue
		}
		old, known := a.def(have, found)
		if !known || found.Data != "timestamp" && found.Data != "datetime" {
			continue // said
		}
		def := old
		def.Full = "datetime(6)"
		def.Replace(dict.Moves, "")
		writers, what := []string{"it writes " + c.Name + " itself, as UTC_TIMESTAMP(6)"}, "Its values stay what they are, and are taken for UTC"
		if found.Data == "timestamp" {
			def.Replace(dict.Now, "(UTC_TIMESTAMP(6))")
			what = "Each value stays the moment that it is, and is UTC from now on"
			writers = append(writers, "it reads UTC, not the time of its session")
		} else {
			def.Replace(dict.Now, "CURRENT_TIMESTAMP(6)")
		}
		a.defs[found] = def
		if dict.Moves.MatchString(old.Rest) {
			writers = append(writers, "nothing moves it with an UPDATE any more (ON UPDATE would do so with each change of a flag, too)")
		}
		a.step(Step{Name: "time_" + trimmed(c.Name) + a.suffix(have), Last: true,
			What: fmt.Sprintf("Makes %s.%s a DATETIME(6) without ON UPDATE. %s.", have.Name, c.Name, what),
			Cost: costCopy, Writers: strings.Join(writers, "; "), Back: "the type that it had, with fractions of a second rounded to it",
			Up: modify(have.Name, old, def), Down: modify(have.Name, def, old)})
	}
}

// last makes NOT NULL what was NULL until here, in one statement, and refuses while a row has no value: the
// ALTER itself does, for the session is strict, and the condition says it in words before the table is
// rebuilt.
func (a *adopter) last(t *dict.Table) {
	var names, empty, up, down, columns []string
	for _, c := range a.notNull[t] {
		if found := t.Column(c.name); found != nil {
			def, _ := a.def(t, found)
			c.before = def.String()
			def.ForbidNull()
			c.after = def.String()
		}
		names, columns = append(names, c.name), append(columns, literal(c.name))
		empty = append(empty, ident.Quote(c.name)+" IS NULL")
		up, down = append(up, "MODIFY COLUMN "+c.after), append(down, "MODIFY COLUMN "+c.before)
	}
	if len(names) == 0 {
		return
	}
	a.laterNotNull[t.Name] = names
	nulls := func(word string) string {
		return "NOT " + has("columns", t.Name, fmt.Sprintf(" AND column_name IN (%s) AND is_nullable = '%s'", strings.Join(columns, ", "), word))
	}
	alter := "ALTER TABLE " + ident.Quote(t.Name) + " "
	a.step(Step{Name: "not_null" + a.suffix(t), Last: true,
		What:    fmt.Sprintf("Makes %s of %s NOT NULL, and refuses while a row lacks one. Run cascade-worker adopt %s --backfill before it, until it finds nothing to do.", strings.Join(names, ", "), t.Name, a.Resource.Name),
		Cost:    "the table is rebuilt beside its readers and writers: ALGORITHM=INPLACE, LOCK=NONE",
		Writers: "it writes all of these columns with each row, and the keys of names with each new name; who cannot stops before this file",
		Back:    "the columns may be NULL again; nothing is lost",
		Up: change{Done: nulls("YES"), Refused: "EXISTS (SELECT 1 FROM " + ident.Quote(t.Name) + " WHERE " + strings.Join(empty, " OR ") + ")",
			Because: "rows lack values: run cascade-worker adopt --backfill first", SQL: alter + strings.Join(up, ", ") + ", ALGORITHM=INPLACE, LOCK=NONE"},
		Down: change{Done: nulls("NO"), SQL: alter + strings.Join(down, ", ")}})
}
