package crashtest

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cell is a compared value. The text of NULL is empty.
type cell struct {
	null bool
	text string
}

// String shows the value in a message: cut to a bearable width, in hex where it is not readable.
func (c cell) String() string {
	if c.null {
		return "NULL"
	}
	readable := utf8.ValidString(c.text) && strings.IndexFunc(c.text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	switch {
	case c.text == "":
		return `""`
	case readable:
		return oneLine(c.text, 40)
	default:
		return oneLine("0x"+hex.EncodeToString([]byte(c.text)), 40)
	}
}

type row []cell

// snapshot holds the rows of all compared tables, in the order of the catalog.
type snapshot [][]row

// takeSnapshot reads the tables that have rows in one round trip. The handle must allow several statements at
// once.
func takeSnapshot(ctx context.Context, db *sql.DB, tables []*table) (snap snapshot, err error) {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	has, err := haveRows(ctx, db, names)
	if err != nil {
		return nil, err
	}
	snap = make(snapshot, len(tables))
	var queries []string
	var at []int
	for i, t := range tables {
		if has[i] {
			queries, at = append(queries, t.selectSQL()), append(at, i)
		}
	}
	if len(queries) == 0 {
		return snap, nil
	}
	rows, err := db.QueryContext(ctx, strings.Join(queries, "; "))
	if err != nil {
		return nil, fmt.Errorf("reading the tables: %w", err)
	}
	defer func() { err = withCleanup(err, rows.Close()) }()
	for n, i := range at {
		if n > 0 && !rows.NextResultSet() {
			return nil, fmt.Errorf("reading table %s: the answer is missing: %w", names[i], rows.Err())
		}
		if snap[i], err = readRows(rows, tables[i]); err != nil {
			return nil, fmt.Errorf("reading table %s: %w", names[i], err)
		}
	}
	return snap, nil
}

// haveRows says which of the tables are not empty, in one statement. Most are, in a schema with the
// toolkit's: a statement for each costs more than all that a short call sends.
func haveRows(ctx context.Context, db *sql.DB, tables []string) ([]bool, error) {
	asks := make([]string, len(tables))
	has, targets := make([]bool, len(tables)), make([]any, len(tables))
	for i, name := range tables {
		asks[i], targets[i] = "EXISTS (SELECT 1 FROM "+quote(name)+")", &has[i]
	}
	if err := db.QueryRowContext(ctx, "SELECT "+strings.Join(asks, ", ")).Scan(targets...); err != nil {
		return nil, fmt.Errorf("asking which tables have rows: %w", err)
	}
	return has, nil
}

func readRows(rows *sql.Rows, t *table) ([]row, error) {
	values := make([]sql.NullString, max(1, len(t.columns)))
	targets := make([]any, len(values))
	for i := range values {
		targets[i] = &values[i]
	}
	var read []row
	seen := map[string]bool{}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		r := make(row, len(t.columns))
		for i := range r {
			r[i] = cell{null: !values[i].Valid, text: values[i].String}
		}
		if t.set {
			key := r.key()
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		read = append(read, r)
	}
	return read, rows.Err()
}

// key is equal for equal rows only.
func (r row) key() string {
	var b strings.Builder
	for _, c := range r {
		fmt.Fprintf(&b, "%t%d:%s", c.null, len(c.text), c.text)
	}
	return b.String()
}
