package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/schematest"
)

// contents is what a database consists of, as the server says: nothing here comes from package schema, which
// is on trial.
type contents struct {
	tables []*table // by name
	keys   []schematest.ForeignKey
}

type table struct {
	name    string
	columns []column
	primary []string
	unique  [][]string // the primary key is among them
	rows    []row
}

type column struct {
	name, data, full, charset string
	nullable, computed        bool
	length                    int // of text or bytes, 0: long
	precision, scale          int
}

// row is the values of a row by column.
type row map[string]any

func (c *contents) table(name string) *table {
	i := slices.IndexFunc(c.tables, func(t *table) bool { return t.name == name })
	if i < 0 {
		return nil
	}
	return c.tables[i]
}

func (t *table) column(name string) *column {
	i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &t.columns[i]
}

const sqlColumns = `SELECT c.table_name, c.column_name, c.data_type, c.column_type, COALESCE(c.character_set_name, ''), c.is_nullable = 'YES',
  COALESCE(c.generation_expression, '') <> '', COALESCE(LEAST(c.character_maximum_length, 65535), 0), COALESCE(c.numeric_precision, 0), COALESCE(c.numeric_scale, 0)
FROM information_schema.columns AS c JOIN information_schema.tables AS t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position`

const sqlUnique = `SELECT table_name, index_name, column_name FROM information_schema.statistics
WHERE table_schema = DATABASE() AND non_unique = 0 ORDER BY table_name, index_name, seq_in_index`

func readCatalog(ctx context.Context, db *sql.DB) (*contents, error) {
	c := &contents{}
	err := onerow.Query(ctx, db, sqlColumns, nil, func(rows *sql.Rows) error {
		var name string
		var col column
		if err := rows.Scan(&name, &col.name, &col.data, &col.full, &col.charset, &col.nullable, &col.computed, &col.length, &col.precision, &col.scale); err != nil {
			return err
		}
		col.data = strings.ToLower(col.data)
		if len(c.tables) == 0 || c.tables[len(c.tables)-1].name != name {
			c.tables = append(c.tables, &table{name: name})
		}
		t := c.tables[len(c.tables)-1]
		t.columns = append(t.columns, col)
		return nil
	})
	last := ""
	if err == nil {
		err = onerow.Query(ctx, db, sqlUnique, nil, func(rows *sql.Rows) error {
			var name, index, column string
			if err := rows.Scan(&name, &index, &column); err != nil {
				return err
			}
			t := c.table(name)
			if id := name + "." + index; id != last {
				t.unique, last = append(t.unique, nil), id
			}
			at := len(t.unique) - 1
			t.unique[at] = append(t.unique[at], column)
			if index == "PRIMARY" {
				t.primary = append(t.primary, column)
			}
			return nil
		})
	}
	if err == nil {
		c.keys, err = schematest.ForeignKeys(ctx, db)
	}
	if err != nil {
		return nil, fmt.Errorf("read the catalog: %w", err)
	}
	return c, nil
}
