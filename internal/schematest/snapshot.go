package schematest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onerow/onerow"
	"github.com/onerow/onerow/internal/ident"
)

// Snapshot is every row of the tables that are not the toolkit's own, by table.
type Snapshot map[string]*Contents

// Contents are the rows of one table.
type Contents struct {
	// Columns in the order of the table; Key are those of the primary key.
	Columns, Key []string
	// Nullable says of each of Columns whether it may be NULL.
	Nullable []bool
	// Rows hold the bytes of each column as the database gives them when it casts the
	// column to BINARY: no driver and no setting of the session comes between.
	Rows []Row
}

// Row is the values of a row, in the order of the table's columns.
type Row []sql.NullString

// String is the row as a person reads it in a failure.
func (r Row) String() string {
	parts := make([]string, len(r))
	for i, v := range r {
		parts[i] = "NULL"
		if v.Valid {
			parts[i] = fmt.Sprintf("%.60q", v.String)
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// sqlColumns: one row per column of each base table that is not the toolkit's, in the order of the tables.
const sqlColumns = `SELECT c.table_name, c.column_name, c.is_nullable = 'YES', COALESCE(k.ordinal_position, 0)
FROM information_schema.columns c
JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'
LEFT JOIN information_schema.key_column_usage k ON k.table_schema = c.table_schema AND k.table_name = c.table_name
  AND k.column_name = c.column_name AND k.constraint_name = 'PRIMARY'
WHERE c.table_schema = DATABASE() AND c.table_name NOT LIKE 'onerow%' AND c.table_name NOT LIKE 'goose%'
ORDER BY c.table_name, c.ordinal_position`

// Read reads everything: one statement, and one per table.
func Read(ctx context.Context, db *sql.DB) (Snapshot, error) {
	s := Snapshot{}
	keys := map[string]map[int]string{}
	err := onerow.Query(ctx, db, sqlColumns, nil, func(rows *sql.Rows) error {
		var table, column string
		var nullable bool
		var at int
		if err := rows.Scan(&table, &column, &nullable, &at); err != nil {
			return err
		}
		c := s[table]
		if c == nil {
			c = &Contents{}
			s[table], keys[table] = c, map[int]string{}
		}
		c.Columns, c.Nullable = append(c.Columns, column), append(c.Nullable, nullable)
		if at > 0 {
			keys[table][at] = column
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("schematest: read the columns: %w", err)
	}
	for table, c := range s {
		for _, at := range slices.Sorted(maps.Keys(keys[table])) {
			c.Key = append(c.Key, keys[table][at])
		}
	}
	return s.Again(ctx, db)
}

// Again reads the same tables once more: one statement per table, for what
// information_schema says takes longer than the rows.
func (s Snapshot) Again(ctx context.Context, db *sql.DB) (Snapshot, error) {
	now := Snapshot{}
	for table, c := range s {
		rows, err := readRows(ctx, db, "SELECT "+casts("t", c.Columns)+" FROM "+ident.Quote(table)+" t", len(c.Columns))
		if err != nil {
			return nil, fmt.Errorf("schematest: read %s: %w", table, err)
		}
		now[table] = &Contents{Columns: c.Columns, Key: c.Key, Nullable: c.Nullable, Rows: rows}
	}
	return now, nil
}

// casts selects the columns as bytes.
func casts(alias string, columns []string) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = "CAST(" + alias + "." + ident.Quote(c) + " AS BINARY)"
		if strings.HasPrefix(c, MarkPrefix) {
			parts[i] = "IF(" + alias + "." + ident.Quote(c) + " IS NULL, NULL, '" + markValue + "')"
		}
	}
	return strings.Join(parts, ", ")
}

func readRows(ctx context.Context, db *sql.DB, query string, width int) ([]Row, error) {
	var all []Row
	err := onerow.Query(ctx, db, query, nil, func(rows *sql.Rows) error {
		row := make(Row, width)
		to := make([]any, width)
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		all = append(all, row)
		return nil
	})
	return all, err
}

// id is the row's values of the columns as one text.
func (c *Contents) id(r Row, columns []string) string {
	var b strings.Builder
	for _, column := range columns {
		v := r[slices.Index(c.Columns, column)]
		fmt.Fprintf(&b, "%t%d:%s", v.Valid, len(v.String), v.String)
	}
	return b.String()
}

// Find returns the primary key, as the database prints it, of the row in which the
// column has that value, and whether there is one.
func (c *Contents) Find(column, value string) (key []string, ok bool) {
	at := slices.Index(c.Columns, column)
	for _, r := range c.Rows {
		if at >= 0 && r[at].Valid && r[at].String == value {
			for _, k := range c.Key {
				key = append(key, r[slices.Index(c.Columns, k)].String)
			}
			return key, true
		}
	}
	return nil, false
}

// Diff says how two snapshots differ, at most a few lines per table; nothing where
// they are the same rows with the same bytes, in any order.
func Diff(want, got Snapshot) []string {
	var lines []string
	tables := maps.Clone(want)
	maps.Copy(tables, got)
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if want[table] == nil || got[table] == nil {
			lines = append(lines, fmt.Sprintf("%s: the table is on one side only", table))
			continue
		}
		lines = append(lines, diffRows(table, want[table].Rows, got[table].Rows)...)
	}
	return lines
}

const maxDiff = 8

func diffRows(table string, want, got []Row) []string {
	counts, rows := map[string]int{}, map[string]Row{}
	add := func(list []Row, n int) {
		for _, r := range list {
			text := fmt.Sprintf("%q", r)
			counts[text] += n
			rows[text] = r
		}
	}
	add(want, 1)
	add(got, -1)
	var lines []string
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		says := "should be there, is not: "
		switch n := counts[text]; {
		case n == 0:
			continue
		case n < 0:
			says = "is there, should not be: "
		}
		if len(lines) == maxDiff {
			return append(lines, table+": and more")
		}
		lines = append(lines, table+": "+says+rows[text].String())
	}
	return lines
}
