package crashtest

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/onerow/onerow/internal/ident"
)

// row holds the compared values of a row.
type row []sql.NullString

// shown is a value in a message: cut to a bearable width, in hex where it is not readable.
func shown(v sql.NullString) string {
	readable := utf8.ValidString(v.String) && strings.IndexFunc(v.String, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	switch {
	case !v.Valid:
		return "NULL"
	case v.String == "":
		return `""`
	case readable:
		return oneLine(v.String, 40)
	}
	return oneLine("0x"+hex.EncodeToString([]byte(v.String)), 40)
}

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
	defer func() { err = errors.Join(err, rows.Close()) }()
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
		asks[i], targets[i] = "EXISTS (SELECT 1 FROM "+ident.Quote(name)+")", &has[i]
	}
	if err := db.QueryRowContext(ctx, "SELECT "+strings.Join(asks, ", ")).Scan(targets...); err != nil {
		return nil, fmt.Errorf("asking which tables have rows: %w", err)
	}
	return has, nil
}

func readRows(rows *sql.Rows, t *table) (read []row, err error) {
	seen := map[string]bool{}
	for rows.Next() {
		r := make(row, max(1, len(t.columns)))
		targets := make([]any, len(r))
		for i := range r {
			targets[i] = &r[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		if t.set {
			key := fmt.Sprintf("%#v", r)
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		read = append(read, r)
	}
	return read, rows.Err()
}
