package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// DDL returns one CREATE TABLE statement per table of the plan, parents first.
// They are for a migration of the application's own; nothing here runs them.
func (p Plan) DDL() []string {
	var stmts []string
	for _, r := range p.Resources {
		stmts = append(stmts, p.filled(r).ddl()...)
	}
	return stmts
}

// ddl returns the CREATE TABLE statements of the resource's tables: the active one and, where there is one,
// the archive.
func (r Resource) ddl() []string {
	var stmts []string
	for _, t := range r.Shape() {
		var lines []string
		for _, c := range t.Columns {
			lines = append(lines, "  "+ident.Quote(c.Name)+" "+c.Type)
		}
		for _, index := range t.Indexes {
			lines = append(lines, "  "+index.DDL())
		}
		stmts = append(stmts, fmt.Sprintf("CREATE TABLE %s (\n%s\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4",
			ident.Quote(t.Name), strings.Join(lines, ",\n")))
	}
	return stmts
}

// Shape returns the tables that DDL writes, for the rooms that compare a database with them.
func (r Resource) Shape() []shape.Table {
	active := shape.Table{Name: r.Active, Columns: shaped(r.columns(r.IDType)), Indexes: r.activeIndexes()}
	active.Indexes = append(active.Indexes, r.retentionIndexes(false, active.Indexes)...)
	if r.Archive == "" {
		return []shape.Table{active}
	}
	archive := shape.Table{Name: r.Archive, Columns: shaped(append(r.columns(keytype.Plain(r.IDType)),
		Column{ident.ColArchivedAt, shape.TypeTime},
		Column{ident.ColDeletionID, "BIGINT NULL"},
		Column{ident.ColDeletedFrom, "VARBINARY(8) NULL"},
	))}
	archive.Indexes = append(archive.Indexes, r.primaryKey())
	if owners := r.Owners(); len(owners) > 0 {
		archive.Indexes = append(archive.Indexes, shape.Index{Name: "shown", Columns: append(owners, ident.ColDeletionID, r.ID), Why: "lists of archived rows pass over hidden ones by it", Lists: true})
	}
	if r.Parent.Column != "" {
		archive.Indexes = append(archive.Indexes, r.parentIndex())
	}
	archive.Indexes = append(archive.Indexes, r.archivedIndexes(archive.Indexes)...)
	archive.Indexes = append(archive.Indexes, r.edgeIndexes(archive.Indexes)...)
	archive.Indexes = append(archive.Indexes, r.retentionIndexes(true, archive.Indexes)...)
	return []shape.Table{active, archive}
}

func shaped(columns []Column) []shape.Column {
	all := make([]shape.Column, len(columns))
	for i, c := range columns {
		all[i] = shape.Column(c)
	}
	return all
}

func (r Resource) columns(id string) []Column {
	cols := []Column{{r.ID, id}}
	for _, owner := range r.Owners() {
		cols = append(cols, Column{owner, r.keyType(owner)})
	}
	if r.Parent.Column != "" && !slices.Contains(r.Owners(), r.Parent.Column) {
		cols = append(cols, Column{r.Parent.Column, r.Parent.Type})
	}
	if r.Named() {
		cols = append(cols, Column{r.Label.Column, shape.TypeLabel}, Column{r.Label.Key, shape.TypeKey},
			Column{ident.ColStemKey, shape.TypeKey}, Column{ident.ColCopyNo, shape.TypeCopyNo})
	}
	if r.Quota.Flag != "" {
		cols = append(cols, Column{r.Quota.Flag, shape.TypeFlag})
	}
	if r.Guard != "" {
		cols = append(cols, Column{r.Guard, shape.TypeGuard})
	}
	cols = append(cols, Column{ident.ColVersion, shape.TypeVersion}, Column{ident.ColCreatedAt, shape.TypeTime}, Column{ident.ColUpdatedAt, shape.TypeTime})
	return append(cols, r.Columns...)
}

func (r Resource) primaryKey() shape.Index {
	return shape.Index{Columns: []string{r.ID}, Unique: true, Why: "every verb finds its row by it"}
}

func (r Resource) parentIndex() shape.Index {
	return shape.Index{Name: "parent_id", Columns: []string{r.Parent.Column, r.ID}, Why: "the cascade finds children by it; without it every batch scans the table"}
}

// edgeIndexes are those of the further rows above, unless one of the given does it.
func (r Resource) edgeIndexes(given []shape.Index) []shape.Index {
	var added []shape.Index
	for _, e := range r.Parents {
		all := slices.Concat(given, added)
		leads := func(x shape.Index) bool {
			return shape.Leads(colset.Lower(x.Columns), colset.Lower(slices.Concat(e.Columns, e.marked())), e.When) >= 0
		}
		if e.OnDelete == OnDeleteKeep || slices.ContainsFunc(all, leads) {
			continue
		}
		columns := slices.Concat(slices.Sorted(maps.Keys(e.When)), e.Columns, e.marked())
		added = append(added, shape.Index{Name: shape.IndexName(columns, shape.Names(all)), Columns: columns, Why: "the cascade finds the rows below by it; without it every batch scans the table"})
	}
	return added
}

func (r Resource) activeIndexes() []shape.Index {
	indexes := []shape.Index{r.primaryKey()}
	if r.Named() {
		indexes = append(indexes,
			shape.Index{Name: "one_name", Columns: append(r.Owners(), r.Label.Key), Unique: true, Why: "it decides who has a name"},
			shape.Index{Name: "next_copy", Columns: append(r.Owners(), ident.ColStemKey, ident.ColCopyNo), Why: "activating finds the next copy number by it"})
	}
	if owners := r.Owners(); len(owners) > 0 {
		indexes = append(indexes, shape.Index{Name: "owner_id", Columns: append(owners, r.ID), Why: "lists of active rows read it", Lists: true})
	}
	if r.Parent.Column != "" && !slices.Equal(r.Owners(), []string{r.Parent.Column}) {
		indexes = append(indexes, r.parentIndex())
	}
	if r.Quota.Flag != "" {
		cols := append(r.Owners(), r.Quota.Flag, r.Quota.By)
		if r.Quota.By != r.ID {
			cols = append(cols, r.ID)
			indexes = append(indexes, shape.Index{Name: "quota_order", Columns: append(r.Owners(), r.Quota.By, r.ID), Why: "the quota finds its boundary by it"})
		}
		indexes = append(indexes, shape.Index{Name: "quota_flag", Columns: cols, Why: "the quota finds wrong flags by it"})
	}
	for _, x := range r.Indexes {
		indexes = append(indexes, shape.Index{Name: shape.IndexName(x.Columns, shape.Names(indexes)), Columns: x.Columns, Unique: x.Unique, Why: "the plan declares it", Lists: !x.Unique})
	}
	return append(indexes, r.edgeIndexes(indexes)...)
}
