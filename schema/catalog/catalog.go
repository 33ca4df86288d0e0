package catalog

import (
	"context"
	"fmt"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/schema/internal/dict"
)

// Catalog is what information_schema says of the current database.
type Catalog struct{ found *dict.Database }

// Read reads the catalog: eight plain reads, however many tables there are. Where tables are named it leaves
// out the columns and indexes of others, for who asks often; it has what is said of them elsewhere, such as
// foreign keys. It has what the user of db may see: a table on which the user has no right is not in it, nor
// are triggers without the right TRIGGER.
func Read(ctx context.Context, db onerow.DB, tables ...string) (*Catalog, error) {
	found, err := dict.Read(ctx, db, tables...)
	if err != nil {
		return nil, fmt.Errorf("schema: inspect: %w", err)
	}
	return &Catalog{found}, nil
}

// Column is a column as the database has it.
type Column struct {
	// Name of the column; Type is its type's name, "varchar"; Full is the type as
	// declared, "varchar(80)"; Charset and Collation are those of text, or empty.
	Name, Type, Full, Charset, Collation string
	// Nullable says whether it may be NULL, Moves whether it is a time that changes with each UPDATE by
	// itself.
	Nullable, Moves bool
}

// Column returns the column of a table, and whether there is one.
func (c *Catalog) Column(table, column string) (Column, bool) {
	f := c.found.TableOrEmpty(table).Column(column)
	if f == nil {
		return Column{}, false
	}
	return infoOf(f), true
}

func infoOf(f *dict.Column) Column {
	return Column{Name: f.Name, Type: f.Data, Full: f.Full, Charset: f.Charset, Collation: f.Collation, Nullable: f.Nullable, Moves: f.Moves()}
}

// Columns returns the columns of a table in their order; none where it is not there.
func (c *Catalog) Columns(table string) (all []Column) {
	for _, f := range c.found.TableOrEmpty(table).Columns {
		all = append(all, infoOf(&f))
	}
	return all
}
