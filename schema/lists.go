package schema

import (
	"slices"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// ListIndex returns the name, as DDL gives it, of the declared index by which a list of an owner's rows of
// one state can be read: those that have given values in the columns of equal, in the order of a column and
// then of the id. Owner columns and what hides rows of the archive are among the values without being named.
// Where no index of the plan serves the list the name is empty, and missing is one to add to the plan's
// Indexes that does. A unique index serves it only where it has the id, for only then the server sees the
// order of rows that are NULL.
func (r Resource) ListIndex(state State, equal []string, sort string) (name string, missing Index) {
	r = r.withDefaults()
	t := r.Shape()[0]
	fixed := slices.Concat(r.Owners(), equal)
	if state == Archived && r.Archive != "" {
		t = r.Shape()[1]
		fixed = append(fixed, ident.ColDeletionID)
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
			return x.Name, Index{}
		}
	}
	return "", Index{Columns: slices.Concat(r.Owners(), equal, order), Archived: state == Archived}
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
		columns := slices.Insert(slices.Clone(x.Columns), min(len(r.Owners()), len(x.Columns)), ident.ColDeletionID)
		name := shape.IndexName(x.Columns, shape.Names(slices.Concat(given, added)))
		added = append(added, shape.Index{Name: name, Columns: columns, Why: "lists of archived rows read it, and pass over hidden ones", Lists: true})
	}
	return added
}
