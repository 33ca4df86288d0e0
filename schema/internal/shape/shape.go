// Package shape holds what a plan's tables look like: what DDL writes, and what a live database is compared
// with. [schema.Resource.Shape] makes the tables.
//
// Open this package when DDL writes something new for a plan.
package shape

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
)

// The types of the toolkit's columns. Name keys and stem keys are bytes, so that no collation has a say; a
// key of 255 characters has at most 1,020 bytes.
const (
	TypeID      = "BIGINT NOT NULL"
	TypeLabel   = "VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL"
	TypeKey     = "VARBINARY(1020) NOT NULL"
	TypeCopyNo  = "INT NOT NULL DEFAULT 0"
	TypeFlag    = "TINYINT NOT NULL DEFAULT 0"
	TypeGuard   = "BIGINT UNSIGNED NOT NULL DEFAULT 0"
	TypeVersion = "BIGINT NOT NULL DEFAULT 1"
	TypeTime    = "DATETIME(6) NOT NULL"
)

// MaxResource is the length of the columns that hold a resource's name.
const MaxResource = 64

// ToolkitPrefix begins the names of the toolkit's own tables. A cascade through them would delete its own
// job.
const ToolkitPrefix = "onerow_"

// IsToolkits says whether the name is one of the toolkit's own tables.
func IsToolkits(table string) bool {
	return strings.HasPrefix(strings.ToLower(table), ToolkitPrefix) // some servers ignore case in names
}

// Table is what DDL writes and Verify looks for.
type Table struct {
	Name    string
	Columns []Column
	Indexes []Index
}

// Column is a column by its name, and what follows the name in CREATE TABLE.
type Column struct{ Name, Type string }

// Index is an index of such a table.
type Index struct {
	Name    string // "" for the primary key
	Columns []string
	Unique  bool
	Why     string // what depends on it, for Verify's message
	Lists   bool   // lists are read in its order, rows with the same values by their ids
}

// DDL returns the index as CREATE TABLE, and ALTER TABLE … ADD, have it.
func (x Index) DDL() string {
	columns := " (" + ident.Quotes(x.Columns...) + ")"
	switch {
	case x.Name == "":
		return "PRIMARY KEY" + columns
	case x.Unique:
		return "UNIQUE KEY " + ident.Quote(x.Name) + columns
	}
	return "KEY " + ident.Quote(x.Name) + columns
}

// Kind says in words what kind of index it is.
func (x Index) Kind() string {
	switch {
	case x.Name == "":
		return "primary key"
	case x.Unique:
		return "unique index"
	}
	return "index"
}

// Names returns the names of the indexes.
func Names(indexes []Index) []string {
	names := make([]string, len(indexes))
	for i, x := range indexes {
		names[i] = x.Name
	}
	return names
}

// IndexName names an index after its columns, cut to fit, with a number when another index of the table has
// that name (names of indexes ignore case), or when it is "primary", which neither engine lets an index be
// called.
func IndexName(columns, taken []string) string {
	const longest = 60
	base := []rune(strings.Join(columns, "_"))
	name := strings.TrimRight(string(base[:min(len(base), longest)]), " ")
	used := func(other string) bool { return strings.EqualFold(other, name) }
	for n := 2; strings.EqualFold(name, "primary") || slices.ContainsFunc(taken, used); n++ {
		name = fmt.Sprintf("%s_%d", string(base[:min(len(base), longest)]), n)
	}
	return name
}

// Leads returns how many columns of the condition are in the index beside all wanted ones and before any
// other column, or -1. All names are in lower case, but for those of the condition.
func Leads(columns, want []string, when map[string]string) int {
	condition := make([]string, 0, len(when))
	for name := range when {
		condition = append(condition, strings.ToLower(name))
	}
	extra, found := 0, 0
	for _, col := range columns {
		if slices.Contains(want, col) {
			found++
		} else if slices.Contains(condition, col) {
			extra++
		} else {
			break
		}
	}
	if found < len(want) {
		return -1
	}
	return extra
}
