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

// takeSnapshot reads all tables in one round trip. The handle must allow several statements at once.
func takeSnapshot(ctx context.Context, db *sql.DB, tables []*table) (snap snapshot, err error) {
	queries := make([]string, len(tables))
	for i, t := range tables {
		queries[i] = t.selectSQL()
	}
	rows, err := db.QueryContext(ctx, strings.Join(queries, "; "))
	if err != nil {
		return nil, fmt.Errorf("reading the tables: %w", err)
	}
	defer func() { err = withCleanup(err, rows.Close()) }()
	for i, t := range tables {
		if i > 0 && !rows.NextResultSet() {
			return nil, fmt.Errorf("reading table %s: the answer is missing: %w", t.name, rows.Err())
		}
		read, err := readRows(rows, t)
		if err != nil {
			return nil, fmt.Errorf("reading table %s: %w", t.name, err)
		}
		snap = append(snap, read)
	}
	return snap, nil
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
