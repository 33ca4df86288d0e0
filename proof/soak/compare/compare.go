// Package compare holds the tables of several servers against each other.
package compare

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/onerow/onerow"
)

// CHECKSUM reads the whole table, in the order of its primary key, in a snapshot.
const (
	listTables = `SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name`
	checksum   = "CHECKSUM TABLE `%s` EXTENDED"
)

// again is how long lies between two looks.
const again = 200 * time.Millisecond

// Differ says which tables have not the same checksum on all servers, in each pool's schema. They may still
// be applying what was written, so what differs is looked at again, for as long as patience lasts.
func Differ(ctx context.Context, servers []*sql.DB, patience time.Duration) ([]string, error) {
	for began := time.Now(); ; {
		differ, err := once(ctx, servers)
		if err != nil || len(differ) == 0 || time.Since(began) > patience {
			return differ, err
		}
		select {
		case <-ctx.Done():
			return differ, ctx.Err()
		case <-time.After(again):
		}
	}
}

func once(ctx context.Context, servers []*sql.DB) (differ []string, err error) {
	var first []string
	for i, db := range servers {
		tables, err := Tables(ctx, db)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = tables
		}
		if !slices.Equal(first, tables) {
			differ = append(differ, fmt.Sprintf("servers 0 and %d have other tables: %v, %v", i, first, tables))
		}
	}
	if len(differ) > 0 {
		return differ, nil
	}
	for _, table := range first {
		sums := make([]string, len(servers))
		for i, db := range servers {
			var name string
			if err := onerow.QueryRow(ctx, db, fmt.Sprintf(checksum, table), nil, &name, &sums[i]); err != nil {
				return nil, fmt.Errorf("soak: checksum of %s on server %d: %w", table, i, err)
			}
		}
		if len(slices.Compact(slices.Clone(sums))) > 1 {
			differ = append(differ, fmt.Sprintf("table %s has the checksums %v on the servers", table, sums))
		}
	}
	return differ, nil
}

// Tables are the names of all tables. That there are none is an error: nothing would be compared.
func Tables(ctx context.Context, db *sql.DB) (all []string, err error) {
	err = onerow.Query(ctx, db, listTables, nil, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		all = append(all, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	if len(all) == 0 {
		return nil, errors.New("soak: there are no tables to compare")
	}
	return all, nil
}

// Dump writes a server's tables into a folder, a file for each, a row a line.
func Dump(ctx context.Context, db *sql.DB, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("soak: %w", err)
	}
	tables, err := Tables(ctx, db)
	for _, table := range tables {
		var text strings.Builder
		err = errors.Join(err, onerow.Query(ctx, db, "SELECT * FROM `"+table+"`", nil, func(rows *sql.Rows) error { return line(rows, &text) }),
			os.WriteFile(filepath.Join(dir, table), []byte(text.String()), 0o600))
	}
	return err
}

func line(rows *sql.Rows, text *strings.Builder) error {
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	row, into := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range row {
		into[i] = &row[i]
	}
	if err := rows.Scan(into...); err != nil {
		return err
	}
	for i, name := range names {
		value := "NULL"
		if row[i].Valid {
			value = fmt.Sprintf("%q", row[i].String)
		}
		text.WriteString(name + "=" + value + " ")
	}
	text.WriteString("\n")
	return nil
}
