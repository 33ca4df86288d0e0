package schema

import (
	"fmt"
	"strings"
)

// times makes times UTC in microseconds that nobody but a writer moves. A TIMESTAMP keeps its moment, for the
// file's session is at UTC; its default becomes the same moment in UTC.
func (a *adopter) times(want table, have *foundTable) {
	for _, c := range want.columns {
		w, found := wanted(a.Resource, c), have.column(c.Name)
		if w.is != utcTime || found == nil || w.is.fits(found, w.min) && !moves.MatchString(" "+found.extra) {
			continue
		}
		old, known := a.def(have, found)
		if !known || found.data != "timestamp" && found.data != "datetime" {
			continue // said
		}
		def := old
		def.full = "datetime(6)"
		def.replace(moves, "")
		writers, what := []string{"it writes " + c.Name + " itself, as UTC_TIMESTAMP(6)"}, "Its values stay what they are, and are taken for UTC"
		if found.data == "timestamp" {
			def.replace(now, "(UTC_TIMESTAMP(6))")
			what = "Each value stays the moment that it is, and is UTC from now on"
			writers = append(writers, "it reads UTC, not the time of its session")
		} else {
			def.replace(now, "CURRENT_TIMESTAMP(6)")
		}
		a.setDef(have, def)
		if moves.MatchString(old.rest) {
			writers = append(writers, "nothing moves it with an UPDATE any more (ON UPDATE would do so with each change of a flag, too)")
		}
		a.step(Step{Name: "time_" + fileWord(c.Name) + a.suffix(have), Last: true,
			What: fmt.Sprintf("Makes %s.%s a DATETIME(6) without ON UPDATE. %s.", have.name, c.Name, what),
			Cost: costCopy, Writers: strings.Join(writers, "; "), Back: "the type that it had, with fractions of a second rounded to it",
			Up: modify(have.name, old, def), Down: modify(have.name, def, old)})
	}
}

// last makes NOT NULL what was NULL until here, in one statement, and refuses while a row has no value: the
// ALTER itself does, for the session is strict, and the condition says it in words before the table is
// rebuilt.
func (a *adopter) last(t *foundTable) {
	var names, empty, up, down, columns []string
	for _, c := range a.notNull[t] {
		if found := t.column(c.name); found != nil {
			def, _ := a.def(t, found)
			c.before = def.String()
			def.bind()
			c.after = def.String()
		}
		names, columns = append(names, c.name), append(columns, literal(c.name))
		empty = append(empty, Quote(c.name)+" IS NULL")
		up, down = append(up, "MODIFY COLUMN "+c.after), append(down, "MODIFY COLUMN "+c.before)
	}
	if len(names) == 0 {
		return
	}
	a.NotNull[t.name] = names
	nulls := func(word string) string {
		return fmt.Sprintf("NOT EXISTS (SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = %s AND column_name IN (%s) AND is_nullable = '%s')",
			literal(t.name), strings.Join(columns, ", "), word)
	}
	alter := "ALTER TABLE " + Quote(t.name) + " "
	a.step(Step{Name: "not_null" + a.suffix(t), Last: true,
		What:    fmt.Sprintf("Makes %s of %s NOT NULL, and refuses while a row lacks one. Run cascade-worker adopt %s --backfill before it, until it finds nothing to do.", strings.Join(names, ", "), t.name, a.Resource.Name),
		Cost:    "the table is rebuilt beside its readers and writers: ALGORITHM=INPLACE, LOCK=NONE",
		Writers: "it writes all of these columns with each row, and the keys of names with each new name; who cannot stops before this file",
		Back:    "the columns may be NULL again; nothing is lost",
		Up: Change{Done: nulls("YES"), Refused: "EXISTS (SELECT 1 FROM " + Quote(t.name) + " WHERE " + strings.Join(empty, " OR ") + ")",
			Because: "rows lack values: run cascade-worker adopt --backfill first", SQL: alter + strings.Join(up, ", ") + ", ALGORITHM=INPLACE, LOCK=NONE"},
		Down: Change{Done: nulls("NO"), SQL: alter + strings.Join(down, ", ")}})
}
