package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema/internal/shape"
)

// wantColumn is a column and what matters of its type.
type wantColumn struct {
	name, ddl string
	is        family
	min       int64  // bytes of an integer, bytes or characters of the others
	why       string // what depends on it
}

type family int

const (
	anyType family = iota
	integer
	variableBytes // VARBINARY
	fixedBytes    // BINARY of exactly this length
	characters    // utf8mb4
	keyText       // CHAR or VARCHAR of any character set
	utcTime       // DATETIME(6)
)

// integerSize is how many bytes a type of integers has; 0: it is no such type.
func integerSize(data string) int64 {
	return map[string]int64{"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}[data]
}

func (c wantColumn) notNull() bool { return strings.Contains(strings.ToUpper(c.ddl), "NOT NULL") }

func (c wantColumn) generated() bool {
	return strings.Contains(strings.ToUpper(c.ddl), "AUTO_INCREMENT")
}

func (f family) fits(have *foundColumn, min int64) bool {
	switch f {
	case integer:
		return integerSize(have.data) >= min
	case variableBytes:
		return have.data == "varbinary" && have.length >= min
	case fixedBytes:
		return have.data == "binary" && have.length == min
	case keyText:
		return strings.HasSuffix(have.data, "char") && have.length >= min
	case characters:
		return have.charset == "utf8mb4" && have.length >= min
	case utcTime:
		return have.data == "datetime" && have.precision == 6
	}
	return true
}

// problem says what is wrong with the column, "" for nothing.
func (c wantColumn) problem(have *foundColumn) string {
	if have == nil {
		return "it does not exist"
	}
	var problems []string
	if !c.is.fits(have, c.min) {
		kind := have.full
		if have.charset != "" {
			kind += " " + have.charset
		}
		problems = append(problems, fmt.Sprintf("it is %s, not %s", kind, c.ddl))
	}
	if set := c.charset(have); set != "" {
		problems = append(problems, fmt.Sprintf("its character set is %s, which the plan does not say", set))
	}
	switch {
	case c.notNull() && have.nullable:
		problems = append(problems, "it may be NULL")
	case !c.notNull() && c.is != anyType && !have.nullable:
		problems = append(problems, "it must not be NULL, and will be")
	}
	auto := strings.Contains(strings.ToLower(have.extra), "auto_increment")
	switch {
	case c.generated() && !auto:
		problems = append(problems, "it is not AUTO_INCREMENT")
	case !c.generated() && auto:
		problems = append(problems, "it is AUTO_INCREMENT, but rows come here with their id")
	}
	if c.is == utcTime && strings.Contains(strings.ToLower(have.extra), "on update") {
		problems = append(problems, "it changes by itself with every update, the quota flag's among them")
	}
	if len(problems) == 0 {
		return ""
	}
	if c.why != "" {
		problems = append(problems, c.why)
	}
	return strings.Join(problems, "; ")
}

// charset is the character set of a column for keys, where the plan says another one: a value that is not of
// the column's would be compared without its index.
func (c wantColumn) charset(have *foundColumn) string {
	if c.is != keyText || have.charset == "" {
		return ""
	}
	if t, err := keytype.Parse(c.ddl); err != nil || t.Charset == have.charset || t.Charset == "utf8mb3" && have.charset == "utf8" {
		return ""
	}
	return have.charset
}

// want says what matters of a column of the resource.
func wanted(r Resource, c shape.Column) wantColumn {
	w := wantColumn{name: c.Name, ddl: c.Type}
	switch c.Name {
	case r.ID:
		w.is, w.min = keyFamily(c.Type)
		w.why = "a row keeps its id when it goes to the archive and comes back"
		if strings.Contains(strings.ToUpper(r.IDType), "AUTO_INCREMENT") {
			w.why = "a row gets its id in the active table and keeps it in the archive"
		}
	case ColVersion:
		w.is, w.min = integer, 4
	case r.Guard:
		w.is, w.min, w.why = integer, 8, "without it a row can come below one that another node deletes"
	case ColCopyNo:
		w.is, w.min, w.why = integer, 3, "copies are numbered up to 999,999"
	case r.Quota.Flag:
		w.is, w.min = integer, 1
	case ColDeletionID:
		w.is, w.min = integer, 8
	case r.Label.Column:
		w.is, w.min, w.why = characters, 200, "names have up to 200 characters of any kind"
	case r.Label.Key, ColStemKey:
		w.is, w.min, w.why = variableBytes, 1020, "keys are compared byte by byte; a collation would decide otherwise, and pad"
	case ColDeletedFrom:
		w.is, w.min = variableBytes, 8
	case ColCreatedAt, ColUpdatedAt, ColArchivedAt:
		w.is, w.why = utcTime, "times are UTC in microseconds and must not follow a session's time zone"
	case r.Owner, r.TenantColumn():
		w.is, w.min = keyFamily(c.Type)
		w.why = "a unique key holds no two rows apart whose owner is NULL"
	case r.Parent.Column:
		w.is, w.min = keyFamily(c.Type)
	default: // the application's own: the type is its own business
		if w.ddl = ""; c.Name == r.Quota.By {
			w.ddl, w.why = "NOT NULL", "the quota orders rows by it"
		}
	}
	return w
}

func (v *verifier) columns(r Resource, want table, have *foundTable) {
	for _, c := range want.columns {
		w, found := wanted(r, c), have.column(c.Name)
		problem := w.problem(found)
		if stamp := strings.HasPrefix(strings.ToUpper(c.Type), "TIMESTAMP"); found != nil && w.is == anyType && stamp != (found.data == "timestamp") {
			v.say(columnWrong, difference{Table: want.name, Column: c.Name,
				Problem: fmt.Sprintf("it is %s, and the plan says %s; a TIMESTAMP is converted by the session's time zone, so it is written and read otherwise", found.full, c.Type),
				Fix:     "say in the plan what it is"}, "")
		}
		if problem == "" {
			continue
		}
		k := columnMissing
		words, statement := addFix(r, want.name, c)
		if found != nil {
			k = columnWrong
			words, statement = v.modifyFix(r, w, have, found)
		}
		v.wrong[columnOf{have, strings.ToLower(c.Name)}] = statement == ""
		v.say(k, difference{Table: want.name, Column: c.Name, Problem: problem, Fix: words}, statement)
	}
}

// unknownColumns: what is not declared is not moved, and not written.
func (v *verifier) unknownColumns(r Resource, want table, have *foundTable) {
	for _, c := range have.columns {
		if slices.ContainsFunc(want.columns, func(w shape.Column) bool { return strings.EqualFold(w.Name, c.name) }) {
			continue
		}
		switch {
		case c.computed(), r.Guard == "" && isGuard(&c):
		case r.Archive != "":
			v.say(columnUnknown, difference{Table: want.name, Column: c.name, Problem: "the plan does not know it, so its values are lost when a row is archived or activated",
				Fix: "add it to the plan's columns and to both tables, or drop it"}, "")
		case !c.nullable && !c.hasDefault:
			v.say(columnUnknown, difference{Table: want.name, Column: c.name, Problem: "the plan does not know it, and it has neither a default nor NULL, so rows cannot be made",
				Fix: "add it to the plan's columns, or give it a default"}, "")
		}
	}
}

// sameColumns: what moves between the two tables must fit in both. The toolkit's
// columns are each held against the plan already.
func (v *verifier) sameColumns(r Resource, active, archive *foundTable) {
	for _, name := range r.Shared() {
		a, b := active.column(name), archive.column(name)
		toolkits := wanted(r, shape.Column{Name: name}).is != anyType && r.KeyType(name) == ""
		if a == nil || b == nil || toolkits || sameType(a, b) {
			continue
		}
		words, statement := v.pairFix(active, archive, a, b, false)
		v.say(columnsDiffer, difference{Table: archive.name, Column: name,
			Problem: fmt.Sprintf("it is %s here and %s in %q, so a row may not fit when it moves", b.describe(), a.describe(), active.name), Fix: words}, statement)
	}
}

func sameType(a, b *foundColumn) bool {
	return a.full == b.full && a.charset == b.charset && a.nullable == b.nullable
}

func (c *foundColumn) describe() string {
	text := c.full
	if c.charset != "" {
		text += " CHARACTER SET " + c.charset
	}
	if c.nullable {
		return text + " NULL"
	}
	return text + " NOT NULL"
}

// keyFamily is what a column must be to hold keys of a declared type.
func keyFamily(declared string) (family, int64) {
	t, err := keytype.Parse(declared)
	switch {
	case err != nil || t.Class == keytype.Integer:
		return integer, 1
	case t.Class == keytype.Text:
		return keyText, int64(t.Length)
	case t.Fixed:
		return fixedBytes, int64(t.Length)
	}
	return variableBytes, int64(t.Length)
}
