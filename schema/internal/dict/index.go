package dict

import (
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// Index is an index of a table.
type Index struct {
	Name       string
	Columns    []string // lower case; "" for an expression or a prefix
	Descending []bool   // by column
	Unique     bool
	Btree      bool
	Off        bool // INVISIBLE (MySQL) or IGNORED (MariaDB): it still refuses rows, but no read may use or name it
}

// Leads returns how many columns of the condition are in the index beside all wanted ones and before any
// other column, or -1: also where reads may not use it.
func (x Index) Leads(want []string, when map[string]string) int {
	if !x.Btree || x.Off {
		return -1
	}
	return shape.Leads(x.Columns, want, when)
}

// Unique says whether an index lets no two rows have the same values in these columns.
func (t *Table) Unique(columns []string) bool {
	return slices.ContainsFunc(t.Indexes, func(x Index) bool { return x.Unique && colset.ContainsAll(columns, x.Columns) })
}

// IndexNames are those of the table, which no other index may have.
func (t *Table) IndexNames() []string {
	var taken []string
	for _, x := range t.Indexes {
		taken = append(taken, x.Name)
	}
	return taken
}

// Indexable says whether an index can hold the columns whole: not those of unlimited
// types, nor more than 3072 bytes.
func (t *Table) Indexable(columns []string) bool {
	total := int64(0)
	for _, name := range columns {
		c := t.Column(name)
		if c == nil || strings.HasSuffix(c.Data, "text") || strings.HasSuffix(c.Data, "blob") || c.Data == "json" || c.Data == "geometry" {
			return false
		}
		total += max(c.keyBytes(), 16)
	}
	return total <= mostKeyBytes
}

// reads says whether a list can be read in the order of an index: its columns, and rows that have the same
// values by the primary key, in one direction. No server follows a unique index so, for what it appends to
// the entries of that it does not count among its columns.
func (t *Table) reads(have Index, want []string) bool {
	for _, key := range t.Primary() {
		if !slices.Contains(want, key) {
			want = append(slices.Clone(want), key)
		}
	}
	if !have.Unique {
		have.Columns = append(slices.Clone(have.Columns), t.Primary()...)
		have.Descending = append(slices.Clone(have.Descending), make([]bool, len(have.Columns)-len(have.Descending))...)
	}
	n := len(want)
	return have.Btree && !have.Off && colset.StartsWith(have.Columns, want) && (n < 2 || have.Descending[n-1] == have.Descending[n-2])
}

// ReadsByAge says whether pages of what is due can be read along an index.
func (t *Table) ReadsByAge(x Index, column string) bool {
	return x.Btree && !x.Off && !slices.Contains(x.Descending, true) && !slices.Contains(x.Columns, "") && x.Columns[0] == strings.ToLower(column) &&
		!slices.ContainsFunc(x.Columns[1:], func(name string) bool { return t.Column(name) == nil || !t.Column(name).Keyable() })
}

// Serves says whether the table has an index that does what x does: the primary
// key itself; a unique index with the same columns, for a constraint; or any index
// that begins with the columns of x. InnoDB appends the primary key to each index.
func (t *Table) Serves(x shape.Index) bool {
	want := colset.Lower(x.Columns)
	for _, have := range t.Indexes {
		switch {
		case x.Name == "":
			if have.Name == "PRIMARY" && slices.Equal(have.Columns, want) {
				return true
			}
		case x.Unique:
			if have.Unique && colset.Same(have.Columns, want) {
				return true
			}
		case x.Lists:
			if t.reads(have, want) {
				return true
			}
		case have.Btree && !have.Off && colset.StartsWith(append(slices.Clone(have.Columns), t.Primary()...), want):
			return true
		}
	}
	return false
}

// SwitchedOff finds the index that would do if it were not switched off.
func (t *Table) SwitchedOff(does func(*Table) bool) (name string, ok bool) {
	for i, x := range t.Indexes {
		on := Table{Indexes: slices.Clone(t.Indexes)}
		on.Indexes[i].Off = false
		if x.Off && does(&on) {
			return x.Name, true
		}
	}
	return "", false
}

// off returns the expression that says that an index is switched off: is_visible on MySQL since 8.0, ignored
// on MariaDB since 10.6.
func (d *Database) off() string {
	switch {
	case d.IsMariaDB():
		return "ignored = 'YES'"
	case d.OffBy != "":
		return "is_visible = 'NO'"
	}
	return "0"
}

// SwitchOn is the statement that switches an index on.
func (d *Database) SwitchOn(table, index string) string {
	how := "VISIBLE"
	if d.IsMariaDB() {
		how = "NOT IGNORED"
	}
	return "ALTER TABLE " + ident.Quote(table) + " ALTER INDEX " + ident.Quote(index) + " " + how
}

// IsMariaDB says whether the server is MariaDB, by what its dictionary has.
func (d *Database) IsMariaDB() bool { return strings.EqualFold(d.OffBy, "IGNORED") }
