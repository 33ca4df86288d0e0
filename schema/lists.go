package schema

import (
	"slices"

	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// ListIndex returns the name, as DDL gives it, of the declared index by which a list of an owner's rows of
// one state can be read: those that have given values in the columns of equal, in the order of a column and
// then of the id. Owner columns and what hides rows of the archive are among the values without being named.
// ok is false where no index of the plan serves the list; [Resource.IndexFor] is one that does. A unique
// index serves it only where it has the id, for only then the server sees the order of rows that are NULL.
func (r Resource) ListIndex(state State, equal []string, sort string) (name string, ok bool) {
	r = r.withDefaults()
	t := r.tables()[0]
	fixed := slices.Concat(r.Owners(), equal)
	if state == Archived && r.Archive != "" {
		t = r.tables()[1]
		fixed = append(fixed, ColDeletionID)
	}
	order := []string{sort, r.ID}
	if sort == r.ID {
		order = order[1:]
	}
	for _, x := range t.indexes {
		columns := x.columns
		if !x.unique && !slices.Contains(columns, r.ID) {
			columns = append(slices.Clone(columns), r.ID) // InnoDB does so
		}
		n := len(fixed)
		if x.name != "" && len(columns) > n && colset.Same(columns[:n], fixed) && colset.StartsWith(columns[n:], order) {
			return x.name, true
		}
	}
	return "", false
}

// IndexFor is what to add to the plan's Indexes, so that [Resource.ListIndex] finds it.
func (r Resource) IndexFor(state State, equal []string, sort string) Index {
	r = r.withDefaults()
	columns := slices.Concat(r.Owners(), equal)
	if sort != r.ID {
		columns = append(columns, sort)
	}
	return Index{Columns: append(columns, r.ID), Archived: state == Archived}
}

// ColumnType is the declared type of a column that rows have in both tables, or empty.
func (r Resource) ColumnType(column string) string {
	r = r.withDefaults()
	for _, c := range r.columns(r.IDType) {
		if c.Name == column {
			return c.Type
		}
	}
	return ""
}

// archivedIndexes are the application's own that the archive has too. What a deletion hides stands apart in
// them, behind the owner's columns.
func (r Resource) archivedIndexes(given []tableIndex) []tableIndex {
	var added []tableIndex
	for _, x := range r.Indexes {
		if !x.Archived {
			continue
		}
		columns := slices.Insert(slices.Clone(x.Columns), min(len(r.Owners()), len(x.Columns)), ColDeletionID)
		name := shape.IndexName(x.Columns, shapeNames(slices.Concat(given, added)))
		added = append(added, tableIndex{name: name, columns: columns, why: "lists of archived rows read it, and pass over hidden ones", lists: true})
	}
	return added
}

// checkIndexes says what is wrong with the application's own indexes.
func (r Resource) checkIndexes(say func(format string, args ...any)) {
	for _, index := range r.Indexes {
		for _, col := range index.Columns {
			if !slices.Contains(r.Shared(), col) {
				say("an index has the column %q, which is not declared", col)
			}
		}
		owners := r.Owners()
		switch {
		case len(index.Columns) == 0:
			say("an index has no columns")
		case !index.Archived:
		case r.Archive == "":
			say("the index on %q is one of the archive too, and there is no archive", index.Columns)
		case index.Unique:
			say("the index on %q is unique, and archived rows may have the same values", index.Columns)
		case len(owners) == 0 || len(index.Columns) < len(owners) || !colset.Same(index.Columns[:len(owners)], owners):
			say("the index on %q is one of the archive too, so it begins with the owner's columns %q", index.Columns, owners)
		}
	}
}

// sameOrder: lists of both states merge what the two tables have, in the order of the columns' collations.
func (v *verifier) sameOrder(r Resource, active, archive *foundTable) {
	var said []string
	for _, x := range r.Indexes {
		for _, name := range x.Columns {
			a, b := active.column(name), archive.column(name)
			if !x.Archived || a == nil || b == nil || a.collation == b.collation || slices.Contains(said, name) || !sameType(a, b) {
				continue
			}
			said = append(said, name)
			words, statement := v.pairFix(active, archive, a, b, true)
			v.say(columnsDiffer, difference{Table: archive.name, Column: name,
				Problem: "it is " + b.collated() + " here and " + a.collated() + " in \"" + active.name + "\", so a list of both has no one order", Fix: words}, statement)
		}
	}
}

// reads says whether a list can be read in the order of an index: its columns, and rows that have the same
// values by the primary key, in one direction. No server follows a unique index so, for what it appends to
// the entries of that it does not count among its columns.
func (t *foundTable) reads(have foundIndex, want []string) bool {
	for _, key := range t.primary() {
		if !slices.Contains(want, key) {
			want = append(slices.Clone(want), key)
		}
	}
	if !have.unique {
		have.columns = append(slices.Clone(have.columns), t.primary()...)
		have.falls = append(slices.Clone(have.falls), make([]bool, len(have.columns)-len(have.falls))...)
	}
	n := len(want)
	return have.btree && !have.off && colset.StartsWith(have.columns, want) && (n < 2 || have.falls[n-1] == have.falls[n-2])
}
