package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// Age is how long something is kept. As text it is a number of days, "30d", or what [time.ParseDuration]
// takes, "36h"; "none" is [NoTrash].
type Age time.Duration

// NoTrash is the age of what is not kept at all.
const NoTrash Age = -1

const day = 24 * time.Hour

// UnmarshalText reads an age.
func (a *Age) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "none" {
		*a = NoTrash
		return nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 32); err == nil && n > 0 && n <= longestDays {
			*a = Age(time.Duration(n) * day)
			return nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > longestDays*day {
		return fmt.Errorf("%q is no age: it is a number of days as in 30d, or hours as in 36h, up to %dd; or none", s, longestDays)
	}
	*a = Age(d)
	return nil
}

const longestDays = 36500

// MarshalText writes it as UnmarshalText reads it.
func (a Age) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// String is "30d", "36h0m0s" or "none".
func (a Age) String() string {
	switch d := time.Duration(a); {
	case a < 0:
		return "none"
	case d > 0 && d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	default:
		return d.String()
	}
}

// or is a, or what holds where nothing is said.
func (a Age) or(plan Age) Age {
	if a == 0 {
		a = plan
	}
	return max(a, 0)
}

// The columns that a trash table has beside those of the table whose rows it keeps. The first two are in its
// key, before that of the table.
const (
	ColTrashJob  = "onerow_job"  // that has deleted the row
	ColTrashStep = "onerow_step" // how many statements of the job had kept rows before
	ColTrashLost = "onerow_lost" // over which edges the row referred to one that was not there; 0: over none
)

// trashPrefix begins the names of trash tables, and longestName is how many characters a table's name has.
const (
	trashPrefix = "onerow_trash_"
	longestName = 64
)

// TrashTable is the name of the table that keeps the deleted rows of a table. A long name is cut and ends
// with eight digits of its hash.
func TrashTable(table string) string {
	name := []rune(trashPrefix + table)
	if len(name) <= longestName {
		return string(name)
	}
	sum := sha256.Sum256([]byte(table))
	digits := "_" + hex.EncodeToString(sum[:4])
	return string(name[:longestName-len(digits)]) + digits
}

// Kept are the tables of the plan whose deleted rows are kept.
func (p Plan) Kept() (tables []string) {
	for _, n := range p.Nodes() {
		if n.Trash > 0 {
			tables = append(tables, n.Tables...)
		}
	}
	return tables
}

// TrashDDL returns a CREATE TABLE statement for each trash table that the plan asks for and the database does
// not have. A trash table has the columns of its table, in their exact types, and none of its constraints, so
// only the catalog knows what it is made of. Errors: [ErrInvalidPlan], where a table or its key is missing,
// or where no server would take the trash tables; it names all of these.
func (c *Catalog) TrashDDL(p Plan) ([]string, error) {
	var all []string
	var refused []error
	for _, n := range p.Nodes() {
		if n.Trash <= 0 {
			continue
		}
		for _, name := range n.Tables {
			if c.found.table(TrashTable(name)) != nil {
				continue
			}
			have := c.found.table(name)
			if have == nil || len(have.primary()) == 0 {
				return nil, fmt.Errorf("%w: trash of %q: there is no such table, or it has no primary key", ErrInvalidPlan, name)
			}
			if problem := have.noTrash(); problem != "" {
				refused = append(refused, noTrashError(name, problem))
			}
			all = append(all, have.trashDDL())
		}
	}
	if len(refused) > 0 {
		return nil, errors.Join(refused...)
	}
	return all, nil
}

func noTrashError(table, problem string) error {
	return fmt.Errorf("%w: deleted rows of %q cannot be kept: %s; %s", ErrInvalidPlan, table, problem, sayNoTrash(table))
}

func sayNoTrash(table string) string {
	return fmt.Sprintf("say trash: none for %q in the plan, and its deleted rows are gone for good", table)
}

// What InnoDB takes: columns of a table, bytes of a key, and columns of a key, of which MariaDB takes more.
const (
	mostColumns    = 1017
	mostKeyBytes   = 3072
	mostKeyColumns = 16
)

// noTrash says why no server takes a trash table for the table, or nothing.
func (t *foundTable) noTrash() string {
	columns := []string{ColTrashJob, ColTrashStep, ColTrashLost}
	own := len(columns)
	for i := range t.columns {
		f := &t.columns[i]
		switch {
		case f.computed():
		case colset.Has(columns[:own], f.name):
			return fmt.Sprintf("it has a column %q, which is the name of a column that each trash table has beside those of its table", f.name)
		default:
			columns = append(columns, f.name)
		}
	}
	key, bytes := t.primary(), int64(16)
	for _, name := range key {
		bytes += t.column(name).keyBytes()
	}
	switch {
	case len(columns) > mostColumns:
		return fmt.Sprintf("it has %d columns, and a trash table has %d more and would have more than the %d that InnoDB takes", len(columns)-own, own, mostColumns)
	case len(key)+2 > mostKeyColumns:
		return fmt.Sprintf("its primary key has %d columns, and that of a trash table has 2 more and would have more than %d", len(key), mostKeyColumns)
	case bytes > mostKeyBytes:
		return fmt.Sprintf("its primary key is as wide as %d bytes, and that of a trash table is 16 bytes wider and would be wider than the %d that InnoDB takes", bytes-16, mostKeyBytes)
	}
	return ""
}

// keyBytes is how wide a column of text or bytes is in a key; 0 for others, which are narrow.
func (c *foundColumn) keyBytes() int64 {
	wide := map[string]int64{"utf8mb4": 4, "utf16": 4, "utf16le": 4, "utf32": 4, "gb18030": 4, "utf8mb3": 3, "utf8": 3, "ujis": 3, "eucjpms": 3,
		"ucs2": 2, "big5": 2, "gbk": 2, "gb2312": 2, "sjis": 2, "cp932": 2, "euckr": 2}[c.charset]
	switch c.data {
	case "char", "varchar", "binary", "varbinary":
		return c.length * max(wide, 1)
	}
	return 0
}

// trashDDL makes the trash table of a table.
func (t *foundTable) trashDDL() string {
	lines := []string{"  " + Quote(ColTrashJob) + " " + shape.TypeID, "  " + Quote(ColTrashStep) + " " + shape.TypeID, "  " + Quote(ColTrashLost) + " " + shape.TypeFlag}
	key := []string{ColTrashJob, ColTrashStep}
	for _, col := range t.primary() {
		key = append(key, t.column(col).name)
	}
	for i := range t.columns {
		if f := &t.columns[i]; !f.computed() {
			lines = append(lines, "  "+Quote(f.name)+" "+f.kept(slices.Contains(key, f.name)))
		}
	}
	lines = append(lines, "  PRIMARY KEY ("+ident.Quotes(key...)+")")
	return fmt.Sprintf("CREATE TABLE %s (\n%s\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", Quote(TrashTable(t.name)), strings.Join(lines, ",\n"))
}

// kept is the definition of the column in the trash table. What is not in the key may be NULL: it is never
// refused there.
func (f *foundColumn) kept(key bool) string {
	text := f.full
	if f.collation != "" {
		text += " CHARACTER SET " + f.charset + " COLLATE " + f.collation
	}
	if key {
		return text + " NOT NULL"
	}
	return text + " NULL DEFAULT NULL"
}

// TrashColumns returns the columns of a table that its trash table keeps, which are all that somebody can
// write, or says why the trash table cannot keep them.
func (c *Catalog) TrashColumns(table string) ([]string, error) {
	have, trash := c.found.table(table), c.found.table(TrashTable(table))
	switch {
	case have == nil:
		return nil, fmt.Errorf("%w: there is no table %q, or the user has no right on it", ErrInvalidPlan, table)
	case trash == nil && have.noTrash() != "":
		return nil, noTrashError(table, have.noTrash())
	case trash == nil:
		return nil, fmt.Errorf("%w: deleted rows of %q are to be kept, and there is no table %q; cascade-worker ddl --trash prints it", ErrInvalidPlan, table, TrashTable(table))
	}
	var columns []string
	for i := range have.columns {
		f := &have.columns[i]
		if f.computed() {
			continue
		}
		if problem := trash.cannotKeep(f); problem != "" {
			return nil, fmt.Errorf("%w: deleted rows of %q are to be kept in %q, and %s; see cascade-worker verify", ErrInvalidPlan, table, trash.name, problem)
		}
		columns = append(columns, f.name)
	}
	want := append([]string{ColTrashJob, ColTrashStep}, have.primary()...)
	if !slices.Equal(trash.primary(), colset.Lower(want)) {
		return nil, fmt.Errorf("%w: the primary key of %q is (%s), it should be (%s)", ErrInvalidPlan, trash.name,
			strings.Join(trash.primary(), ", "), strings.Join(want, ", "))
	}
	return columns, nil
}

// cannotKeep says what keeps a trash table from holding every value of a column, or nothing.
func (t *foundTable) cannotKeep(f *foundColumn) string {
	have := t.column(f.name)
	switch {
	case have == nil:
		return fmt.Sprintf("it has no column %q", f.name)
	case have.full != f.full || have.collation != f.collation:
		return fmt.Sprintf("its column %q is %s, not %s", f.name, have.collated(), f.collated())
	case f.nullable && !have.nullable:
		return fmt.Sprintf("its column %q may not be NULL", f.name)
	}
	return ""
}

// InsertTrigger returns the first trigger of a table that runs with an INSERT, as rows that come back are,
// and that is not among those that somebody has accepted; or nothing.
func (c *Catalog) InsertTrigger(table string, accepted []string) string {
	return c.found.insertTrigger(table, accepted)
}

// insertTrigger returns the first trigger of a table that runs with an INSERT and that is not accepted.
func (d *database) insertTrigger(table string, accepted []string) string {
	t := d.table(table)
	if t == nil {
		return ""
	}
	for _, tr := range t.triggers {
		if strings.EqualFold(tr.event, "INSERT") && !colset.Has(accepted, tr.name) {
			return tr.name
		}
	}
	return ""
}

// trash holds the trash tables against the tables whose rows they keep.
func (v *verifier) trash(nodes []Node) {
	for _, n := range nodes {
		if n.Trash <= 0 {
			continue
		}
		for _, name := range n.Tables {
			have := v.found.table(name)
			if have == nil || len(have.primary()) == 0 {
				continue // said already
			}
			trash := v.found.table(TrashTable(name))
			if problem := have.noTrash(); trash == nil && problem != "" {
				v.say(tableMissing, difference{Table: TrashTable(name), Problem: fmt.Sprintf("it does not exist and cannot be made, so no row of %q is deleted: %s", name, problem), Fix: sayNoTrash(name)}, "")
				continue
			}
			if trash == nil {
				v.say(tableMissing, difference{Table: TrashTable(name), Problem: fmt.Sprintf("it does not exist; deleted rows of %q are kept in it, and until it is there none is deleted", name),
					Fix: "run what cascade-worker ddl --trash prints"}, "")
				continue
			}
			for i := range have.columns {
				f := &have.columns[i]
				problem := trash.cannotKeep(f)
				if f.computed() || problem == "" {
					continue
				}
				d, statement := difference{Table: trash.name, Column: f.name, Problem: fmt.Sprintf("deleted rows of %q are kept in it, and %s", name, problem),
					Fix: "make it that of " + name + ", when nothing is in the trash that would not fit"}, ""
				if trash.column(f.name) == nil {
					d.Fix, statement = "add it:", "ALTER TABLE "+Quote(trash.name)+" ADD COLUMN "+Quote(f.name)+" "+f.kept(false)
				}
				v.say(columnMissing, d, statement)
			}
			if tr := v.found.insertTrigger(name, n.Triggers); tr != "" {
				v.say(foreignTrigger, difference{Table: name, Problem: fmt.Sprintf("the trigger %q runs with each row that comes back from the trash", tr),
					Fix: fmt.Sprintf("look at it: if it may run again, say so in the plan, triggers: [%s]; otherwise say trash: none", tr)}, "")
			}
		}
	}
}
