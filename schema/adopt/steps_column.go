package adopt

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
	"github.com/onerow/onerow/schema/internal/verify"
)

const (
	costInstant = "none that grows with the rows: ALGORITHM=INSTANT. Where the server says that it cannot (error 1845 or 1846: FULLTEXT, compressed rows, " +
		"64 instant changes), write ALGORITHM=INPLACE, LOCK=NONE instead: the table is rebuilt beside its writers"
	costCopy    = "the table may be copied, with writers waiting: try it on a copy of the table to know how long; on a large one use gh-ost or pt-online-schema-change"
	noWriters   = "nothing: who does not name the column is not concerned (INSERT without a list of columns has to get one)"
	backDropped = "DROP COLUMN: its values are lost"
)

// columns adds what is missing and widens what is too narrow, and says what it cannot do.
func (a *adopter) columns(want shape.Table, have *dict.Table) {
	for _, c := range want.Columns {
		found := have.Column(c.Name)
		if found == nil {
			a.addColumn(have, c)
			continue
		}
		a.fitColumn(have, c, found)
	}
}

// addColumn adds a column that other writers need not know: it has a default, or may be NULL until the last
// step.
func (a *adopter) addColumn(t *dict.Table, c shape.Column) {
	r := a.Resource
	if c.Name == r.ID {
		a.block(t, c.Name, "it does not exist, and each row is found by it", "make it the primary key: "+c.Type)
		return
	}
	if verify.Wanted(r, c).Is == verify.AnyType && !verify.Fills(c.Type) {
		a.block(t, c.Name, "it does not exist, and the plan gives its rows no value: "+c.Type, "let it be NULL or have a DEFAULT in the plan, or add it yourself, as only you know its values")
		return
	}
	kind, what := c.Type, ""
	if !verify.Fills(c.Type) {
		kind = nullable(c.Type)
		a.notNull[t] = append(a.notNull[t], lastColumn{c.Name, ident.Quote(c.Name) + " " + kind, ident.Quote(c.Name) + " " + c.Type})
		what = "; it may be NULL until the last file: " + filledBy(r, c.Name)
	}
	a.step(Step{Name: "add_" + trimmed(c.Name) + a.suffix(t), What: fmt.Sprintf("Adds %s.%s%s.", t.Name, c.Name, what),
		Cost: costInstant, Writers: noWriters, Back: backDropped,
		Up:   change{Done: hasColumn(t.Name, c.Name), SQL: "ALTER TABLE " + ident.Quote(t.Name) + " ADD COLUMN " + ident.Quote(c.Name) + " " + kind + ", ALGORITHM=INSTANT"},
		Down: change{Done: "NOT " + hasColumn(t.Name, c.Name), SQL: "ALTER TABLE " + ident.Quote(t.Name) + " DROP COLUMN " + ident.Quote(c.Name)}})
}

func filledBy(r schema.Resource, column string) string {
	switch column {
	case r.Label.Key, ident.ColStemKey, ident.ColCopyNo:
		return "cascade-worker adopt --backfill gives it " + verify.Content(r, column)
	case ident.ColCreatedAt, ident.ColUpdatedAt, ident.ColArchivedAt:
		return "nobody knows that time of the rows that are there, so the backfill writes its own; fill it first where you know better"
	}
	return "fill it with " + verify.Content(r, column) + ", in batches; the backfill cannot know it"
}

// suffix tells files about the archive from those about the active table.
func (a *adopter) suffix(t *dict.Table) string {
	if a.found.Key(t.Name) == a.found.Key(a.Resource.Active) {
		return ""
	}
	return "_archive"
}

// fitColumn sees to a column that is there. What a step would have to guess is said in Verify's words.
func (a *adopter) fitColumn(t *dict.Table, c shape.Column, have *dict.Column) {
	w := verify.Wanted(a.Resource, c)
	problem := w.Problem(have)
	if problem == "" {
		return
	}
	def, known := a.def(t, have)
	words := a.fix(t, c.Name, problem)
	generated := have.AutoIncrements()
	switch {
	case !known, w.Generated() != generated, w.Charset(have) != "", !w.NotNull() && w.Is != verify.AnyType && !have.Nullable:
		a.block(t, c.Name, problem, words)
		return
	case w.Is == verify.UTCTime && (have.Data == "timestamp" || have.Data == "datetime"):
		if have.Data == "timestamp" && literalDefault.MatchString(def.Rest) {
			a.block(t, c.Name, "its default is a constant that the server shows in the session's time zone", "drop that default, or "+words)
			return
		}
		// its type is seen to at last: until then its readers know it as it is
	case !w.Is.Fits(have, w.Min):
		kind := w.Wider(have)
		if kind == "" {
			a.block(t, c.Name, problem, words)
			return
		}
		wide := def.WithCollation(have.Charset, have.Collation)
		wide.Full = kind
		a.defs[have] = wide
		a.step(Step{Name: "widen_" + trimmed(c.Name) + a.suffix(t), What: fmt.Sprintf("Makes %s.%s %s instead of %s; %s.", t.Name, c.Name, kind, have.Full, w.Why),
			Cost: costCopy, Writers: "nothing", Back: "the type that it had; it fails where a value does not fit any more",
			Up: modify(t.Name, def, wide), Down: modify(t.Name, wide, def)})
	}
	if w.NotNull() && have.Nullable {
		a.notNull[t] = append(a.notNull[t], lastColumn{name: have.Name})
	}
}

// fix is what Verify says to do about a column.
func (a *adopter) fix(t *dict.Table, column, problem string) string {
	for _, s := range a.findings {
		if s.Kind == verify.ColumnWrong && a.found.Key(s.Table) == a.found.Key(t.Name) && s.Column == column && s.Problem == problem {
			return s.Fix
		}
	}
	return ""
}

// literalDefault finds a constant default, which for a TIMESTAMP is shown in the session's time zone, but for
// the zero value.
var literalDefault = regexp.MustCompile(`(?i) DEFAULT '[1-9]`)

// modify changes a column's type. Whether it was is seen by the type and by ON UPDATE, which both ways differ
// in.
func modify(table string, from, to dict.Definition) change {
	condition := fmt.Sprintf("column_type = %s", literal(to.Full))
	if dict.Moves.MatchString(from.Rest) != dict.Moves.MatchString(to.Rest) {
		not := "NOT "
		if dict.Moves.MatchString(to.Rest) {
			not = ""
		}
		condition += " AND extra " + not + "LIKE '%on update%'"
	}
	return change{Done: has("columns", table, " AND column_name = "+literal(to.Name)+" AND "+condition),
		SQL: "ALTER TABLE " + ident.Quote(table) + " MODIFY COLUMN " + to.String()}
}

// hasColumn, hasIndex and hasTable are conditions on the catalog.
func hasColumn(table, column string) string {
	return has("columns", table, " AND column_name = "+literal(column))
}

func hasIndex(table, index string) string {
	return has("statistics", table, " AND index_name = "+literal(index))
}

func hasTable(table string) string { return has("tables", table, "") }

// has says whether a view of the catalog has a row about a table for which more holds.
func has(view, table, more string) string {
	return fmt.Sprintf("EXISTS (SELECT 1 FROM information_schema.%s WHERE table_schema = DATABASE() AND table_name = %s%s)", view, literal(table), more)
}

// literal is a text as SQL where the sql_mode has no NO_BACKSLASH_ESCAPES, as in each file.
func literal(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(text) + "'"
}

var isNotNull = regexp.MustCompile(`(?i)\s+NOT\s+NULL\b`)

func nullable(kind string) string {
	return dict.OutsideQuotes(kind, func(part string) string { return isNotNull.ReplaceAllString(part, "") }) + " NULL"
}
