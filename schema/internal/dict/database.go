// Package dict reads what information_schema says of the current database, and answers what its tables,
// columns, indexes and foreign keys are good for. It compares nothing with a plan, and changes nothing.
//
// Open this package when an index, a type or a right is to be recognised.
package dict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow/schema/internal/colset"
)

// Database is what information_schema says of the current database.
type Database struct {
	Name    string
	Fold    bool   // names of tables are not case-sensitive
	OffBy   string // the column of information_schema that says which indexes are switched off, or empty
	Tables  map[string]*Table
	Foreign []ForeignKey

	Mode    string            // sql_mode of the session
	Creates map[string]string // SHOW CREATE TABLE of what was asked for, "" where it is not shown
}

// Table is a table, or a view, as the dictionary has it.
type Table struct {
	Name, Kind, Engine string
	Columns            []Column
	Indexes            []Index
	Triggers           []Trigger
}

// Trigger is a trigger of a table.
type Trigger struct {
	Name, Timing, Event string // BEFORE or AFTER; INSERT, UPDATE or DELETE
}

// Key returns the name by which a table is found, whatever its case where the server ignores that.
func (d *Database) Key(table string) string {
	if d.Fold {
		return strings.ToLower(table)
	}
	return table
}

// Table returns the table of that name, or nil.
func (d *Database) Table(name string) *Table { return d.Tables[d.Key(name)] }

// Column returns the column of that name, in whatever case, or nil.
func (t *Table) Column(name string) *Column {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}

// Primary returns the columns of the primary key, in lower case; none: it has none.
func (t *Table) Primary() []string {
	for _, x := range t.Indexes {
		if x.Name == "PRIMARY" {
			return x.Columns
		}
	}
	return nil
}

// IsTable says whether it is there and rows are kept in it.
func (t *Table) IsTable() bool {
	return t != nil && (t.Kind == "BASE TABLE" || t.Kind == "SYSTEM VERSIONED")
}

// Spelled returns the columns' names as the table spells them.
func (t *Table) Spelled(columns []string) []string {
	names := slices.Clone(columns)
	for i, col := range columns {
		if f := t.Column(col); f != nil {
			names[i] = f.Name
		}
	}
	return names
}

// KeyProblem says why a column cannot be part of a key, "" if it can.
func (t *Table) KeyProblem(col string) string {
	f := t.Column(col)
	switch {
	case f == nil:
		return "only a prefix of it is in the key; a key that is cut names no row"
	case !f.Keyable():
		return fmt.Sprintf("the exact value of a %s cannot be held; make it an integer, text, bytes or a DATETIME", f.Full)
	}
	return ""
}

// RunsWith says whether the trigger runs when the worker deletes rows, or updates them.
func (tr Trigger) RunsWith(deletes, updates bool) bool {
	return deletes && strings.EqualFold(tr.Event, "DELETE") || updates && strings.EqualFold(tr.Event, "UPDATE")
}

// InsertTrigger returns the first trigger of a table that runs with an INSERT and that is not accepted.
func (d *Database) InsertTrigger(table string, accepted []string) string {
	for _, tr := range d.TableOrEmpty(table).Triggers {
		if strings.EqualFold(tr.Event, "INSERT") && !colset.Has(accepted, tr.Name) {
			return tr.Name
		}
	}
	return ""
}
