package schema

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/onerow/onerow"
)

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
func (d *database) readForeign(ctx context.Context, db onerow.DB) error {
	schemas := []any{d.name}
	others := dictionaryRead{sqlForeignSchemas, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		schemas = append(schemas, name)
		return err
	}}
	if err := others.run(ctx, db); err != nil {
		return err
	}
	for _, name := range schemas {
		of := []any{name}
		for _, part := range []dictionaryRead{{sqlForeignKeys, of, d.scanForeignKey}, {sqlForeignColumns, of, d.scanForeignColumn}} {
			if err := part.run(ctx, db); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *database) scanForeignKey(rows *sql.Rows) error {
	var f foreignKey
	err := rows.Scan(&f.name, &f.schema, &f.table, &f.toSchema, &f.to, &f.onDelete, &f.onUpdate)
	d.foreign = append(d.foreign, f)
	return err
}

// scanForeignColumn: a key that was made since sqlForeignKeys ran is no matter.
func (d *database) scanForeignColumn(rows *sql.Rows) error {
	var schema, table, name, column, reference, toSchema, to string
	if err := rows.Scan(&schema, &table, &name, &column, &reference, &toSchema, &to); err != nil {
		return err
	}
	for i := range d.foreign {
		if f := &d.foreign[i]; f.schema == schema && f.table == table && f.name == name {
			f.columns, f.references = append(f.columns, column), append(f.references, reference)
			if f.to == "" {
				f.toSchema, f.to = toSchema, to
			}
		}
	}
	return nil
}

// drop is the statement that drops a key, which may be one of another database.
func (d *database) drop(f foreignKey) string {
	table := Quote(f.table)
	if f.schema != d.name {
		table = Quote(f.schema) + "." + table
	}
	return "ALTER TABLE " + table + " DROP FOREIGN KEY " + Quote(f.name)
}

func (f foreignKey) passive() bool { return restricts(f.onDelete) && restricts(f.onUpdate) }

// is says whether the edge is over the columns of the key.
func (f foreignKey) is(e Edge) bool {
	if len(f.columns) != len(e.Columns) {
		return false
	}
	for i, col := range f.columns {
		at := slices.IndexFunc(e.Columns, func(c string) bool { return strings.EqualFold(c, col) })
		if at < 0 || !strings.EqualFold(e.References[at], f.references[i]) {
			return false
		}
	}
	return true
}

func restricts(rule string) bool { return rule == "RESTRICT" || rule == "NO ACTION" }
