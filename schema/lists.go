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
	t := r.Shape()[0]
	fixed := slices.Concat(r.Owners(), equal)
	if state == Archived && r.Archive != "" {
		t = r.Shape()[1]
		fixed = append(fixed, ColDeletionID)
	}
	order := []string{sort, r.ID}
	if sort == r.ID {
		order = order[1:]
	}
	for _, x := range t.Indexes {
		columns := x.Columns
		if !x.Unique && !slices.Contains(columns, r.ID) {
			columns = append(slices.Clone(columns), r.ID) // InnoDB does so
		}
		n := len(fixed)
		if x.Name != "" && len(columns) > n && colset.Same(columns[:n], fixed) && colset.StartsWith(columns[n:], order) {
			return x.Name, true
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
func (r Resource) archivedIndexes(given []shape.Index) []shape.Index {
	var added []shape.Index
	for _, x := range r.Indexes {
		if !x.Archived {
			continue
		}
		columns := slices.Insert(slices.Clone(x.Columns), min(len(r.Owners()), len(x.Columns)), ColDeletionID)
		name := shape.IndexName(x.Columns, shape.Names(slices.Concat(given, added)))
		added = append(added, shape.Index{Name: name, Columns: columns, Why: "lists of archived rows read it, and pass over hidden ones", Lists: true})
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
