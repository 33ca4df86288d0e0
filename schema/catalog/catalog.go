package live

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema/internal/catalog"
)

// Catalog is what information_schema says of the current database.
type Catalog struct{ found *catalog.Database }

// Inspect reads the catalog: seven plain reads, however many tables there are. It has what
// the user of db may see: a table on which the user has no right is not in it, nor are
// triggers without the right TRIGGER.
func Inspect(ctx context.Context, db onerow.DB) (*Catalog, error) {
	found, err := catalog.Read(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("schema: inspect: %w", err)
	}
	return &Catalog{found}, nil
}

// InspectTables is [Inspect] without the columns and indexes of other tables, for who asks
// often: of these the result has what is said of them elsewhere, such as foreign keys.
func InspectTables(ctx context.Context, db onerow.DB, tables []string) (*Catalog, error) {
	found, err := catalog.ReadTables(ctx, db, tables)
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
	t := c.found.Table(table)
	if t == nil {
		return ColumnInfo{}, false
	}
	f := t.Column(column)
	if f == nil {
		return ColumnInfo{}, false
	}
	return infoOf(f), true
}

func infoOf(f *catalog.Column) ColumnInfo {
	return ColumnInfo{Name: f.Name, Type: f.Data, Full: f.Full, Charset: f.Charset, Collation: f.Collation, Nullable: f.Nullable, Moves: f.Moves()}
}

// Columns returns the columns of a table in their order; none where it is not there.
func (c *Catalog) Columns(table string) (all []ColumnInfo) {
	if t := c.found.Table(table); t != nil {
		for i := range t.Columns {
			all = append(all, infoOf(&t.Columns[i]))
		}
	}
	return all
}

// TimeType is how a column of times is read, "date", "datetime" or "timestamp"; "" is none of these.
func (c ColumnInfo) TimeType() string { return catalog.TimeType(c.Type) }

// InsertTrigger returns the first trigger of a table that runs with an INSERT, as rows that come back are,
// and that is not among those that somebody has accepted; or nothing.
func (c *Catalog) InsertTrigger(table string, accepted []string) string {
	return c.found.InsertTrigger(table, accepted)
}
