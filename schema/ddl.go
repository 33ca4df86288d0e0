package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/keytype"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// DDL returns one CREATE TABLE statement per table of the plan, parents first.
// They are for a migration of the application's own; nothing here runs them.
func (p Plan) DDL() []string {
	var stmts []string
	for _, r := range p.Resources {
		stmts = append(stmts, p.filled(r).DDL()...)
	}
	return stmts
}

// DDL returns the CREATE TABLE statements of the resource's tables: the active one and, where there is one,
// the archive. What the plan and the parent say of its columns, their types and the tenant, it knows if it
// came from [Plan.Resource].
func (r Resource) DDL() []string {
	r = r.withDefaults()
	var stmts []string
	for _, t := range r.tables() {
		var lines []string
		for _, c := range t.columns {
			lines = append(lines, "  "+Quote(c.Name)+" "+c.Type)
		}
		for _, index := range t.indexes {
			lines = append(lines, "  "+index.ddl())
		}
		stmts = append(stmts, fmt.Sprintf("CREATE TABLE %s (\n%s\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4",
			Quote(t.name), strings.Join(lines, ",\n")))
	}
	return stmts
}

// table is what DDL writes and Verify looks for.
type table struct {
	name    string
	columns []shape.Column
	indexes []tableIndex
}

type tableIndex struct {
	name    string
	columns []string
	unique  bool
	why     string
	lists   bool
}

func (x tableIndex) ddl() string   { return "" }
func (x tableIndex) label() string { return "" }
func (x tableIndex) kind() string  { return "" }

func (r Resource) tables() []table {
	active := table{name: r.Active, columns: shaped(r.columns(r.IDType)), indexes: r.activeIndexes()}
	active.indexes = append(active.indexes, r.retentionIndexes(false, active.indexes)...)
	if r.Archive == "" {
		return []table{active}
	}
	archive := table{name: r.Archive, columns: shaped(append(r.columns(keytype.Plain(r.IDType)),
		Column{ColArchivedAt, shape.TypeTime},
		Column{ColDeletionID, "BIGINT NULL"},
		Column{ColDeletedFrom, "VARBINARY(8) NULL"},
	))}
	archive.indexes = append(archive.indexes, r.primaryKey())
	if owners := r.Owners(); len(owners) > 0 {
		archive.indexes = append(archive.indexes, tableIndex{name: "shown", columns: append(owners, ColDeletionID, r.ID), why: "lists of archived rows pass over hidden ones by it", lists: true})
	}
	if r.Parent.Column != "" {
		archive.indexes = append(archive.indexes, r.parentIndex())
	}
	archive.indexes = append(archive.indexes, r.archivedIndexes(archive.indexes)...)
	archive.indexes = append(archive.indexes, r.edgeIndexes(archive.indexes)...)
	archive.indexes = append(archive.indexes, r.retentionIndexes(true, archive.indexes)...)
	return []table{active, archive}
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
		cols = append(cols, Column{owner, r.KeyType(owner)})
	}
	if r.Parent.Column != "" && !slices.Contains(r.Owners(), r.Parent.Column) {
		cols = append(cols, Column{r.Parent.Column, r.Parent.Type})
	}
	if r.Named() {
		cols = append(cols, Column{r.Label.Column, shape.TypeLabel}, Column{r.Label.Key, shape.TypeKey},
			Column{ColStemKey, shape.TypeKey}, Column{ColCopyNo, shape.TypeCopyNo})
	}
	if r.Quota.Flag != "" {
		cols = append(cols, Column{r.Quota.Flag, shape.TypeFlag})
	}
	if r.Guard != "" {
		cols = append(cols, Column{r.Guard, shape.TypeGuard})
	}
	cols = append(cols, Column{ColVersion, shape.TypeVersion}, Column{ColCreatedAt, shape.TypeTime}, Column{ColUpdatedAt, shape.TypeTime})
	return append(cols, r.Columns...)
}

func (r Resource) primaryKey() tableIndex {
	return tableIndex{columns: []string{r.ID}, unique: true, why: "every verb finds its row by it"}
}

func (r Resource) parentIndex() tableIndex {
	return tableIndex{name: "parent_id", columns: []string{r.Parent.Column, r.ID}, why: "the cascade finds children by it; without it every batch scans the table"}
}

// edgeIndexes are those of the further rows above, unless one of the given does it.
func (r Resource) edgeIndexes(given []tableIndex) []tableIndex {
	var added []tableIndex
	for _, e := range r.Parents {
		all := slices.Concat(given, added)
		leads := func(x tableIndex) bool {
			return shape.Leads(colset.Lower(x.columns), colset.Lower(slices.Concat(e.Columns, e.marked())), e.When) >= 0
		}
		if e.OnDelete == OnDeleteKeep || slices.ContainsFunc(all, leads) {
			continue
		}
		columns := slices.Concat(slices.Sorted(maps.Keys(e.When)), e.Columns, e.marked())
		added = append(added, tableIndex{name: shape.IndexName(columns, shapeNames(all)), columns: columns, why: "the cascade finds the rows below by it; without it every batch scans the table"})
	}
	return added
}

func (r Resource) activeIndexes() []tableIndex {
	indexes := []tableIndex{r.primaryKey()}
	if r.Named() {
		indexes = append(indexes,
			tableIndex{name: "one_name", columns: append(r.Owners(), r.Label.Key), unique: true, why: "it decides who has a name"},
			tableIndex{name: "next_copy", columns: append(r.Owners(), ColStemKey, ColCopyNo), why: "activating finds the next copy number by it"})
	}
	if owners := r.Owners(); len(owners) > 0 {
		indexes = append(indexes, tableIndex{name: "owner_id", columns: append(owners, r.ID), why: "lists of active rows read it", lists: true})
	}
	if r.Parent.Column != "" && !slices.Equal(r.Owners(), []string{r.Parent.Column}) {
		indexes = append(indexes, r.parentIndex())
	}
	if r.Quota.Flag != "" {
		cols := append(r.Owners(), r.Quota.Flag, r.Quota.By)
		if r.Quota.By != r.ID {
			cols = append(cols, r.ID)
			indexes = append(indexes, tableIndex{name: "quota_order", columns: append(r.Owners(), r.Quota.By, r.ID), why: "the quota finds its boundary by it"})
		}
		indexes = append(indexes, tableIndex{name: "quota_flag", columns: cols, why: "the quota finds wrong flags by it"})
	}
	for _, x := range r.Indexes {
		indexes = append(indexes, tableIndex{name: shape.IndexName(x.Columns, shapeNames(indexes)), columns: x.Columns, unique: x.Unique, why: "the plan declares it", lists: !x.Unique})
	}
	return append(indexes, r.edgeIndexes(indexes)...)
}

func shapeNames(indexes []tableIndex) []string { return nil }
