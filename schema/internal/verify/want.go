package verify

import (
	"fmt"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/dict"
	"github.com/onerow/onerow/schema/internal/shape"
)

// WantColumn is a column and what matters of its type.
type WantColumn struct {
	Name, DDL string
	Is        Family
	Min       int64  // bytes of an integer, bytes or characters of the others
	Why       string // what depends on it
	Key       bool   // it holds a key: the row's, its owner's, or its parent's
}

// Family is the types that do the same for the toolkit.
type Family int

// The families.
const (
	AnyType Family = iota
	Integer
	VariableBytes // VARBINARY
	FixedBytes    // BINARY of exactly this length
	Characters    // utf8mb4
	KeyText       // CHAR or VARCHAR of any character set
	UTCTime       // DATETIME(6)
)

// NotNull says whether the column must not be NULL.
func (c WantColumn) NotNull() bool { return strings.Contains(strings.ToUpper(c.DDL), "NOT NULL") }

// Generated says whether the server gives the column its values.
func (c WantColumn) Generated() bool {
	return strings.Contains(strings.ToUpper(c.DDL), "AUTO_INCREMENT")
}

// Fits says whether the column is of the family, and wide enough.
func (f Family) Fits(have *dict.Column, min int64) bool {
	switch f {
	case Integer:
		return dict.IntegerSize(have.Data) >= min
	case VariableBytes:
		return have.Data == "varbinary" && have.Length >= min
	case FixedBytes:
		return have.Data == "binary" && have.Length == min
	case KeyText:
		return strings.HasSuffix(have.Data, "char") && have.Length >= min
	case Characters:
		return have.Charset == "utf8mb4" && have.Length >= min
	case UTCTime:
		return have.Data == "datetime" && have.Precision == 6
	}
	return true
}

// Problem says what is wrong with the column, "" for nothing.
func (c WantColumn) Problem(have *dict.Column) string {
	if have == nil {
		return "it does not exist"
	}
	var problems []string
	if !c.Is.Fits(have, c.Min) {
		kind := have.Full
		if have.Charset != "" {
			kind += " " + have.Charset
		}
		problems = append(problems, fmt.Sprintf("it is %s, not %s", kind, c.DDL))
	}
	if set := c.Charset(have); set != "" {
		problems = append(problems, fmt.Sprintf("its character set is %s, which the plan does not say", set))
	}
	switch {
	case c.NotNull() && have.Nullable:
		problems = append(problems, "it may be NULL")
	case !c.NotNull() && c.Is != AnyType && !have.Nullable:
		problems = append(problems, "it must not be NULL, and will be")
	}
	auto := have.AutoIncrements()
	switch {
	case c.Generated() && !auto:
		problems = append(problems, "it is not AUTO_INCREMENT")
	case !c.Generated() && auto:
		problems = append(problems, "it is AUTO_INCREMENT, but rows come here with their id")
	}
	if c.Is == UTCTime && strings.Contains(strings.ToLower(have.Extra), "on update") {
		problems = append(problems, "it changes by itself with every update, the quota flag's among them")
	}
	if len(problems) == 0 {
		return ""
	}
	if c.Why != "" {
		problems = append(problems, c.Why)
	}
	return strings.Join(problems, "; ")
}

// Charset is the character set of a column for keys, where the plan says another one: a value that is not of
// the column's would be compared without its index.
func (c WantColumn) Charset(have *dict.Column) string {
	if c.Is != KeyText || have.Charset == "" {
		return ""
	}
	if t, err := keytype.Parse(c.DDL); err != nil || t.Charset == have.Charset || t.Charset == "utf8mb3" && have.Charset == "utf8" {
		return ""
	}
	return have.Charset
}

// Wanted says what matters of a column of the resource.
func Wanted(r schema.Resource, c shape.Column) WantColumn {
	w := WantColumn{Name: c.Name, DDL: c.Type}
	switch c.Name {
	case r.ID:
		w.Is, w.Min, w.Key = keyFamily(c.Type)
		w.Why = "a row keeps its id when it goes to the archive and comes back"
		if strings.Contains(strings.ToUpper(r.IDType), "AUTO_INCREMENT") {
			w.Why = "a row gets its id in the active table and keeps it in the archive"
		}
	case ident.ColVersion:
		w.Is, w.Min = Integer, 4
	case r.Guard:
		w.Is, w.Min, w.Why = Integer, 8, "without it a row can come below one that another node deletes"
	case ident.ColCopyNo:
		w.Is, w.Min, w.Why = Integer, 3, "copies are numbered up to 999,999"
	case r.Quota.Flag:
		w.Is, w.Min = Integer, 1
	case ident.ColDeletionID:
		w.Is, w.Min = Integer, 8
	case r.Label.Column:
		w.Is, w.Min, w.Why = Characters, 200, "names have up to 200 characters of any kind"
	case r.Label.Key, ident.ColStemKey:
		w.Is, w.Min, w.Why = VariableBytes, 1020, "keys are compared byte by byte; a collation would decide otherwise, and pad"
	case ident.ColDeletedFrom:
		w.Is, w.Min = VariableBytes, 8
	case ident.ColCreatedAt, ident.ColUpdatedAt, ident.ColArchivedAt:
		w.Is, w.Why = UTCTime, "times are UTC in microseconds and must not follow a session's time zone"
	case r.Owner, r.Tenant.Name:
		w.Is, w.Min, w.Key = keyFamily(c.Type)
		w.Why = "a unique key holds no two rows apart whose owner is NULL"
	case r.Parent.Column:
		w.Is, w.Min, w.Key = keyFamily(c.Type)
	default: // the application's own: the type is its own business
		if w.DDL = ""; c.Name == r.Quota.By {
			w.DDL, w.Why = "NOT NULL", "the quota orders rows by it"
		}
	}
	return w
}

// keyFamily is what a column must be to hold keys of a declared type, which makes it one of keys.
func keyFamily(declared string) (is Family, least int64, key bool) {
	t, err := keytype.Parse(declared)
	switch {
	case err != nil || t.Class == keytype.Integer:
		return Integer, 1, true
	case t.Class == keytype.Text:
		return KeyText, int64(t.Length), true
	case t.Fixed:
		return FixedBytes, int64(t.Length), true
	}
	return VariableBytes, int64(t.Length), true
}

// isGuard says whether a column is the guard of a plan for a cluster. A plan that is not for one lets it be:
// it is added before the first program has such a plan, and dropped after the last one.
func isGuard(c *dict.Column) bool {
	return strings.EqualFold(c.Name, ident.ColGuard) && c.Data == "bigint" && strings.Contains(c.Full, "unsigned") && !c.Nullable && c.HasDefault
}
