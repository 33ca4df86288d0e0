package crashtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow/internal/ident"
)

// class says how the values of a column are compared.
type class int

const (
	plain     class = iota // by value
	moment                 // NULL or not
	generated              // renumbered within the column's domain
)

type column struct {
	name  string
	class class
	// domain names the set that generated values come from, "table.column" of the column that draws them.
	domain string
}

type table struct {
	name    string
	columns []column
	set     bool
}

// selectSQL reads the whole table: the compared columns of all rows, in any order.
func (t *table) selectSQL() string {
	fields := make([]string, len(t.columns))
	for i, c := range t.columns {
		fields[i] = ident.Quote(c.name)
		if c.class == moment {
			fields[i] += " IS NOT NULL"
		}
	}
	if len(fields) == 0 {
		fields = []string{"1"} // nothing but the number of rows
	}
	return "SELECT " + strings.Join(fields, ", ") + " FROM " + ident.Quote(t.name)
}

// sqlColumns lists the columns of the schema's base tables.
const sqlColumns = `
SELECT c.TABLE_NAME, c.COLUMN_NAME, LOWER(c.DATA_TYPE), LOWER(c.EXTRA) LIKE '%auto_increment%'
  FROM information_schema.COLUMNS c
  JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
 WHERE c.TABLE_SCHEMA = DATABASE() AND t.TABLE_TYPE = 'BASE TABLE'
 ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION`

// sqlForeignKeys lists the columns of the schema's foreign keys.
const sqlForeignKeys = `
SELECT TABLE_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
  FROM information_schema.KEY_COLUMN_USAGE
 WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_SCHEMA = DATABASE() AND REFERENCED_COLUMN_NAME IS NOT NULL`

type found struct {
	table, name, dataType string
	auto                  bool
}

func (f found) key() string { return f.table + "." + f.name }

func loadCatalog(ctx context.Context, db *sql.DB, w Workflow) ([]*table, error) {
	var columns []found
	err := eachRow(ctx, db, sqlColumns, func(rows *sql.Rows) error {
		var f found
		err := rows.Scan(&f.table, &f.name, &f.dataType, &f.auto)
		columns = append(columns, f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the schema's columns: %w", err)
	}
	refs := map[string]string{}
	err = eachRow(ctx, db, sqlForeignKeys, func(rows *sql.Rows) error {
		var from, fromColumn, to, toColumn string
		err := rows.Scan(&from, &fromColumn, &to, &toColumn)
		refs[from+"."+fromColumn] = to + "." + toColumn
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the schema's foreign keys: %w", err)
	}
	return buildCatalog(columns, refs, w)
}

// buildCatalog decides for each column. foreignKeys maps column to column.
func buildCatalog(columns []found, foreignKeys map[string]string, w Workflow) ([]*table, error) {
	known, drawn := map[string]bool{}, map[string]bool{} // drawn: columns with generated values
	for _, f := range columns {
		known[f.table], known[f.key()] = true, true
		if f.auto {
			drawn[f.key()] = true
		}
	}
	if err := checkNames(known, w); err != nil {
		return nil, err
	}
	for _, name := range w.Generated {
		drawn[name] = true
	}
	refs := map[string]string{}
	maps.Copy(refs, foreignKeys)
	maps.Copy(refs, w.Refs)
	for _, to := range w.Refs {
		if _, further := refs[to]; !further {
			drawn[to] = true
		}
	}

	var tables []*table
	for _, f := range columns {
		if slices.Contains(w.Ignore, f.table) || len(w.Tables) > 0 && !slices.Contains(w.Tables, f.table) {
			continue
		}
		if len(tables) == 0 || tables[len(tables)-1].name != f.table {
			tables = append(tables, &table{name: f.table, set: slices.Contains(w.Sets, f.table)})
		}
		t := tables[len(tables)-1]
		if slices.Contains(w.Ignore, f.key()) || t.set && f.auto {
			continue
		}
		domain, err := domainOf(f.key(), refs, drawn)
		if err != nil {
			return nil, err
		}
		c := column{name: f.name}
		switch {
		case domain != "":
			c.class, c.domain = generated, domain
		case f.dataType == "datetime" || f.dataType == "timestamp":
			c.class = moment
		}
		t.columns = append(t.columns, c)
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf("no table to compare in the schema")
	}
	return tables, nil
}

// domainOf follows the references of a column to the one that draws the values. Empty: the values are not
// generated.
func domainOf(key string, refs map[string]string, drawn map[string]bool) (string, error) {
	at := key
	for range len(refs) + 1 {
		next, ok := refs[at]
		switch {
		case ok && next != at:
			at = next
		case drawn[at]:
			return at, nil
		default:
			return "", nil
		}
	}
	return "", fmt.Errorf("the references of column %s go in a circle", key)
}

// checkNames refuses names in the workflow that the schema does not have: a typo would compare less than was
// asked for.
func checkNames(known map[string]bool, w Workflow) error {
	columns := slices.Concat(w.Generated, slices.Collect(maps.Keys(w.Refs)), slices.Collect(maps.Values(w.Refs)))
	for _, name := range columns {
		if !strings.Contains(name, ".") {
			return fmt.Errorf("%q in Generated or Refs is not of the form table.column", name)
		}
	}
	for _, name := range slices.Concat(w.Tables, w.Ignore, w.Sets, columns) {
		if !known[name] {
			return fmt.Errorf("the schema has no %q, which the workflow names", name)
		}
	}
	return nil
}

// eachRow runs a query and reads each of its rows.
func eachRow(ctx context.Context, db *sql.DB, query string, read func(*sql.Rows) error) (err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
