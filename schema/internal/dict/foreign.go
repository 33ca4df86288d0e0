package dict

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
	"github.com/onerow/onerow/schema"
	"github.com/onerow/onerow/schema/internal/colset"
	"github.com/onerow/onerow/schema/internal/shape"
)

// ForeignKey is a foreign key from or to a table of the database.
type ForeignKey struct {
	Name, Schema, Table, ToSchema, To, OnDelete, OnUpdate string
	Columns, References                                   []string // as they are declared, in one order
}

const (
	// sqlForeignSchemas is where tables refer to ours. MariaDB opens every table of the server for it, so it
	// is the only one that asks for other schemas.
	sqlForeignSchemas = `SELECT DISTINCT table_schema FROM information_schema.key_column_usage
 WHERE referenced_table_schema = DATABASE() AND table_schema <> DATABASE()`

	// MariaDB leaves the referenced table out where the user may only read it; key_column_usage has it.
	sqlForeignKeys = `SELECT constraint_name, constraint_schema, table_name, COALESCE(unique_constraint_schema, ''), COALESCE(referenced_table_name, ''), delete_rule, update_rule
 FROM information_schema.referential_constraints WHERE constraint_schema = ? AND (constraint_schema = DATABASE() OR unique_constraint_schema = DATABASE())
 ORDER BY table_name, constraint_name`

	// The condition on table_schema, not that on constraint_schema, keeps MariaDB from opening other tables.
	sqlForeignColumns = `SELECT constraint_schema, table_name, constraint_name, column_name, referenced_column_name, referenced_table_schema, referenced_table_name
 FROM information_schema.key_column_usage
 WHERE table_schema = ? AND referenced_table_name IS NOT NULL AND (table_schema = DATABASE() OR referenced_table_schema = DATABASE())
 ORDER BY table_name, constraint_name, ordinal_position`
)

// readForeign reads the foreign keys of the tables, and those of other schemas that refer to them: three
// statements, and two for each such schema.
func (d *Database) readForeign(ctx context.Context, db onerow.DB) error {
	schemas := []any{d.Name}
	err := onerow.Query(ctx, db, sqlForeignSchemas, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		schemas = append(schemas, name)
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range schemas {
		of := []any{name}
		for _, part := range []dictionaryRead{{sqlForeignKeys, of, d.scanForeignKey}, {sqlForeignColumns, of, d.scanForeignColumn}} {
			if err := onerow.Query(ctx, db, part.query, part.args, part.scan); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Database) scanForeignKey(rows *sql.Rows) error {
	var f ForeignKey
	err := rows.Scan(&f.Name, &f.Schema, &f.Table, &f.ToSchema, &f.To, &f.OnDelete, &f.OnUpdate)
	d.Foreign = append(d.Foreign, f)
	return err
}

// scanForeignColumn: a key that was made since sqlForeignKeys ran is no matter.
func (d *Database) scanForeignColumn(rows *sql.Rows) error {
	var schema, table, name, column, reference, toSchema, to string
	if err := rows.Scan(&schema, &table, &name, &column, &reference, &toSchema, &to); err != nil {
		return err
	}
	for i := range d.Foreign {
		if f := &d.Foreign[i]; f.Schema == schema && f.Table == table && f.Name == name {
			f.Columns, f.References = append(f.Columns, column), append(f.References, reference)
			if f.To == "" {
				f.ToSchema, f.To = toSchema, to
			}
		}
	}
	return nil
}

// OnlyRestricts says whether the key only restricts.
func (f ForeignKey) OnlyRestricts() bool { return Restricts(f.OnDelete) && Restricts(f.OnUpdate) }

// Is says whether the edge is over the columns of the key.
func (f ForeignKey) Is(e schema.Edge) bool {
	if len(f.Columns) != len(e.Columns) {
		return false
	}
	for i, col := range f.Columns {
		at := slices.IndexFunc(e.Columns, func(c string) bool { return strings.EqualFold(c, col) })
		if at < 0 || !strings.EqualFold(e.References[at], f.References[i]) {
			return false
		}
	}
	return true
}

// Edge returns the edge over the key as it is written in a plan that calls the table above so, with that key.
func (f ForeignKey) Edge(above string, key []string) string {
	text := fmt.Sprintf("{table: %s, columns: [%s]", above, strings.Join(f.Columns, ", "))
	if !slices.Equal(colset.Lower(f.References), colset.Lower(key)) {
		text += fmt.Sprintf(", references: [%s]", strings.Join(f.References, ", "))
	}
	if strings.EqualFold(f.OnDelete, "SET NULL") {
		text += ", on_delete: detach"
	}
	return text + "}"
}

// Replace returns the statement that makes a key of the same columns of it, under another name and with other
// rules. No server adds a foreign key under a name that the same statement drops.
func (d *Database) Replace(f ForeignKey, name, onDelete, onUpdate string) string {
	return d.DropForeignKey(f) + ", ADD " + d.ForeignDDL(f, name, onDelete, onUpdate)
}

// ForeignDDL returns the definition of a key under a name and with rules.
func (d *Database) ForeignDDL(f ForeignKey, name, onDelete, onUpdate string) string {
	to := ident.Quote(f.To)
	if f.Schema != d.Name || f.ToSchema != d.Name {
		to = ident.Quote(f.ToSchema) + "." + to
	}
	return fmt.Sprintf("CONSTRAINT %s FOREIGN KEY (%s) REFERENCES %s (%s) ON DELETE %s ON UPDATE %s",
		ident.Quote(name), ident.Quotes(f.Columns...), to, ident.Quotes(f.References...), onDelete, onUpdate)
}

// Restricts says whether a rule refuses: the two words do the same in InnoDB.
func Restricts(rule string) bool { return rule == "RESTRICT" || rule == "NO ACTION" }

// OtherName returns a name for a foreign key that replaces one of that name.
func (d *Database) OtherName(name string) string {
	var taken []string
	for _, f := range d.Foreign {
		taken = append(taken, f.Name)
	}
	return shape.IndexName([]string{name}, taken)
}

// DropForeignKey returns the statement that drops a key, which may be one of another database.
func (d *Database) DropForeignKey(f ForeignKey) string {
	table := ident.Quote(f.Table)
	if f.Schema != d.Name {
		table = ident.Quote(f.Schema) + "." + table
	}
	return "ALTER TABLE " + table + " DROP FOREIGN KEY " + ident.Quote(f.Name)
}
