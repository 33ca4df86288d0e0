package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/internal/keytype"
)

// Types of the toolkit's columns. Name keys and stem keys are bytes, so that no
// collation has a say; a key of 255 characters has at most 1,020 bytes.
const (
	typeID      = "BIGINT NOT NULL"
	typeLabel   = "VARCHAR(200) CHARACTER SET utf8mb4 NOT NULL"
	typeKey     = "VARBINARY(1020) NOT NULL"
	typeCopyNo  = "INT NOT NULL DEFAULT 0"
	typeFlag    = "TINYINT NOT NULL DEFAULT 0"
	typeGuard   = "BIGINT UNSIGNED NOT NULL DEFAULT 0"
	typeVersion = "BIGINT NOT NULL DEFAULT 1"
	typeTime    = "DATETIME(6) NOT NULL"
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
	columns []Column
	indexes []tableIndex
}

type tableIndex struct {
	name    string // "" for the primary key
	columns []string
	unique  bool
	why     string // what depends on it, for Verify's message
	lists   bool   // lists are read in its order, rows with the same values by their ids
}

func (x tableIndex) ddl() string {
	switch {
	case x.name == "":
		return "PRIMARY KEY (" + ident.Quotes(x.columns...) + ")"
	case x.unique:
		return "UNIQUE KEY " + Quote(x.name) + " (" + ident.Quotes(x.columns...) + ")"
	}
	return "KEY " + Quote(x.name) + " (" + ident.Quotes(x.columns...) + ")"
}

func (r Resource) tables() []table {
	active := table{name: r.Active, columns: r.columns(r.IDType), indexes: r.activeIndexes()}
	active.indexes = append(active.indexes, r.retentionIndexes(false, active.indexes)...)
	if r.Archive == "" {
		return []table{active}
	}
	archive := table{name: r.Archive, columns: append(r.columns(keytype.Plain(r.IDType)),
		Column{ColArchivedAt, typeTime},
		Column{ColDeletionID, "BIGINT NULL"},
		Column{ColDeletedFrom, "VARBINARY(8) NULL"},
	)}
	archive.indexes = append(archive.indexes, r.primaryKey())
	if owners := r.Owners(); len(owners) > 0 {
		archive.indexes = append(archive.indexes, tableIndex{"shown", append(owners, ColDeletionID, r.ID), false, "lists of archived rows pass over hidden ones by it", true})
	}
	if r.Parent.Column != "" {
		archive.indexes = append(archive.indexes, r.parentIndex())
	}
	archive.indexes = append(archive.indexes, r.archivedIndexes(archive.indexes)...)
	archive.indexes = append(archive.indexes, r.edgeIndexes(archive.indexes)...)
	archive.indexes = append(archive.indexes, r.retentionIndexes(true, archive.indexes)...)
	return []table{active, archive}
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
		cols = append(cols, Column{r.Label.Column, typeLabel}, Column{r.Label.Key, typeKey},
			Column{ColStemKey, typeKey}, Column{ColCopyNo, typeCopyNo})
	}
	if r.Quota.Flag != "" {
		cols = append(cols, Column{r.Quota.Flag, typeFlag})
	}
	if r.Guard != "" {
		cols = append(cols, Column{r.Guard, typeGuard})
	}
	cols = append(cols, Column{ColVersion, typeVersion}, Column{ColCreatedAt, typeTime}, Column{ColUpdatedAt, typeTime})
	return append(cols, r.Columns...)
}

func (r Resource) primaryKey() tableIndex {
	return tableIndex{"", []string{r.ID}, true, "every verb finds its row by it", false}
}

func (r Resource) parentIndex() tableIndex {
	return tableIndex{"parent_id", []string{r.Parent.Column, r.ID}, false, "the cascade finds children by it; without it every batch scans the table", false}
}

// edgeIndexes are those of the further rows above, unless one of the given does it.
func (r Resource) edgeIndexes(given []tableIndex) []tableIndex {
	var added []tableIndex
	for _, e := range r.Parents {
		all := slices.Concat(given, added)
		leads := func(x tableIndex) bool {
			return foundIndex{columns: lower(x.columns), btree: true}.leads(e.sought(), e.When) >= 0
		}
		if e.OnDelete == OnDeleteKeep || slices.ContainsFunc(all, leads) {
			continue
		}
		columns := slices.Concat(slices.Sorted(maps.Keys(e.When)), e.Columns, e.marked())
		added = append(added, tableIndex{indexName(columns, all), columns, false, "the cascade finds the rows below by it; without it every batch scans the table", false})
	}
	return added
}

func (r Resource) activeIndexes() []tableIndex {
	indexes := []tableIndex{r.primaryKey()}
	if r.Named() {
		indexes = append(indexes,
			tableIndex{"one_name", append(r.Owners(), r.Label.Key), true, "it decides who has a name", false},
			tableIndex{"next_copy", append(r.Owners(), ColStemKey, ColCopyNo), false, "activating finds the next copy number by it", false})
	}
	if owners := r.Owners(); len(owners) > 0 {
		indexes = append(indexes, tableIndex{"owner_id", append(owners, r.ID), false, "lists of active rows read it", true})
	}
	if r.Parent.Column != "" && !slices.Equal(r.Owners(), []string{r.Parent.Column}) {
		indexes = append(indexes, r.parentIndex())
	}
	if r.Quota.Flag != "" {
		cols := append(r.Owners(), r.Quota.Flag, r.Quota.By)
		if r.Quota.By != r.ID {
			cols = append(cols, r.ID)
			indexes = append(indexes, tableIndex{"quota_order", append(r.Owners(), r.Quota.By, r.ID), false, "the quota finds its boundary by it", false})
		}
		indexes = append(indexes, tableIndex{"quota_flag", cols, false, "the quota finds wrong flags by it", false})
	}
	for _, x := range r.Indexes {
		indexes = append(indexes, tableIndex{indexName(x.Columns, indexes), x.Columns, x.Unique, "the plan declares it", !x.Unique})
	}
	return append(indexes, r.edgeIndexes(indexes)...)
}

// indexName names an index after its columns, cut to fit, with a number when
// another index of the table has that name (names of indexes ignore case), or when
// it is "primary", which neither engine lets an index be called.
func indexName(columns []string, taken []tableIndex) string {
	const longest = 60
	base := []rune(strings.Join(columns, "_"))
	name := strings.TrimRight(string(base[:min(len(base), longest)]), " ")
	used := func(x tableIndex) bool { return strings.EqualFold(x.name, name) }
	for n := 2; strings.EqualFold(name, "primary") || slices.ContainsFunc(taken, used); n++ {
		name = fmt.Sprintf("%s_%d", string(base[:min(len(base), longest)]), n)
	}
	return name
}
