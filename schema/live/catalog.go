package schema

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema/internal/colset"
)

// Catalog is what information_schema says of the current database.
type Catalog struct{ found *database }

// Inspect reads the catalog: seven plain reads, however many tables there are. It has what
// the user of db may see: a table on which the user has no right is not in it, nor are
// triggers without the right TRIGGER.
func Inspect(ctx context.Context, db onerow.DB) (*Catalog, error) {
	found, err := readDatabase(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("schema: inspect: %w", err)
	}
	return &Catalog{found}, nil
}

// InspectTables is [Inspect] without the columns and indexes of other tables, for who asks
// often: of these the result has what is said of them elsewhere, such as foreign keys.
func InspectTables(ctx context.Context, db onerow.DB, tables []string) (*Catalog, error) {
	found, err := readTables(ctx, db, tables)
	if err != nil {
		return nil, fmt.Errorf("schema: inspect %d tables: %w", len(tables), err)
	}
	return &Catalog{found}, nil
}

// ColumnInfo is a column as the database has it.
type ColumnInfo struct {
	// Name of the column; Type is its type's name, "varchar"; Full is the type as
	// declared, "varchar(80)"; Charset and Collation are those of text, or empty.
	Name, Type, Full, Charset, Collation string
	// Nullable says whether it may be NULL, Moves whether it is a time that changes with each UPDATE by
	// itself.
	Nullable, Moves bool
}

// Column returns the column of a table, and whether there is one.
func (c *Catalog) Column(table, column string) (ColumnInfo, bool) {
	t := c.found.table(table)
	if t == nil {
		return ColumnInfo{}, false
	}
	f := t.column(column)
	if f == nil {
		return ColumnInfo{}, false
	}
	return infoOf(f), true
}

func infoOf(f *foundColumn) ColumnInfo {
	return ColumnInfo{Name: f.name, Type: f.data, Full: f.full, Charset: f.charset, Collation: f.collation, Nullable: f.nullable, Moves: f.moves()}
}

// Index returns the name of a B-tree index of the table that begins with the columns,
// in any order, and whether there is one. It is none that is INVISIBLE or IGNORED, which no
// statement may name.
func (c *Catalog) Index(table string, columns []string) (name string, ok bool) {
	t := c.found.table(table)
	if t == nil {
		return "", false
	}
	want := colset.Lower(columns)
	for _, x := range t.indexes {
		if x.btree && !x.off && len(x.columns) >= len(want) && colset.Same(x.columns[:len(want)], want) {
			return x.name, true
		}
	}
	return "", false
}

// EdgeIndex returns the name of a B-tree index of the table by which rows are found
// that hold the edge: it begins with the edge's columns, in any order, among which
// may be columns of the edge's condition. Of several it is the one with the most
// columns of the condition. It is none that is INVISIBLE or IGNORED.
func (c *Catalog) EdgeIndex(table string, e Edge) (name string, ok bool) {
	t := c.found.table(table)
	if t == nil {
		return "", false
	}
	want, best := colset.Lower(e.Columns), -1
	for _, x := range t.indexes {
		if n := x.leads(want, conditions(e)); n > best {
			name, best = x.name, n
		}
	}
	return name, best >= 0
}

// leads is how many columns of the condition are in the index beside all wanted ones
// and before any other column, or -1: also where reads may not use it.
func (x foundIndex) leads(want []string, when map[string]string) int {
	condition := colset.Lower(slices.Collect(maps.Keys(when)))
	extra, found := 0, 0
	for _, col := range x.columns {
		if slices.Contains(want, col) {
			found++
		} else if slices.Contains(condition, col) {
			extra++
		} else {
			break
		}
	}
	if !x.btree || x.off || found < len(want) {
		return -1
	}
	return extra
}

// PrimaryKey returns the columns of a table's primary key, in its order and in lower
// case; none where the table has none.
func (c *Catalog) PrimaryKey(table string) []string {
	if t := c.found.table(table); t != nil {
		return t.primary()
	}
	return nil
}
