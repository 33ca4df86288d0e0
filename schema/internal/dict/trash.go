package dict

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// TrashAdvice says how a plan lets the deleted rows of a table go.
func TrashAdvice(table string) string {
	return fmt.Sprintf("say trash: none for %q in the plan, and its deleted rows are gone for good", table)
}

// What InnoDB takes: columns of a table, bytes of a key, and columns of a key, of which MariaDB takes more.
const (
	mostColumns    = 1017
	mostKeyBytes   = 3072
	mostKeyColumns = 16
)

// Trashed are the columns that the trash table of a node's table has: all that somebody can write, and what
// is computed of them where the plan finds rows by it.
func (t *Table) Trashed(nodes []schema.Node, n schema.Node) (columns []*Column) {
	named := slices.Concat(n.Key, n.Owners, colset.Some(n.Asset))
	for _, e := range n.Parents {
		named = slices.Concat(named, e.Columns, slices.Collect(maps.Keys(e.When)))
	}
	for _, below := range nodes {
		for _, e := range below.Parents {
			if e.Table == n.Name {
				named = append(named, e.References...)
			}
		}
	}
	for i := range t.Columns {
		if f := &t.Columns[i]; !f.Computed() || colset.Has(named, f.Name) {
			columns = append(columns, f)
		}
	}
	return columns
}

// TrashProblem says why no server takes a trash table of these columns for the table, or nothing.
func (t *Table) TrashProblem(kept []*Column) string {
	columns := []string{ident.ColTrashJob, ident.ColTrashStep, ident.ColTrashLost}
	own := len(columns)
	for _, f := range kept {
		if colset.Has(columns[:own], f.Name) {
			return fmt.Sprintf("it has a column %q, which is the name of a column that each trash table has beside those of its table", f.Name)
		}
		columns = append(columns, f.Name)
	}
	key, bytes := t.Primary(), int64(16)
	for _, name := range key {
		bytes += t.Column(name).keyBytes()
	}
	switch {
	case len(columns) > mostColumns:
		return fmt.Sprintf("it has %d columns, and a trash table has %d more and would have more than the %d that InnoDB takes", len(columns)-own, own, mostColumns)
	case len(key)+2 > mostKeyColumns:
		return fmt.Sprintf("its primary key has %d columns, and that of a trash table has 2 more and would have more than %d", len(key), mostKeyColumns)
	case bytes > mostKeyBytes:
		return fmt.Sprintf("its primary key is as wide as %d bytes, and that of a trash table is 16 bytes wider and would be wider than the %d that InnoDB takes", bytes-16, mostKeyBytes)
	}
	return ""
}

// TrashDDL makes the trash table of a table, of these columns.
func (t *Table) TrashDDL(kept []*Column) string {
	lines := []string{"  " + ident.Quote(ident.ColTrashJob) + " " + shape.TypeID, "  " + ident.Quote(ident.ColTrashStep) + " " + shape.TypeID, "  " + ident.Quote(ident.ColTrashLost) + " " + shape.TypeFlag}
	key := []string{ident.ColTrashJob, ident.ColTrashStep}
	for _, col := range t.Primary() {
		key = append(key, t.Column(col).Name)
	}
	for _, f := range kept {
		lines = append(lines, "  "+ident.Quote(f.Name)+" "+f.Kept(slices.Contains(key, f.Name)))
	}
	lines = append(lines, "  PRIMARY KEY ("+ident.Quotes(key...)+")")
	return fmt.Sprintf("CREATE TABLE %s (\n%s\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4", ident.Quote(ident.TrashTable(t.Name)), strings.Join(lines, ",\n"))
}

// Kept is the definition of the column in the trash table. What is not in the key may be NULL: it is never
// refused there.
func (f *Column) Kept(key bool) string {
	text := f.Full
	if f.Collation != "" {
		text += " CHARACTER SET " + f.Charset + " COLLATE " + f.Collation
	}
	if key {
		return text + " NOT NULL"
	}
	return text + " NULL DEFAULT NULL"
}

// TrashColumnProblem says what keeps a trash table from holding every value of a column, or nothing.
func (t *Table) TrashColumnProblem(f *Column) string {
	have := t.Column(f.Name)
	switch {
	case have == nil:
		return fmt.Sprintf("it has no column %q", f.Name)
	case have.Full != f.Full || have.Collation != f.Collation:
		return fmt.Sprintf("its column %q is %s, not %s", f.Name, have.Collated(), f.Collated())
	case f.Nullable && !have.Nullable:
		return fmt.Sprintf("its column %q may not be NULL", f.Name)
	}
	return ""
}
